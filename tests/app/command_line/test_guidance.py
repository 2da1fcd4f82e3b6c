"""`fit` keeps what its options say of the clusters, or says why it cannot."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from clusterforests import ClusterForest
from clusterforests.app.command_line.program import main

CLASSES = load_wine().target_names[load_wine().target]
FEW = ["--clusters", "3", "--trees", "20", "--ignore", "cultivar", "--quiet"]


@pytest.fixture
def table(tmp_path, wine):
    """The wine data with a column `type`: the classes of every twentieth row, -1 and empty cells elsewhere."""
    rows = list(csv.reader(wine.read_text().splitlines()))
    known = ["type", *(name if i % 20 == 0 else ("-1", "")[i % 2] for i, name in enumerate(CLASSES))]
    path = tmp_path / "known.csv"
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([*row, cell] for row, cell in zip(rows, known, strict=True))
    return path


@pytest.fixture
def pairs(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def labels_of(capsys, *arguments):
    assert main(["fit", *map(str, arguments), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    return np.array(facts["labels"]), facts


def test_pairs_by_numbers_and_by_names_are_kept_and_counted(table, pairs, capsys):
    together, apart = pairs("same.csv", "1,101\n101,8\n"), pairs("apart.csv", "2,3\n2,61\n")
    arguments = [table, *FEW, "--ignore", "type", "wine", "--must-link", together, "--cannot-link", apart]
    labels, facts = labels_of(capsys, *arguments)
    assert labels[0] == labels[100] == labels[7]
    assert labels[1] not in (labels[2], labels[60])
    assert facts["kept"] == {
        "must_link": 2,
        "cannot_link": 2,
        "known_rows": 0,
        "known_clusters": {},
        "min_size": None,
        "max_size": None,
    }
    assert (
        "Kept as asked: 3 rows together in 1 group; 2 pairs of rows or groups apart." in facts["description"]["caveats"]
    )
    named = pairs("names.csv", "a,b\nwine 1,wine 101\nwine 101,wine 8\n")
    named_apart = pairs("named-apart.csv", "wine 2,wine 3\nwine 2,wine 61\n")
    arguments = [table, *FEW, "--ignore", "type", "--id", "wine", "--must-link", named, "--cannot-link", named_apart]
    again, facts = labels_of(capsys, *arguments)
    assert np.array_equal(again, labels)
    assert "line 1 names no rows ('a', 'b')" in facts["notes"][-1]


def test_known_labels_are_those_of_the_estimator_and_no_feature(table, capsys):
    labels, facts = labels_of(capsys, table, *FEW, "--id", "wine", "--known-labels", "type")
    known = [name if i % 20 == 0 else None for i, name in enumerate(CLASSES)]
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(load_wine().data, known_labels=known)
    assert np.array_equal(labels, forest.labels_)
    assert facts["features"] == 13
    assert facts["kept"]["known_rows"] == 9
    assert facts["kept"]["known_clusters"] == forest.known_clusters_


def test_missing_marks_hold_for_known_labels(tmp_path, capsys):
    path = tmp_path / "blobs.csv"
    values = np.repeat([0, 10], 15) + np.random.default_rng(0).normal(size=(2, 30))
    known = ["u", *["not sure"] * 28, "v"]
    path.write_text("a,b,k\n" + "\n".join(f"{a},{b},{k}" for a, b, k in zip(*values, known, strict=True)))
    given = [path, "--clusters", "2", "--trees", "5", "--known-labels", "k"]
    assert labels_of(capsys, *given, "--missing", "not sure")[1]["kept"]["known_rows"] == 2


def test_sizes(table, capsys):
    labels, facts = labels_of(capsys, table, *FEW, "--ignore", "type", "--min-size", "58", "--max-size", "0.34")
    assert sorted(np.bincount(labels)) == [58, 60, 60]
    assert (facts["kept"]["min_size"], facts["kept"]["max_size"]) == (58, 0.34)
    assert labels_of(capsys, table, *FEW, "--ignore", "type")[1]["kept"] is None


def test_the_report_says_what_was_kept(table, tmp_path):
    page = tmp_path / "page.html"
    given = ["--known-labels", "type", "--min-size", "40", "--report", str(page)]
    assert main(["fit", str(table), *FEW, "--id", "wine", *given]) == 0
    text = page.read_text()
    assert "Kept as asked: 9 rows in the clusters of their known classes (class_0 is cluster 1" in text
    assert "min_cluster_size=40" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--ignore", "type", "--id", "wine", "--must-link", "wine 1,wine 2\n", "--cannot-link", "wine 2,wine 1\n"],
            "known.csv: --cannot-link and --must-link contradict each other: row 'wine 2' and row 'wine 1' are to be "
            "apart, but are joined by row 'wine 2' - row 'wine 1'.",
        ),
        (["--ignore", "type", "--cannot-link", "3,3\n"], "--cannot-link pairs row 3 with itself"),
        (
            ["--ignore", "type", "--cannot-link", "1,2\n1,3\n1,4\n2,3\n2,4\n3,4\n"],
            "--cannot-link needs 4 clusters, more than --clusters 3: row 1, row 2, row 3, row 4 are all to be apart",
        ),
        (["--known-labels", "type", "--clusters", "2"], "--known-labels names 3 classes"),
        (["--known-labels", "kind"], "has no column 'kind'"),
        (
            ["--ignore", "type", "--min-size", "70"],
            "--min-size: 3 clusters of at least 70 need 210 rows, but X has 178. Lower --min-size",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_in_the_words_of_the_command_line(table, pairs, capsys, options, message):
    given = [pairs(f"{i}.csv", option) if option.endswith("\n") else option for i, option in enumerate(options)]
    assert main(["fit", str(table), *FEW, *given]) == 1
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--min-size", "5", "--contamination", "auto"], "--contamination and --min-size cannot be combined"),
        (["--max-size", "0.5", "--contamination", "0.1"], "--contamination and --max-size cannot be combined"),
        (["--label", "type", "--known-labels", "type"], "--label and --known-labels both name the column 'type'."),
        (["--min-size", "0"], "'0' must be a number of rows such as 50, or a share of them between 0 and 1"),
        (["--max-size", "1.5"], "'1.5' must be a number of rows"),
        (["--max-size", "few"], "'few' must be a number of rows"),
    ],
)
def test_options_that_exclude_each_other_are_mistakes_of_the_command_line(table, capsys, options, message):
    with pytest.raises(SystemExit, match="2"):
        main(["fit", str(table), *options])
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_class_may_be_called_as_rows_are(tmp_path, pairs, capsys):
    path = tmp_path / "named.csv"
    known = ["top row 999", "row 1", *[""] * 8]
    path.write_text("id,a,b,k\n" + "".join(f"r{i},{i},{i % 3},{name}\n" for i, name in enumerate(known)))
    given = ["--id", "id", "--known-labels", "k", "--must-link", pairs("same.csv", "r0,r1\n")]
    assert main(["fit", str(path), "--clusters", "2", *given]) == 1
    message = capsys.readouterr().err
    assert "'top row 999'" in message
    assert "'row 1'" in message
    assert "row 'r0'" in message


def test_a_column_without_classes_is_refused(tmp_path, capsys):
    path = tmp_path / "none.csv"
    path.write_text("a,b,k\n1,2,\n3,4,-1\n5,7,\n")
    assert main(["fit", str(path), "--known-labels", "k"]) == 1
    assert "--known-labels: column 'k' has no classes." in capsys.readouterr().err


def test_pairs_are_not_overwritten(table, pairs, capsys):
    same = pairs("same.csv", "1,2\n")
    assert main(["fit", str(table), "--must-link", same, "--out", same]) == 1
    assert "is the same file as --must-link. Give it another name." in capsys.readouterr().err


def test_matrices_have_no_column_to_name_but_rows(tmp_path, pairs, capsys):
    path = tmp_path / "X.npy"
    np.save(path, load_wine().data)
    assert main(["fit", str(path), "--known-labels", "k"]) == 1
    assert "have no names, so none can be named" in capsys.readouterr().err
    given = [path, "--clusters", "3", "--trees", "20", "--must-link", pairs("p.csv", "1,178\n")]
    labels, _ = labels_of(capsys, *given)
    assert labels[0] == labels[177]


def test_anndata_files_have_them_in_obs(tmp_path, capsys):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(load_wine().data)
    adata.obs["type"] = [name if i % 20 == 0 else None for i, name in enumerate(CLASSES)]
    path = tmp_path / "wine.h5ad"
    adata.write_h5ad(path)
    given = [path, "--clusters", "3", "--trees", "20"]
    labels, facts = labels_of(capsys, *given, "--known-labels", "type")
    assert facts["kept"]["known_rows"] == 9
    assert labels[0] == facts["kept"]["known_clusters"]["class_0"]
    assert main(["fit", *map(str, given), "--known-labels", "kind"]) == 1
    assert ".obs has no column 'kind'" in capsys.readouterr().err
