"""Frames as people have them, fitted and predicted: columns are read by what they are, and new rows in the same way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

from clusterforests import ClusterForest, describe
from clusterforests._utils.memory import DEFAULT_LIMITS
from clusterforests.app.command_line.program import main

AGREEMENT = np.array(["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"])


def groups(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 3, n)


def answers():
    rng, group = groups()
    return np.clip(2 * group[:, None] + rng.integers(-1, 2, (150, 6)), 0, 4)


def labels(X, **settings):
    return ClusterForest(3, n_estimators=30, random_state=0, **settings).fit(X).labels_


@pytest.mark.filterwarnings("ignore:The clusters repeat")
def test_words_with_an_order_are_their_ranks():
    ranks = answers()
    names = [f"q{j}" for j in range(6)]
    words = pd.DataFrame(AGREEMENT[ranks], columns=names)
    expected = labels(pd.DataFrame(ranks + 1, columns=names))
    assert np.array_equal(labels(words), expected)
    types = words.apply(lambda column: pd.Categorical(column, categories=AGREEMENT, ordered=True))
    assert np.array_equal(labels(types), expected)
    assert np.array_equal(labels(pd.DataFrame({name: types[name].cat.codes for name in names})), expected)


def messy():
    rng, group = groups()
    return pd.DataFrame(
        {
            "id": [f"C{i:03d}" for i in range(150)],
            "nr": np.arange(150),
            "euros": [f"{1000 * g + rng.uniform(0, 500):.2f} €".replace(".", ",") for g in group],
            "share": [f"{10 * g + rng.uniform(0, 5):.1f}%" for g in group],
            "since": [f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{2000 + 5 * g}" for g in group],
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 150),
        }
    ), group


@pytest.fixture(scope="module")
def fitted():
    X, _ = messy()
    with pytest.warns(UserWarning, match="'id' is left out: identifier .*'nr' is left out: running number"):
        return ClusterForest(3, n_estimators=30, random_state=0).fit(X)


def test_every_column_is_accounted_for(fitted):
    kinds = {reading.name: reading.kind for reading in fitted.columns_}
    assert kinds == {
        "id": "identifier",
        "nr": "running number",
        "euros": "number",
        "share": "number",
        "since": "date",
        "town": "category",
    }
    assert [reading.feature for reading in fitted.columns_] == list(range(6))
    assert fitted.n_features_in_ == 6
    assert fitted.feature_importances_[:2].tolist() == [0, 0]
    assert not {0, 1} & set(np.concatenate(fitted.estimators_features_).tolist())


def test_new_rows_are_read_as_the_fitted_ones(fitted, tmp_path):
    X, _ = messy()
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    assert np.array_equal(fitted.predict(X.assign(id="anything", nr=-1)), fitted.labels_)
    with pytest.raises(ValueError, match=r"Column 'share', row 0: '.*' has no percent sign, unlike the fitted table"):
        fitted.predict(X.assign(share=X["share"].str.rstrip("%").astype(float)))
    with pytest.raises(ValueError, match=r"Column 'euros', row 0: '5.25 \$' is not a number \(decimal comma, in €\)"):
        fitted.predict(X.assign(euros="5.25 $"))
    with pytest.raises(ValueError, match=r"Column 'since', row 0: '04/13/2021' is not a date .day first"):
        fitted.predict(X.assign(since="04/13/2021"))
    fitted.save(tmp_path / "m.cf")
    again = ClusterForest.load(tmp_path / "m.cf")
    assert again.columns_ == tuple(replace(reading, examples=()) for reading in fitted.columns_)
    assert b"C001" not in (tmp_path / "m.cf").read_bytes()
    assert np.array_equal(again.predict(X), fitted.labels_)


def test_columns_overrule_the_inspection():
    X, _ = messy()
    wishes = {"nr": "number", "id": "ignore", "town": ["Kiel", "Bonn", "Ulm"]}
    forest = ClusterForest(3, n_estimators=10, columns=wishes, random_state=0)
    read = {reading.name: (reading.kind, reading.used) for reading in clone(forest).fit(X).columns_}
    assert read["nr"] == ("number", True)
    assert read["id"] == ("ignored", False)
    assert read["town"] == ("ordered", True)
    with pytest.raises(ValueError, match=r"columns={'nr': 'count'} is not allowed: it must be None or a dictionary"):
        ClusterForest(3, columns={"nr": "count"}).fit(X)
    with pytest.raises(ValueError, match="names 'other', but X has no such column"):
        ClusterForest(3, columns={"other": "number"}).fit(X)


@pytest.mark.parametrize("make", [np.array, np.ndarray.tolist, lambda x: x.astype(object), scipy.sparse.csr_array])
def test_columns_of_an_array_cannot_be_overruled(make):
    """They were all taken as numbers, whatever `columns` said."""
    X = np.arange(60.0).reshape(20, 3)
    with pytest.raises(ValueError, match=r"columns={2: 'category'} says what columns of a frame hold, but X is"):
        ClusterForest(2, columns={2: "category"}).fit(make(X))


def test_all_problems_in_one_error():
    X, _ = messy()
    unclear = pd.DataFrame(
        {"a": [f"{i % 9 + 1},{i + 100}" for i in range(150)], "b": [f"0{i % 9 + 1}/04/2021" for i in range(150)]}
    )
    with pytest.raises(
        ValueError, match=r"1\. Column 'a': its numbers are like .*\n2\. Column 'b': every date is like"
    ) as error:
        ClusterForest(3).fit(X[["town"]].join(unclear))
    assert [problem.column for problem in error.value.problems] == ["a", "b"]


def test_large_frames_of_numbers_are_inspected_too():
    class Small(ClusterForest):
        _limits = type(DEFAULT_LIMITS)(large_rows=100)

    rng, group = groups(400)
    X = pd.DataFrame({"nr": np.arange(400), "a": 4.0 * group + rng.normal(size=400), "b": group + rng.normal(size=400)})
    with pytest.warns(UserWarning, match="'nr' is left out: running number"):
        forest = Small(3, n_estimators=10, random_state=0).fit(X)
    assert not [features for features in forest.estimators_features_ if 0 in features]
    assert np.array_equal(forest.predict(X.assign(nr=7)), forest.labels_)
    codes = X.assign(zip=rng.permutation(group) + 80331)
    with pytest.warns(UserWarning, match="Column 'zip': Its numbers look like names of groups"):
        assert Small(3, n_estimators=5).fit(codes).columns_[3].kind == "number"
    with pytest.warns(UserWarning, match="'nr' is left out"):
        assert Small(3, n_estimators=5, columns={"zip": "category"}).fit(codes).columns_[3].kind == "category"
    with pytest.warns(UserWarning, match="'c' is left out: constant"):
        assert "nr" in {
            r.name for r in Small(3, n_estimators=5, columns={"nr": "number"}).fit(X.assign(c=1)).columns_ if r.used
        }


def overlapping(n, seed=0):
    """Draw clusters that overlap, so that any difference of the draws would show, with columns to leave out."""
    rng, group = np.random.default_rng(seed), np.arange(n) % 3
    used = {f"x{j}": rng.normal(size=n) + 1.3 * (group == j % 3) for j in range(5)}
    left_out = {"nr": np.arange(n), "customer_id": rng.permutation(n) * 7 + 100_000, "one": np.ones(n)}
    return pd.DataFrame(used), pd.DataFrame({**left_out, **used})


@pytest.mark.filterwarnings("ignore:Column .* is left out")
@pytest.mark.parametrize("large", [False, True])
def test_columns_that_are_left_out_change_nothing(tmp_path, lower_limits, large):
    if large:
        lower_limits(large_rows=200)
    X, more = overlapping(400)
    text = more.assign(comment=[f"text of row {i}, which nobody reads" for i in range(len(more))])
    forest = ClusterForest(n_estimators=30, random_state=0)
    plain = clone(forest).fit(X)
    with_more = clone(forest).fit(more)
    for other in (with_more, clone(forest).fit(text)):
        assert np.array_equal(plain.labels_, other.labels_)
        assert np.array_equal(plain.partitions_, other.partitions_)
        assert other.n_clusters_ == plain.n_clusters_
    names = dict(zip(with_more.feature_names_in_, with_more.feature_importances_, strict=True))
    assert [names[name] for name in X.columns] == plain.feature_importances_.tolist()
    assert [names[name] for name in ("nr", "customer_id", "one")] == [0, 0, 0]
    used = [{X.columns[j] for j in features} for features in plain.estimators_features_]
    assert used == [{more.columns[j] for j in features} for features in with_more.estimators_features_]
    with_more.save(tmp_path / "m.cf")
    assert np.array_equal(ClusterForest.load(tmp_path / "m.cf").predict(more), plain.labels_)
    more.to_csv(tmp_path / "t.csv", index=False)
    if not large:
        argv = ["fit", str(tmp_path / "t.csv"), "--trees", "30", "--out", str(tmp_path / "l.csv"), "--quiet"]
        assert main(argv) == 0
        assert pd.read_csv(tmp_path / "l.csv")["cluster"].tolist() == plain.labels_.tolist()


@pytest.mark.filterwarnings("ignore:Column .* is left out")
def test_the_description_counts_only_columns_that_are_used():
    X, more = overlapping(300)
    X.iloc[3, 0] = more.loc[3, "x0"] = np.nan
    forests = [ClusterForest(3, n_estimators=30, random_state=0).fit(table) for table in (X, more)]
    told = [str(describe(forest, table)) for forest, table in zip(forests, (X, more), strict=True)]
    assert told[0] == told[1]
    assert "1 of 1,500 cells" in " ".join(told[0].split())


def test_decimals_beside_a_mark_are_numbers():
    rng, group = groups()
    dose = pd.Series(rng.choice([0.5, 1.5, 2.5, 10.5, 100.5], 150))
    X = pd.DataFrame({"a": 4.0 * group + rng.normal(size=150), "dose": dose.astype(object)})
    X.loc[::10, "dose"] = "n/a"
    with pytest.warns(UserWarning, match=r"'n/a' counts as missing \(15 cells\)"):
        forest = ClusterForest(3, n_estimators=10, random_state=0).fit(X)
    assert forest.columns_[1].kind == "number"


@pytest.mark.filterwarnings("ignore:The clusters repeat")
def test_rows_whose_category_is_a_number_keep_their_cluster_without_the_others():
    rng, group = groups(400)
    words = [("oak", "elm", 1.5 if i % 2 else 2.5)[g] for i, g in enumerate(group)]
    X = pd.DataFrame({**dict.fromkeys("abc", words), "x": rng.normal(size=400), "y": rng.normal(size=400)})
    forest = ClusterForest(3, n_estimators=30, random_state=0, columns=dict.fromkeys("abc", "category")).fit(X)
    assert np.array_equal(forest.predict(X[group == 2]), forest.labels_[group == 2])


@pytest.mark.filterwarnings("ignore:The clusters repeat")
@pytest.mark.parametrize("others", [["oak", "elm"], [2, 0.5]])
def test_true_is_not_1_among_the_levels_of_a_category(others):
    """Rows of True and 1 without text were one level for `predict` where they were two for `fit`."""
    rng, group = groups(400)
    words = pd.Series([(True, 1, others[i % 2])[g] for i, g in enumerate(group)], dtype=object)
    X = pd.DataFrame({**dict.fromkeys("abc", words), "x": rng.normal(size=400), "y": rng.normal(size=400)})
    forest = ClusterForest(3, n_estimators=30, random_state=0, columns=dict.fromkeys("abc", "category")).fit(X)
    assert len(np.unique(forest.labels_[group < 2])) == 2
    shares = forest.predict_proba(X)
    for rows in (group < 2, group == 0, group == 1, group > 0):
        assert np.array_equal(forest.predict_proba(X[rows]), shares[rows])


def test_keys_that_look_like_fractions_are_left_out_of_tables_of_any_size(lower_limits):
    rng, group = groups(400)
    a, b = (4.0 * group + rng.normal(size=400) for _ in range(2))
    X = pd.DataFrame({"customer_id": rng.uniform(1e8, 9e8, 400), "a": a, "b": b})
    for large_rows in (1000, 100):
        lower_limits(large_rows=large_rows)
        with pytest.warns(UserWarning, match="'customer_id' is left out: identifier"):
            ClusterForest(3, n_estimators=5).fit(X)


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (["mid", "high"], "Column 'size': 'low' is none of the levels that you give: mid, high."),
        (["low", "mid"], "Column 'size': 'high' is none of the levels that you give: low, mid."),
    ],
)
def test_levels_that_the_user_forgets_are_not_guessed(levels, said):
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "size": ["low", "mid", "high"] * 20})
    with pytest.raises(ValueError, match=said):
        ClusterForest(2, n_estimators=3, columns={"size": levels}).fit(frame)


@pytest.mark.parametrize("levels", [[3, 1, 2], [1, 2], ["a", "b"]])
def test_numbers_keep_their_own_order(levels):
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "size": [1, 2, 3] * 20})
    with pytest.raises(ValueError, match="Column 'size': its cells are numbers, which have an order of their own"):
        ClusterForest(2, n_estimators=3, columns={"size": levels}).fit(frame)
    ClusterForest(2, n_estimators=3, columns={"size": [1, 2, 3]}).fit(frame)


def test_a_new_word_has_no_rank_among_levels_that_skip_its_step():
    levels = ["strongly disagree", "neutral", "strongly agree"]
    answers = pd.Categorical(np.repeat(levels, 20), categories=levels, ordered=True)
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "answer": answers})
    forest = ClusterForest(2, n_estimators=3, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="'agree'"):
        forest.predict(pd.DataFrame({"x": [1.0], "answer": ["agree"]}))
