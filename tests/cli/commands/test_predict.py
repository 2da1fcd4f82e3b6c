"""`predict` finds a model's columns and categories in other files."""

import numpy as np

from clusterforests.cli.program import main


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
    model = tmp_path / "m.cf"
    assert (
        main(["fit", str(tmp_path / "t.csv"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    (tmp_path / "new.csv").write_text("a,b\n1,z\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    err = capsys.readouterr().err
    assert "clusterforests predict: note: Column 'b' has levels that were not seen in fit: 'z'" in err
