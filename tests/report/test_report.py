"""The report: what is in its data, and that nothing in it can become markup."""

import base64
import html.parser
import json
import os
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest
from clusterforests._base.size_limits import SizeLimits
from clusterforests.diagnostics import feature_importance
from clusterforests.metrics import clustering_accuracy, rand_index
from clusterforests.report import write_report
from clusterforests.report.page import as_data, as_text
from clusterforests.report.table import thin

NASTY = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(3)>",
    "a & b &lt; c",
    "\"quotes\" and 'quotes'",
    "__proto__",
    "constructor",
    "{{script}}",
    "\u202eright to left \u05d0\u05d1",
    "\U0001f331 seed",
    "\u2028 line \x00 nul \ud800",
)


class Reader(html.parser.HTMLParser):
    """The elements of a page, the text of its scripts, and attributes that a browser would run or load."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.suspect, self.texts, self.inside = [], [], [], {}, None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = (tag, dict(attrs).get("id"))
        self.suspect += [(tag, k, v) for k, v in attrs if k.startswith("on") or k in ("src", "style", "srcset")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.inside and self.inside[0] == "script":
            self.scripts[-1] += text
        elif self.inside:
            self.texts[self.inside[1] or self.inside[0]] = self.texts.get(self.inside[1] or self.inside[0], "") + text

    def handle_endtag(self, tag):
        self.inside = None


def report(tmp_path, forest, X, **options):
    path = tmp_path / "report.html"
    write_report(forest, X, path, **options)
    page = Reader()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.suspect == []
    assert len(page.scripts) == 2  # the data and the code, whatever the data says
    assert os.listdir(tmp_path) == ["report.html"]
    return json.loads(page.scripts[0]), page


@pytest.fixture(autouse=True)
def few_splits(monkeypatch):
    monkeypatch.setattr("clusterforests.report.numbers.SPLITS", 2)


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 25, 20])
    X = rng.normal(size=(75, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return ClusterForest(3, n_estimators=40, random_state=0).fit(X), X, truth


def test_data_block(tmp_path, three):
    forest, X, truth = three
    data, page = report(
        tmp_path, forest, X, truth=truth, title="Three", command="clusterforests fit x.csv", seconds=1.5
    )
    assert data["title"] == "Three"
    assert data["answer"].startswith("The 75 rows fall into 3 clusters, of 30, 25 and 20 rows.")
    assert [c["size"] for c in data["clusters"]] == [30, 25, 20]
    np.testing.assert_allclose([c["consensus"] for c in data["clusters"]], forest.cluster_consensus_, rtol=1e-3)
    assert data["stability"]["mean"] == pytest.approx(forest.stability(2).mean, rel=1e-3)
    assert (data["run"]["rows"], data["run"]["columns"], data["run"]["trees"]) == (75, 6, 40)
    assert data["run"]["command"] == "clusterforests fit x.csv"
    assert data["run"]["seconds"] == 1.5
    assert "ClusterForest(3, n_estimators=40, random_state=0).fit(X)" in data["run"]["python"]
    assert {s["name"] for s in data["run"]["settings"]} == set(forest.selection_)
    assert data["sampled"] is None
    assert "Three" in page.texts["title"]
    assert page.texts["answer"] == data["answer"]


def test_map_holds_the_shares_of_pairs(tmp_path, three):
    forest, X, _ = three
    shown = report(tmp_path, forest, X)[0]["map"]
    assert sorted(shown["rows"]) == list(range(75))
    assert shown["labels"] == sorted(shown["labels"])
    cells = np.frombuffer(base64.b64decode(shown["cells"]), dtype=np.uint8).reshape(75, 75) / 255
    np.testing.assert_allclose(cells, forest.coassociation(shown["rows"], shown["rows"]), atol=0.51 / 255)


def test_rows_are_listed_from_the_least_sure(tmp_path, three):
    forest, X, _ = three
    rows = report(tmp_path, forest, X)[0]["rows"]
    assert sorted(rows["rows"]) == list(range(75))
    np.testing.assert_allclose(rows["silhouette"], np.sort(forest.silhouette_), rtol=1e-3, atol=1e-9)
    i = rows["rows"][0]
    soft = forest.memberships_[i]
    assert rows["cluster"][0] == forest.labels_[i] == soft.argmax()
    assert rows["membership"][0] == pytest.approx(soft.max(), rel=1e-3)
    assert rows["next_membership"][0] == pytest.approx(np.sort(soft)[-2], rel=1e-3)
    assert rows["next"][0] == np.argsort(soft)[-2]


def test_features_that_make_the_clusters_come_first(tmp_path, three):
    forest, X, _ = three
    found = report(tmp_path, forest, X, names=list("abcdef"))[0]["features"]
    assert {f["name"] for f in found["features"][:2]} == {"a", "b"}
    test = feature_importance(
        X, forest.labels_, forest.partitions_, forest.estimators_features_, combine=forest._cut_again
    )
    by_name = {f["name"]: f["p_value"] for f in found["features"]}
    np.testing.assert_allclose([by_name[name] for name in "abcdef"], test.separation.features.p_value, rtol=1e-3)
    for c, columns in enumerate(found["clusters"]):
        for column in columns:
            j = "abcdef".index(column["name"])
            inside = X[forest.labels_ == c, j].mean()
            assert column["inside"] == pytest.approx(inside, rel=1e-3)
            assert column["direction"] == np.sign(inside - X[:, j].mean())


def test_truth_is_only_compared(tmp_path, three):
    forest, X, truth = three
    without = report(tmp_path, forest, X)[0]
    named = [None if i == 3 else NASTY[t] for i, t in enumerate(truth)]
    data = report(tmp_path, forest, X, truth=named)[0]
    score, known = data.pop("truth"), np.arange(75) != 3
    assert without.pop("truth") is None
    assert data == without
    pair = truth[known], forest.labels_[known]
    assert score["rows"] == 74
    assert score["adjusted_rand_index"] == pytest.approx(adjusted_rand_score(*pair), rel=1e-3)
    assert score["rand_index"] == pytest.approx(rand_index(*pair), rel=1e-3)
    assert score["accuracy"] == pytest.approx(clustering_accuracy(*pair), rel=1e-3)
    assert np.sum(score["counts"]) == 74


def test_same_input_same_file(tmp_path, three):
    forest, X, _ = three
    write_report(forest, X, tmp_path / "a.html")
    write_report(pickle.loads(pickle.dumps(forest)), X, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_nothing_is_loaded_and_only_our_script_runs(tmp_path, three):
    forest, X, _ = three
    report(tmp_path, forest, X)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in text.replace("http-equiv", "").replace('"http://www.w3.org/2000/svg"', "")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text


@pytest.mark.parametrize("texts", [NASTY[:6], NASTY[6:]])
def test_user_text_stays_data(tmp_path, three, texts):
    forest, X, _ = three
    whole = " ".join(texts)
    ids = [f"{texts[i % 6]} {i}" for i in range(75)]
    classes = [texts[i % 6] for i in range(75)]
    data, page = report(tmp_path, forest, X, names=texts, ids=ids, truth=classes, title=whole, command=whole)
    plain, without = report(tmp_path, forest, X, truth=["t"] * 75, command="c")
    assert page.tags == without.tags
    assert page.scripts[1] == without.scripts[1]
    assert data["clusters"] == plain["clusters"]
    assert {f["name"] for f in data["features"]["features"]} == set(texts)
    assert (set(data["rows"]["ids"]), data["labels"]["ids"]) == (set(ids), ids)
    assert (data["title"], data["run"]["command"], set(data["truth"]["classes"])) == (whole, whole, set(texts))


def test_levels_and_frames(tmp_path):
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 40)
    frame = pd.DataFrame(
        {
            NASTY[0]: np.array([NASTY[1], NASTY[3], "c"])[np.where(rng.random(80) < 0.9, group, 2)],
            "two": np.array(["no", "yes"])[group],
            "size": rng.normal(size=80) + 6 * group,
        }
    )
    frame.loc[3, "size"] = np.nan
    frame.loc[5, "two"] = None
    forest = ClusterForest(2, n_estimators=40, random_state=0).fit(frame)
    data = report(tmp_path, forest, frame)[0]
    shown = {(f["name"], f["level"]) for f in data["features"]["features"]}
    assert shown == {(NASTY[0], NASTY[1]), (NASTY[0], NASTY[3]), (NASTY[0], "c"), ("two", "yes"), ("size", None)}
    yes = next(f for f in data["features"]["features"] if f["level"] == "yes")
    assert yes["mean"] == pytest.approx((frame["two"].dropna() == "yes").mean(), rel=1e-3)
    assert data["features"]["tested_rows"] is None
    assert any("2 of 240 cells" in text for text in data["cautions"])
    assert report(tmp_path, forest, pl.from_pandas(frame))[0] == data


def test_one_cluster(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    chosen = ClusterForest("auto", n_estimators=20, random_state=0).fit(X)
    assert chosen.n_clusters_ == 1
    data = report(tmp_path, chosen, X)[0]
    assert data["answer"] == "The 60 rows are one cluster: they show no groups that stand apart."
    assert data["rows"]["next"] == [None] * 60
    assert data["features"]["clusters"] == []
    assert data["number"]["chosen"]
    assert data["number"]["candidates"] == list(range(1, 11))
    given = ClusterForest(1, n_estimators=20, random_state=0).fit(X)
    assert report(tmp_path, given, X)[0]["answer"] == "The 60 rows are one cluster, as asked for."


@pytest.mark.parametrize(
    ("X", "k", "trees"), [([[1.0], [2.0], [9.0], [9.5]], 2, 10), ([[1.0, 2.0]], 1, 5), ([[1.0], [5.0]], 2, 1)]
)
def test_smallest_tables(tmp_path, X, k, trees):
    forest = ClusterForest(k, n_estimators=trees, random_state=0).fit(X)
    data = report(tmp_path, forest, X)[0]
    assert len(data["clusters"]) == k
    assert data["features"]["features"][0]["name"] == "column 1"
    assert data["stability"]["known"] == (trees > 1) or len(X) == 1


def test_weights_are_said_and_used(tmp_path, three):
    _, X, _ = three
    weights = np.ones(75)
    weights[:5] = 0
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X, sample_weight=weights)
    data = report(tmp_path, forest, X)[0]
    assert any("weights" in text for text in data["cautions"])
    assert "sample_weight=w" in data["run"]["python"]
    mean = np.average(X[:, 0], weights=weights)
    assert next(f for f in data["features"]["features"] if f["name"] == "column 1")["mean"] == pytest.approx(
        mean, rel=1e-3
    )


def test_cautions(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 4))
    forest = ClusterForest(5, n_estimators=6, random_state=0).fit(X).set_params(random_state=None)
    assert (forest.stability(2).clusters < 0.6).any()
    said = " ".join(report(tmp_path, forest, X)[0]["cautions"])
    assert "5 clusters were asked for, not found" in said
    assert "not reliable" in said
    assert "No random_state was set" in said


def test_many_rows_are_thinned_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("clusterforests.report.table.LOOKED_AT", 300)
    monkeypatch.setattr("clusterforests.report.numbers.LISTED_ROWS", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)) + 9 * np.repeat([[0], [1], [2]], [500, 390, 10], axis=0)
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    data = report(tmp_path, forest, X, ids=[f"r{i}" for i in range(900)])[0]
    assert 295 <= data["sampled"] <= 305
    assert data["features"]["rows"] == data["sampled"]
    assert (len(data["rows"]["rows"]), data["rows"]["of"]) == (50, 900)
    np.testing.assert_allclose(data["rows"]["silhouette"], np.sort(forest.silhouette_)[:50], rtol=1e-3, atol=1e-9)
    assert 390 <= len(data["map"]["rows"]) <= 410
    assert data["map"]["labels"].count(2) >= 4
    labels = np.frombuffer(base64.b64decode(data["labels"]["cells"]), dtype=np.uint8)
    np.testing.assert_array_equal(labels, forest.labels_)
    assert data["labels"]["ids"][899] == "r899"


def test_heavy_downloads_are_left_out(tmp_path, three, monkeypatch):
    forest, X, _ = three
    monkeypatch.setattr("clusterforests.report.numbers.ID_CHARACTERS", 100)
    labels = report(tmp_path, forest, X, ids=[f"row {i}" for i in range(75)])[0]["labels"]
    assert (labels["ids"], labels["left_out"]) == (None, True)
    monkeypatch.setattr("clusterforests.report.numbers.LABELLED_ROWS", 74)
    assert report(tmp_path, forest, X)[0]["labels"] is None


def test_large_table_is_read_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr("clusterforests.report.table.DEFAULT_LIMITS", SizeLimits(large_rows=500))
    monkeypatch.setattr("clusterforests.report.table.LOOKED_AT", 200)
    X = np.random.default_rng(0).normal(size=(900, 3)) + 9 * np.repeat([[0], [1]], 450, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    found = report(tmp_path, forest, frame)[0]["features"]
    assert {f["name"] for f in found["features"]} == {"a", "b", "c"}
    rows = thin(forest.labels_, 200, 5)
    first = next(f for f in found["features"] if f["name"] == "a")
    assert first["mean"] == pytest.approx(X[rows, 0].mean(), rel=1e-3)
    with pytest.raises(ValueError, match="feature names"):
        write_report(forest, frame.rename(columns={"a": "z"}), tmp_path / "no.html")
    with pytest.raises(ValueError, match="X has 2 columns but the forest was fitted on 3"):
        write_report(forest, frame[["a", "b"]], tmp_path / "no.html")


def test_thin_keeps_every_cluster():
    labels = np.repeat([0, 1, 2], [9000, 990, 10])
    rows = thin(labels, 100, 4)
    assert np.bincount(labels[rows]).tolist() == [90, 9, 4]
    assert (np.diff(rows) > 0).all()
    assert len(thin(np.arange(1000), 100, 4)) == 100
    assert thin(labels[:5], 100, 4).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "names must hold 6 names"),
        ({"names": "abcdef"}, "names must hold 6 names"),
        ({"ids": range(3)}, "ids must hold 75 names"),
        ({"truth": [1, 2]}, "truth must hold 75 classes"),
        ({"truth": [None] * 75}, "every value is missing"),
    ],
)
def test_wrong_arguments(tmp_path, three, options, message):
    forest, X, _ = three
    with pytest.raises(ValueError, match=message):
        write_report(forest, X, tmp_path / "no.html", **options)
    assert os.listdir(tmp_path) == []


def test_wrong_table_and_forest(tmp_path, three):
    forest, X, _ = three
    with pytest.raises(ValueError, match="X has 74 rows but the forest was fitted on 75"):
        write_report(forest, X[:-1], tmp_path / "no.html")
    with pytest.raises(ValueError, match="features"):
        write_report(forest, X[:, :-1], tmp_path / "no.html")
    with pytest.raises(ValueError, match="not fitted"):
        write_report(ClusterForest(2), X, tmp_path / "no.html")


def test_escapes():
    assert "<" not in as_data({"a": "</script><!--"})
    assert json.loads(as_data({"a": list(NASTY)})) == {"a": list(NASTY)}
    assert as_text("<\ud800 é>") == "&lt;&#55296; &#233;&gt;"
