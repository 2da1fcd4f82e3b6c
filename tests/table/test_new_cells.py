"""Levels that new rows have and the fitted table had not: told of once, for all columns."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest
from clusterforests.app.command_line.program import main
from clusterforests.table.reader.remarks import NewCells

WORDS = ["low", "medium", "high"]


def test_what_is_said():
    unseen = NewCells()
    assert unseen.notes() == []
    unseen.add("column 'a'", [])
    unseen.add("column 'a'", ["x"])
    assert unseen.notes() == [
        "1 cell has a level that was not seen in fit: column 'a' ('x'). They count as none of the levels that were."
    ]
    unseen.add("column 'a'", ["y", "z", "y", "w"])
    unseen.add("column 'b'", [3], ordered=True)
    for name in "cd":
        unseen.add(f"column {name!r}", ["q"])
    assert unseen.notes() == [
        "8 cells have levels that were not seen in fit: column 'a' ('y' 2 times, 'w', 'x', ...), column 'b' (3), "
        "column 'c' ('q'), and 1 more columns. They count as missing where levels have an order, otherwise as none of "
        "the levels that were."
    ]
    counted = NewCells()
    for cells in ({"<5": 2}, {"<1": 3}):
        counted.remark("lead", "limit", Counter(cells))
    counted.remark("lead", "mark", Counter())
    assert counted.notes() == ["Column 'lead': 5 cells such as '<1', ... are read as the limit that they name."]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    group = np.arange(120) % 2
    size = np.array(WORDS)[np.clip(group + rng.integers(0, 2, 120), 0, 2)]
    return pd.DataFrame(
        {"size": size, "x": 5.0 * group + rng.normal(size=120), "y": 4.0 * group + rng.normal(size=120)}
    )


def test_a_word_that_is_none_of_ordered_levels_is_missing(frame, tmp_path, capsys):
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    odd = frame.assign(size=["enormous", *frame["size"][1:]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = forest.predict(odd)
    assert [str(w.message)[:78] for w in caught] == [
        "1 cell has a level that was not seen in fit: column 'size' ('enormous'). They "
    ]
    assert (labels == forest.predict(frame.assign(size=[None, *frame["size"][1:]]))).all()
    frame.to_csv(tmp_path / "t.csv", index=False)
    odd.to_csv(tmp_path / "odd.csv", index=False)
    model = str(tmp_path / "m.cf")
    fit = ["fit", str(tmp_path / "t.csv"), "--clusters", "2", "--trees", "20", "--model", model, "--quiet"]
    assert main(fit) == 0
    assert main(["predict", model, str(tmp_path / "odd.csv")]) == 0
    assert capsys.readouterr().err.count("column 'size' ('enormous'). They count as missing where levels have") == 1
