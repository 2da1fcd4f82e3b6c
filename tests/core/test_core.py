"""The C++ module refuses arguments that would take it out of bounds, and is what its stub says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clusterforests import _core

X = np.random.default_rng(0).normal(size=(10, 3))


def ints(*values):
    return np.array(values, dtype=np.int32)


def offsets(*values):
    return np.array(values, dtype=np.int64)


def kmeans(**changes):
    good = {"columns": ints(0, 1), "ends": offsets(0, 2), "clusters": ints(2), "seeds": 1}
    call = good | {"restarts": 1, "max_iter": 1, "threads": 1} | changes
    return _core.kmeans(
        _core.Table(X),
        call["columns"],
        call["ends"],
        call["clusters"],
        np.zeros(call["seeds"], dtype=np.uint64),
        call["restarts"],
        call["max_iter"],
        2,
        call["threads"],
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"columns": ints(0, 3)},
        {"columns": ints(-1, 0)},
        {"ends": offsets(0, 1)},
        {"ends": offsets(0, 3)},
        {"ends": offsets(0, 2, 2)},
        {"ends": offsets(0, 3, 2), "clusters": ints(2, 2), "seeds": 2},
        {"clusters": ints(0)},
        {"seeds": 2},
        {"restarts": 0},
        {"max_iter": 0},
        {"threads": 0},
        # What would take all memory.
        {"threads": 1025},
        {"restarts": 2**20 + 1},
        {"clusters": ints(2**31 - 1)},
    ],
)
def test_kmeans_refuses(bad):
    assert kmeans().solved[0]
    with pytest.raises(ValueError, match=r"\w"):
        kmeans(**bad)


def test_results_of_kmeans_outlive_their_object():
    found = kmeans(clusters=ints(3))
    within, (centers,) = found.within, found.centers
    expected = within.tolist(), centers.tolist()
    with pytest.raises(AttributeError):
        found.within = within
    del found
    for _ in range(20):
        kmeans(clusters=ints(3), restarts=3)
    assert (within.tolist(), centers.tolist()) == expected
    assert centers.shape == (3, 2)


def test_empty_tables_and_problems():
    empty = _core.Table(np.empty((0, 2)))
    assert empty.distinct == 0
    none = _core.kmeans(empty, ints(0), offsets(0, 1), ints(1), np.zeros(1, np.uint64), 1, 1, 1, 1)
    assert not none.solved[0]
    no_columns = kmeans(columns=ints(), ends=offsets(0, 0), clusters=ints(2))
    assert not no_columns.solved[0]


LABELS = np.zeros((4, 10), dtype=np.int32)
LAST = np.full((1, 2), 2**31 - 1, np.int32)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: _core.Table(X, np.ones(9)), "weights"),
        (lambda: _core.project(X, ints(0, 0), np.zeros(2), ints(1, 1)), "columns"),
        (lambda: _core.assign(_core.Table(X), ints(0), offsets(0, 1), ints(2), np.zeros(3), 1), "centers"),
        (lambda: _core.coassociate(LABELS, LABELS[:3], np.zeros(5), 1), "partitions"),
        (lambda: _core.coassociate(LABELS, LABELS, np.zeros(4), 1), "table"),
        (lambda: _core.coassociate(LAST, LAST, np.zeros(2), 1), "labels"),
        (lambda: _core.most_matched(LABELS, LABELS[:3], 1), "partitions"),
        (lambda: _core.most_matched(LABELS, LABELS[:, :0], 1), "row"),
        (lambda: _core.multiply(X, np.zeros((1, 4)), 1), "column"),
        (lambda: _core.draw_features(np.zeros(1, np.uint64), 3, 4, ints(), offsets(0, 0)), "count"),
        (lambda: _core.draw_features(np.array([1, 2], np.uint64), 5, 2, ints(0), offsets(0, 10**9, 1)), "offsets"),
    ],
)
def test_others_refuse(call, word):
    with pytest.raises(ValueError, match=word):
        call()


def test_draws_are_distinct_and_uniform():
    keys = np.arange(6000, dtype=np.uint64) * np.uint64(2654435761)
    excluded = np.tile(ints(1, 4), 6000)
    drawn = _core.draw_features(keys, 6, 2, excluded, np.arange(6001) * 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    counts = np.bincount(drawn.ravel(), minlength=6)
    assert counts[1] == counts[4] == 0
    assert np.abs(counts[[0, 2, 3, 5]] - 3000).max() < 250
    everything = _core.draw_features(keys[:1], 3, 3, ints(0, 2), offsets(0, 2))
    assert everything.tolist() == [[1, -1, -1]]


def scaling(**changes):
    good = {
        "exponent": np.zeros((1, 2), np.int32),
        "shift": np.zeros((1, 2)),
        "divisor": np.ones((1, 2)),
        "ranked": np.array([[0, 1]], np.uint8),
        "starts": offsets(0, 0, 2),
        "knots": np.array([1.0, 2.0]),
        "ranks": np.array([0.25, 0.75]),
        "term_starts": offsets(0, 2, 2),
        "term_columns": ints(1, 0),
        "coefficients": np.array([0.5, -2.0]),
    }
    return _core.Scaling(**(good | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"shift": np.zeros((1, 3))},
        {"starts": offsets(0, 2)},
        {"starts": offsets(0, 1, 3)},
        {"starts": offsets(0, 2, 2)},
        {"knots": np.array([2.0, 1.0])},
        {"exponent": np.full((1, 2), 5000, np.int32)},
        {"term_starts": offsets()},
        {"term_starts": offsets(1, 2)},
        {"term_starts": offsets(0, 1)},
        {"term_starts": offsets(0, 3)},
        {"term_starts": offsets(0, 3, 2)},
        {"term_starts": offsets(0, -1, 2)},
        {"term_columns": ints(0)},
        {"term_columns": ints(0, 2)},
        {"term_columns": ints(-1, 0)},
        {"coefficients": np.ones(3)},
        {"coefficients": np.array([1.0, np.inf])},
        {"coefficients": np.array([np.nan, 1.0])},
    ],
)
def test_bad_scalings_are_refused(changes):
    with pytest.raises(ValueError, match=r"must|range"):
        scaling(**changes)
    assert scaling().apply(np.array([[3.0, 1.5]])).tolist() == [[3.0, 0.5, -5.75, 0.0]]
    with pytest.raises(ValueError, match="columns"):
        scaling().apply(np.ones((2, 3)))


def passes(**changes):
    good = {
        "scaling": None,
        "exponent": ints(0, 0, 0),
        "origin": np.zeros(3),
        "reach": ints(1, 1, 1),
        "columns": ints(0, 2),
        "offsets": offsets(0, 2),
        "clusters": ints(2),
        "centers": np.array([0.0, 0.0, 1.0, 1.0]),
    }
    return _core.Passes(**(good | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": np.zeros(2)},
        {"columns": ints(0, 3)},
        {"centers": np.zeros(3)},
        {"offsets": offsets(0, 1)},
    ],
)
def test_bad_passes_are_refused(changes):
    with pytest.raises(ValueError, match=r"must|range"):
        passes(**changes)
    with pytest.raises(ValueError, match="scaled columns"):
        passes(scaling=scaling())


@pytest.mark.parametrize(
    "changes",
    [
        {"x": X[:, :2].copy()},
        {"weights": np.ones(9)},
        {"bits": ints(1, 1)},
        {"mass_bits": 63},
        {"sums": np.zeros(3, np.int64)},
        {"mass": np.zeros(3, np.int64)},
        {"threads": 0},
    ],
)
def test_bad_sums_are_refused(changes):
    call = {
        "x": X,
        "weights": None,
        "bits": ints(30, 30, 30),
        "mass_bits": 30,
        "sums": np.zeros(4, np.int64),
        "mass": np.zeros(2, np.int64),
        "threads": 1,
    }
    passes().add(**call)
    assert call["mass"].sum() == 10 << 30
    with pytest.raises(ValueError, match="must"):
        passes().add(**(call | changes))


@pytest.mark.parametrize(("shape", "start"), [((1, 9), 0), ((1, 20), 11), ((1, 20), -1), ((2, 20), 0)])
def test_labels_outside_the_array_are_refused(shape, start):
    with pytest.raises(ValueError, match="must"):
        passes().label(X, np.zeros(shape, np.int8), start, 1)


def test_labels_that_do_not_fit_are_refused():
    many = passes(clusters=ints(129), centers=np.zeros(258))
    many.label(X, np.zeros((1, 10), np.int16), 0, 1)
    with pytest.raises(ValueError, match="fit"):
        many.label(X, np.zeros((1, 10), np.int8), 0, 1)
    with pytest.raises(TypeError):
        many.label(X, np.zeros((1, 10), np.int64), 0, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_tables_are_finite(value):
    wrong = X.copy()
    wrong[3, 1] = value
    with pytest.raises(ValueError, match="X must be finite"):
        _core.Table(wrong)
    with pytest.raises(ValueError, match="weights must be finite"):
        _core.Table(X, np.where(np.arange(10) == 2, -abs(value), 1.0))


def test_projected_rows_are_not_clustered():
    """They may be infinite in the coordinates of other rows, and sorting would leave the array."""
    projected = _core.project(np.full((40, 1), np.nan), ints(0), np.zeros(1), ints(1))
    with pytest.raises(ValueError, match="assigned, not clustered"):
        _core.kmeans(projected, ints(0), offsets(0, 1), ints(2), np.zeros(1, np.uint64), 1, 1, 1, 1)


@pytest.mark.parametrize("exponent", [-(2**31), 2**31 - 1, 3000])
def test_coordinates_are_in_range(exponent):
    with pytest.raises(ValueError, match="out of range"):
        _core.project(X[:, :1].copy(), ints(exponent), np.zeros(1), ints(1))
    with pytest.raises(ValueError, match="out of range"):
        _core.project(X[:, :1].copy(), ints(0), np.zeros(1), ints(exponent))


@pytest.mark.parametrize("knots", [[np.nan], [-np.inf, np.inf], [0.0, np.inf]])
def test_knots_are_finite(knots):
    with pytest.raises(ValueError, match="knots must be finite"):
        scaling(starts=offsets(0, 0, len(knots)), knots=np.array(knots), ranks=np.linspace(0, 1, len(knots)))


def test_rows_of_nothing_are_counted_too():
    empty = _core.Scaling(
        *np.zeros((4, 1, 0)).astype("i4")[:1],
        *np.zeros((2, 1, 0)),
        np.zeros((1, 0), "u1"),
        offsets(0),
        *np.zeros((2, 0)),
        offsets(0),
        ints(),
        np.zeros(0),
    )
    with pytest.raises(ValueError, match="rows or more"):
        empty.apply(np.empty((2**40, 0)), 1)
    for call in (_core.column_keys, lambda labels: _core.hash_rows(labels.T.astype(float), 1)):
        with pytest.raises(ValueError, match="an empty array is too large"):
            call(np.empty((0, 2**31), np.int32))


def test_knots_further_apart_than_a_double():
    far = scaling(knots=np.array([-1.7e308, 1.7e308]), ranks=np.array([0.0, 1.0]))
    there = far.apply(np.array([[0.0, -1.7e308], [0.0, 0.0], [0.0, 1e308], [0.0, 1.7e308]]))
    assert there[:, 1] == pytest.approx([0, 0.5, 0.5 + 1 / 3.4, 1])


def test_the_stub_is_the_one_of_the_module():
    """`python tools/stub.py` writes it anew."""
    root = next(folder for folder in Path(__file__).parents if (folder / "CMakeLists.txt").is_file())
    assert subprocess.run([sys.executable, root / "tools/stub.py", "--check"]).returncode == 0


def test_nothing_is_left_when_python_ends():
    """nanobind counts its objects then. Those that remained after tests were of models that `parametrize` had kept."""
    code = """
from sklearn.datasets import load_wine
from clusterforests import ClusterForest, HartiganWongKMeans
X = load_wine().data
kept = ClusterForest(3, n_estimators=20, random_state=0).fit(X), HartiganWongKMeans(3).fit(X)
for model in kept:
    model.predict(X)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "leak" not in done.stderr


def test_includes_point_one_way():
    """Of the rooms only; simd/kernels.cpp builds the kernels of all of them."""
    rooms = ["runtime", "simd", "rows", "kmeans", "consensus", "bindings"]
    root = next(folder for folder in Path(__file__).parents if (folder / "CMakeLists.txt").is_file()) / "core"
    sources = [path for path in root.rglob("*.[ch]pp") if path != root / "simd/kernels.cpp"]
    assert sources
    for path in sources:
        for included in re.findall(r'#include "(\w+)/', path.read_text()):
            assert rooms.index(included) <= rooms.index(path.parent.name), path
