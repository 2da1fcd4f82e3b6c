"""`predict` finds a model's columns and categories in other files."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import clusterforests
from clusterforests import ClusterForest, TableReader
from clusterforests.app.command_line.program import main


def test_npy_and_columns_in_another_order(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)) + np.repeat([[0], [9]], 30, axis=0), 3)
    np.save(tmp_path / "x.npy", X)
    model = tmp_path / "m.cf"
    assert (
        main(["fit", str(tmp_path / "x.npy"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    table = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in X.tolist())])
    (tmp_path / "x.csv").write_text(table)
    assert main(["predict", str(model), str(tmp_path / "x.csv"), "--quiet"]) == 0
    first = capsys.readouterr().out
    assert (
        main(["fit", str(tmp_path / "x.csv"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    shuffled = "\n".join(["extra,c,a,b", *(",".join(map(str, ["?", *row[[2, 0, 1]]])) for row in X)])
    (tmp_path / "y.csv").write_text(shuffled)
    for name in ("y.csv", "x.npy"):
        assert main(["predict", str(model), str(tmp_path / name), "--quiet"]) == 0
        assert capsys.readouterr().out == first


def test_unknown_categories_are_a_note(tmp_path, capsys):
    rows = [f"{i % 2 * 9 + i % 3},{'xy'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows, "3,"]))
    (tmp_path / "new.csv").write_text("a,b\n1,z\n")
    table, model, new = (str(tmp_path / name) for name in ("t.csv", "m.cf", "new.csv"))
    assert main(["fit", table, "--clusters", "2", "--trees", "9", "--model", model, "--quiet"]) == 0
    assert main(["predict", model, new]) == 0
    assert capsys.readouterr().err.count("Column 'b': 'z' is none of its levels") == 1


def test_missing_cells_of_a_complete_table(tmp_path, capsys):
    rows = [f"{i % 2 * 9 + i % 3},{i % 2 * 7 + i % 5}" for i in range(40)]
    table, model, new = tmp_path / "t.csv", tmp_path / "m.cf", tmp_path / "new.csv"
    table.write_text("\n".join(["a,b", *rows]))
    new.write_text("a,b\n1,\n,9\n")
    fit = ["fit", str(table), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]
    assert main(fit) == 0
    assert main(["predict", str(model), str(new)]) == 0
    first, second = (line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:])
    assert first != second
    assert main([*fit, "--model-without-rows"]) == 0
    assert main(["predict", str(model), str(new)]) == 1
    assert "the model was saved without rows to fill them from" in capsys.readouterr().err


def fit_and_save(frame, path, **settings):
    forest = ClusterForest(3, n_estimators=20, random_state=0, select_features=False)
    model = make_pipeline(TableReader(**settings), forest).fit(frame)
    clusterforests.save(model, path)
    return model[-1].labels_.tolist()


@pytest.mark.filterwarnings("ignore:Column")
def test_a_model_of_a_frame_reads_files(tmp_path, capsys):
    """Categories, numbers and truth values are written in different ways by different formats."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    mixed = np.where(rng.random(180) < 0.05, rng.integers(0, 3, 180), group)
    table = pd.DataFrame({"a": rng.normal(size=180) + 2 * group, "b": rng.normal(size=180)})
    table = table.assign(
        c=mixed == 1, d=np.array([1e-5, 0.5, 2.0])[mixed], e=mixed + 1, id=[f"r{i}" for i in range(180)]
    )
    labels = fit_and_save(table, tmp_path / "m.cf", overrides={"d": "category", "e": "category"})
    table = table.drop(columns="id")
    table.to_parquet(tmp_path / "t.parquet")
    table.astype({"e": "float32"}).to_feather(tmp_path / "t.feather")
    table.to_csv(tmp_path / "t.csv", index=False)
    table.astype({"c": int}).to_csv(tmp_path / "digits.csv", index=False)
    (tmp_path / "lower.csv").write_text((tmp_path / "t.csv").read_text().lower())
    for name in ("t.parquet", "t.feather", "t.csv", "digits.csv", "lower.csv"):
        assert main(["predict", str(tmp_path / "m.cf"), str(tmp_path / name), "--json"]) == 0
        out, err = capsys.readouterr()
        assert "levels" not in err
        assert json.loads(out)["labels"] == labels, name
    (tmp_path / "other.csv").write_text((tmp_path / "t.csv").read_text().replace("True", "agreed"))
    assert main(["predict", str(tmp_path / "m.cf"), str(tmp_path / "other.csv")]) == 1
    assert "column 'c': 'agreed' is" in capsys.readouterr().err


def test_a_forest_without_a_reader_takes_columns_of_numbers(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    forest = ClusterForest(2, n_estimators=9, random_state=0).fit(frame)
    forest.save(tmp_path / "m.cf")
    frame[["b", "a"]].to_csv(tmp_path / "x.csv", index=False)
    assert main(["predict", str(tmp_path / "m.cf"), str(tmp_path / "x.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == forest.labels_.tolist()


def test_another_number_of_clusters(wine, tmp_path, capsys, read_labels):
    model, out = tmp_path / "m.cf", tmp_path / "five.csv"
    columns = ["--id", "wine", "--label", "cultivar"]
    assert main(["fit", str(wine), *columns, "--clusters", "3", "--trees", "20", "--model", str(model), "--quiet"]) == 0
    five = clusterforests.load(model)[-1].recut(5).labels_
    ask = ["predict", str(model), str(wine), *columns, "--clusters", "5"]
    assert main([*ask, "--out", str(out)]) == 0
    assert np.array_equal(read_labels(out.read_text())[2], five)
    assert "178 rows in 5 clusters" in capsys.readouterr().err
    assert main([*ask, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["clusters"], facts["labels"]) == (5, five.tolist())
    assert facts["sizes"] == np.bincount(five).tolist()


@pytest.mark.parametrize(
    ("number", "message", "status"),
    [
        ("9999", "m.cf: --clusters 9999 is more than the ", 1),
        ("none", "--clusters: 'none' must be a whole", 2),
    ],
)
def test_an_impossible_number_of_clusters(wine, tmp_path, capsys, number, message, status):
    model = tmp_path / "m.cf"
    fit = ["fit", str(wine), "--ignore", "wine", "cultivar", "--clusters", "2", "--trees", "5", "--quiet"]
    assert main([*fit, "--model", str(model)]) == 0
    command = ["predict", str(model), str(wine), "--clusters", number]
    if status == 2:
        with pytest.raises(SystemExit, match="2"):
            main(command)
    else:
        assert main(command) == status
    assert message in capsys.readouterr().err


def test_places_are_counted_from_one_by_every_command(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 3))
    table, model, wrong = (str(tmp_path / name) for name in ("x.npy", "m.cf", "wrong.npy"))
    np.save(table, X)
    X[4, 1] = np.inf
    np.save(wrong, X)
    assert main(["fit", table, "--clusters", "2", "--trees", "9", "--model", model, "--quiet"]) == 0
    page = str(tmp_path / "page.html")
    for command in (["fit", wrong], ["predict", model, wrong], ["report", model, wrong, "--out", page]):
        assert main(command) == 1
        assert "wrong.npy contains infinity in row 5, column 2." in capsys.readouterr().err
