"""`fit` writes what the estimator finds, in every format."""

import json
import os

import numpy as np
import pytest
from sklearn.datasets import load_wine

import clusterforests
from clusterforests import ClusterForest
from clusterforests.app.command_line.program import main

WINE = ["--id", "wine", "--label", "cultivar", "--clusters", "3", "--trees", "20"]


def test_labels_are_those_of_the_estimator_and_predict_gives_them_again(wine, tmp_path, capsys, read_labels):
    out, model, again = (tmp_path / name for name in ("labels.csv", "model.cf", "again.csv"))
    assert main(["fit", str(wine), *WINE, "--out", str(out), "--model", str(model)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "178 rows, 13 features -> 3 clusters by 20 trees" in printed.out
    assert "agreement with cultivar, 178 rows" in printed.out
    header, names, labels = read_labels(out.read_text())
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(load_wine().data)
    assert header == ["wine", "cluster", "membership"]
    assert names[:2] == ["wine 1", "wine 2"]
    assert np.array_equal(labels, forest.labels_)
    assert main(["predict", str(model), str(wine), "--id", "wine", "--out", str(again)]) == 0
    assert read_labels(again.read_text())[1] == names
    assert np.array_equal(read_labels(again.read_text())[2], labels)
    assert np.array_equal(clusterforests.load(model)[-1].labels_, labels)
    assert sorted(os.listdir(tmp_path)) == ["again.csv", "labels.csv", "model.cf", "wine.csv"]


def test_threads_do_not_change_the_files(wine, tmp_path):
    for threads in ("1", "2"):
        files = ["--out", str(tmp_path / f"l{threads}"), "--model", str(tmp_path / f"m{threads}")]
        assert main(["fit", str(wine), *WINE, *files, "--quiet", "--threads", threads]) == 0
    for kind in "lm":
        assert (tmp_path / f"{kind}1").read_bytes() == (tmp_path / f"{kind}2").read_bytes()


def test_json(wine, tmp_path, capsys):
    assert main(["fit", str(wine), *WINE, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clusters"] == len(facts["sizes"]) == 3
    assert len(facts["labels"]) == len(facts["ids"]) == facts["rows"] == 178
    assert facts["scores"]["accuracy"] > 0.9
    informative = [name for name, score in facts["feature_importances"].items() if score > 0]
    assert sorted(facts["informative_features"]) == sorted(informative)
    assert facts["informative_features"][0] == max(informative, key=facts["feature_importances"].get)
    assert facts["feature_pvalues"].keys() == facts["feature_importances"].keys()
    assert all(facts["feature_pvalues"][name] < 0.01 for name in informative)
    model = tmp_path / "m.cf"
    assert main(["fit", str(wine), *WINE, "--json", "--model", str(model), "--out", str(tmp_path / "l.tsv")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["files"] == {"out": str(tmp_path / "l.tsv"), "model": str(model)}
    assert "labels" not in facts
    assert (tmp_path / "l.tsv").read_text().startswith("wine\tcluster\tmembership\n")
    assert main(["predict", str(model), str(wine), "--label", "cultivar", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["labels"]) == 178
    assert facts["scores"]["accuracy"] > 0.9


def test_the_description_and_the_caveats_are_on_the_screen_and_in_json(wine, capsys):
    assert main(["fit", str(wine), *WINE]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert main(["fit", str(wine), *WINE, "--json"]) == 0
    description = json.loads(capsys.readouterr().out)["description"]
    assert len(description["clusters"]) == 3
    for cluster in description["clusters"]:
        assert f"{cluster['cluster']} {cluster['name']} {cluster['text']}" in printed
        assert all(abs(trait["effect"]) >= 0.33 for trait in cluster["traits"])
    assert description["ambiguous"]["text"] in printed
    assert description["caveats"]
    assert all(f"- {caveat}" in printed for caveat in description["caveats"])


def test_informative_features_are_named_and_all_may_be_used(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(120, 30))
    X[:60, :12] += 3
    path = tmp_path / "t.csv"
    np.savetxt(path, X, delimiter=",", header=",".join(f"x{j}" for j in range(30)), comments="")
    assert main(["fit", str(path), "--clusters", "2", "--trees", "20"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "12 of 30 columns are informative; the other 18 were left out of the trees." in printed
    assert sum(f" % x{j} " in printed for j in range(12)) == 10
    assert "... and 2 more" in printed
    assert main(["fit", str(path), "--clusters", "2", "--trees", "20", "--all-features"]) == 0
    assert "the trees used all columns." in " ".join(capsys.readouterr().out.split())


def test_one_cluster_is_json_too(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i * 7 % 11},{i * 5 % 13}\n" for i in range(50)))
    assert main(["fit", str(path), "--clusters", "1", "--trees", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"] == [50]


def test_why_this_number(wine, capsys):
    asked = ["fit", str(wine), "--id", "wine", "--ignore", "cultivar", "--clusters", "2-6", "--trees", "20"]
    assert main(asked) == 0
    printed = capsys.readouterr().out.splitlines()
    forest = ClusterForest(range(2, 7), n_estimators=20, random_state=0).fit(load_wine().data)
    found = forest.n_clusters_evidence_
    assert printed[1] == f"  {found.reason}"
    assert main([*asked, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["why"] == found.reason
    assert facts["evidence"].pop("clusters") == list(found.candidates)
    assert facts["evidence"].keys() == found.evidence.keys()
    ranks = [np.inf if rank is None else rank for rank in facts["evidence"]["mean_rank"]]  # JSON has no infinity
    assert ranks == pytest.approx(found.evidence["mean_rank"])
    assert facts["repeats"] == []


def test_unknown_evidence_is_null_and_long_reasons_are_wrapped(tmp_path, capsys):
    path = tmp_path / "t.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(80, 4)), delimiter=",", header="a,b,c,d", comments="")
    assert main(["fit", str(path), "--trees", "10"]) == 0
    printed = capsys.readouterr().out
    assert "  1 cluster: the table cannot be told from tables without clusters" in printed
    reason = printed.split("\n\n")[0].splitlines()[1:]
    assert len(reason) > 1
    assert max(map(len, reason)) <= 78
    assert main(["fit", str(path), "--trees", "10", "--json"]) == 0
    evidence = json.loads(capsys.readouterr().out)["evidence"]
    assert (evidence["clusters"], evidence["mean_rank"]) == ([1], [None])


def test_repeated_columns_are_named(tmp_path, capsys):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 40)
    rows = [
        f"{a:.3f},{b:.3f},{'xy'[g]}" for a, b, g in zip(*(rng.normal(size=(2, 80)) + 9 * group), group, strict=True)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,kind", *rows]))
    assert main(["fit", str(path), "--clusters", "2", "--trees", "10", "--json"]) == 0
    printed = capsys.readouterr()
    facts = json.loads(printed.out)
    assert (facts["repeats"], facts["evidence"]) == (["kind"], None)
    assert "note: The clusters repeat column 'kind'" in printed.err
