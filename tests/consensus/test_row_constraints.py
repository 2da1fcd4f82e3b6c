"""What the user knows of rows: units, contradictions by name, links in the partitions."""

import numpy as np
import pandas as pd
import pytest

from clusterforests.consensus.constraints import UNKNOWN, read_row_constraints


def read(n_rows=6, must_link=None, cannot_link=None, known_labels=None):
    return read_row_constraints(n_rows, must_link, cannot_link, known_labels)


def test_nothing_known():
    assert read() is None
    assert (
        read(must_link=[], cannot_link=np.empty((0, 2), int), known_labels=[-1, None, np.nan, -1.0, pd.NA, -1]) is None
    )


def test_chains_are_units_and_classes_come_first():
    known = [None, None, "b", None, "a", None]
    found = read(must_link=[(0, 1), (1, 3)], cannot_link=[(3, 5), (4, 5)], known_labels=known)
    assert found.classes == ("b", "a")
    assert found.unit.tolist() == [2, 2, 0, 2, 1, 3]
    assert found.apart.tolist() == [[1, 3], [2, 3]]
    assert found.known.tolist() == [2, 4]
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert [found.name(unit) for unit in range(4)] == ["class 'b'", "class 'a'", "row 0", "row 5"]


def test_rows_linked_to_a_known_one_are_of_its_class():
    found = read(must_link=[(0, 5)], known_labels=[7, -1, 8, -1, -1, -1])
    assert found.unit.tolist() == [0, UNKNOWN, 1, UNKNOWN, UNKNOWN, 0]


def test_classes_are_apart_without_pairs():
    assert read(cannot_link=[(0, 1)], known_labels=[1, 2, -1, -1, -1, -1]).apart.tolist() == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"must_link": [(0, 1), (1, 2), (2, 4)], "cannot_link": [(0, 4)]},
            "cannot_link and must_link contradict each other: row 0 and row 4 are to be apart, but are joined by "
            "row 0 - row 1 - row 2 - row 4.",
        ),
        ({"cannot_link": [(3, 3)]}, "cannot_link pairs row 3 with itself: no row can be apart from itself."),
        (
            {"cannot_link": [(1, 2)], "known_labels": [-1, "x", "x", -1, -1, -1]},
            "cannot_link and known_labels contradict each other: row 1 and row 2 are to be apart, but are joined by "
            "row 1 - class 'x' - row 2.",
        ),
        (
            {"must_link": [(1, 3), (3, 2)], "known_labels": [-1, "x", "y", -1, -1, -1]},
            "known_labels and must_link contradict each other: class 'x' and class 'y' are joined by row 1 - row 3 - "
            "row 2.",
        ),
        ({"must_link": [(0, 6)]}, "must_link names row 6, but X has 6 rows: positions are 0 to 5."),
        ({"cannot_link": [(0, -1)]}, "cannot_link names row -1, but X has 6 rows"),
        ({"must_link": [0, 1]}, r"must_link must be pairs of row positions, .* not one of int64 of shape \(2,\)."),
        ({"must_link": [(0.0, 1.0)]}, "must_link must be pairs of row positions, .* not one of float64"),
        ({"known_labels": [0, 1]}, r"known_labels must have one entry for each of the 6 rows, .* shape is \(2,\)."),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        read(**given)


def test_a_long_chain_is_shortened():
    chain = [(i, i + 1) for i in range(40)]
    with pytest.raises(ValueError, match=r"row 0 - row 1 - .* - \.\.\. - row 40\.$"):
        read(41, must_link=chain, cannot_link=[(0, 40)])


def test_linked_rows_have_the_same_labels_drawn_from_theirs():
    rng = np.random.default_rng(0)
    partitions = rng.integers(9, size=(300, 6)).astype(np.int32)
    found = read(must_link=[(0, 2), (2, 5)], known_labels=[-1, "x", -1, "x", -1, -1])
    linked = found.link(partitions)
    assert np.array_equal(linked[:, [1, 3, 4]], partitions[:, [1, 3, 4]])
    assert np.array_equal(linked[:, 0], linked[:, 2])
    assert np.array_equal(linked[:, 0], linked[:, 5])
    same = (partitions[:, [0, 2, 5]] == linked[:, [0]]).mean(axis=0)
    assert (same > 0.3).all()  # each is drawn in a third of the partitions, and equal by chance in some others
    assert (same < 0.5).all()


@pytest.mark.parametrize("unknown", [np.int64(-1), np.float32("nan"), np.float64(-1), np.datetime64("NaT", "D")])
def test_unknown_entries_may_be_scalars_of_numpy(unknown):
    assert read_row_constraints(3, None, None, [unknown] * 3) is None
    assert read_row_constraints(3, None, None, [np.str_("a"), unknown, np.int64(2)]).classes == ("a", 2)


def test_ragged_pairs_and_classes_that_cannot_be_compared_are_named():
    with pytest.raises(ValueError, match=r"^must_link must be pairs of row positions"):
        read_row_constraints(3, [(0, 1), (1,)], None, None)
    with pytest.raises(ValueError, match=r"^known_labels has \{1\} in row 1"):
        read_row_constraints(2, None, None, [0, {1}])
