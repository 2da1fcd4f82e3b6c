"""Tables of every kind as numbers."""

import datetime
import decimal
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

from clusterforests.table.encoding import MAX_LEVELS, UnseenLevels, encode
from clusterforests.table.frames import CategoryColumn, ColumnTable

NAN = np.nan


def encoded(X):
    return encode(BaseEstimator(), X)[0]


def values(X):
    return encoded(X).values


def same(a, b):
    return a.shape == np.shape(b) and np.array_equal(a, np.asarray(b, dtype=float), equal_nan=True)


def test_a_plain_array_is_taken_as_it_is():
    X = np.arange(6.0).reshape(3, 2)
    estimator = BaseEstimator()
    estimator.feature_names_in_ = ["old"]
    found, encoding = encode(estimator, X)
    assert found.values is X
    assert list(found.first) == [0, 1]
    assert list(found.widths) == [1, 1]
    assert not found.categorical.any()
    assert estimator.n_features_in_ == 2
    assert not hasattr(estimator, "feature_names_in_")
    assert encoding.apply(estimator, X).values is X


@pytest.mark.parametrize(
    "X",
    [
        [[1, 0.5], [NAN, 1]],
        [[1, 0.5], [None, True]],
        np.array([[1, 0.5], [None, 1]], dtype=object),
        np.array([[1, decimal.Decimal("0.5")], [pd.NA, np.float32(1)]], dtype=object),
        np.asfortranarray([[1, 0.5], [NAN, 1]]).astype(np.float32),
    ],
)
def test_numbers(X):
    found = encoded(X)
    assert same(found.values, [[1, 0.5], [NAN, 1]])
    assert found.values.dtype == np.float64
    assert found.values.flags.c_contiguous
    assert not found.categorical.any()


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1, None, 0], "b": [0.5, 1, 2]}),
        pd.DataFrame({"a": pd.array([1, None, 0], dtype="Int64"), "b": pd.array([0.5, 1, 2], dtype="Float64")}),
        pd.DataFrame(
            {"a": pd.array([True, None, False], dtype="boolean"), "b": pd.array([0.5, 1, 2], dtype="float[pyarrow]")}
        ),
        pd.DataFrame({"a": pd.Series([1, pd.NA, 0], dtype=object), "b": pd.arrays.SparseArray([0.5, 1.0, 2.0])}),
        pl.DataFrame({"a": [1, None, 0], "b": [0.5, 1, 2]}),
        pl.DataFrame({"a": [True, None, False], "b": list(map(decimal.Decimal, ("0.5", "1.0", "2")))}),
    ],
)
def test_numbers_of_frames(X):
    found = encoded(X)
    assert same(found.values, [[1, 0.5], [NAN, 1], [0, 2]])
    assert found.values.dtype == np.float64
    assert found.values.flags.c_contiguous
    assert not found.categorical.any()


COLOURS = ["red", "blue", None, "green", "red"]
INDICATORS = [[0, 0, 1], [1, 0, 0], [NAN] * 3, [0, 1, 0], [0, 0, 1]]  # blue, green, red


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(COLOURS, categories=["yellow", "red", "green", "blue"]),
        pl.Series(COLOURS, dtype=pl.Categorical),
        pl.Series(COLOURS, dtype=pl.Enum(["yellow", "red", "green", "blue"])),
        pa.array(COLOURS).dictionary_encode(),
        CategoryColumn(np.array([1, 2, -1, 3, 1], np.int32), ("yellow", "red", "blue", "green")),
    ],
    ids=lambda column: type(column).__module__,
)
def test_categories(column):
    """Levels in sorted order whatever the kind of column; a level that does not occur has no column."""
    numbers = np.arange(5.0)
    columns = {"a": numbers, "colour": column, "b": numbers}
    if isinstance(column, CategoryColumn):
        X = ColumnTable(list(columns), list(columns.values()))
    else:
        frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
        X = frames[type(column).__module__.split(".")[0]](columns)
    found = encoded(X)
    assert same(found.values, np.column_stack([np.arange(5.0), INDICATORS, np.arange(5.0)]))
    assert list(found.first) == [0, 1, 4]
    assert list(found.widths) == [1, 3, 1]
    assert list(found.categorical) == [False, True, False]


def category(*cells, **settings):
    return pd.Categorical(cells, **settings)


def test_two_levels_are_one_column_and_so_is_one():
    found = encoded(pd.DataFrame({"a": category("no", "yes", None, "no"), "b": [1, 2, 3, 4]}))
    assert same(found.values, [[0, 1], [1, 2], [NAN, 3], [0, 4]])
    assert list(found.categorical) == [True, False]
    assert same(values(pd.DataFrame({"a": category("x", None, "x"), "b": [1, 2, 3]})), [[0, 1], [NAN, 2], [0, 3]])


def test_levels_need_not_be_text():
    X = pd.DataFrame({"a": pd.Categorical([10, 9, 2, None]), "b": range(4)})
    assert same(values(X)[:, :3], [[0, 0, 1], [0, 1, 0], [1, 0, 0], [NAN] * 3])
    X = pd.DataFrame({"a": pd.Categorical([10, "x", (1, 2)]), "b": range(3)})
    assert same(values(X)[:, :3], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_an_ordered_type_is_ranks():
    sizes = category("S", None, "L", "M", categories=["XS", "S", "M", "L"], ordered=True)
    estimator = BaseEstimator()
    X = pd.DataFrame({"size": sizes, "b": range(4)})
    found, encoding = encode(estimator, X)
    assert same(found.values[:, 0], [1, NAN, 3, 2])
    assert not found.categorical.any()
    # New rows are read by the names of their levels.
    new = X.assign(size=category("L", "XL", "S", None))
    with pytest.warns(UserWarning, match=r"1 cell .*'size' \('XL'\)"):
        assert same(encoding.apply(estimator, new).values[:, 0], [3, NAN, 1, NAN])
    arrow = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["low", "high"], ordered=True)
    assert same(values(pa.table({"a": arrow, "b": [1, 2, 3]}))[:, 0], [1, NAN, 0])


def test_names_and_number_of_features():
    estimator = BaseEstimator()
    encode(estimator, pd.DataFrame({"a": [1, 2], "b": category("x", "y")}))
    assert list(estimator.feature_names_in_) == ["a", "b"]
    encode(estimator, pl.DataFrame({"c": [True, False]}))
    assert list(estimator.feature_names_in_) == ["c"]
    assert estimator.n_features_in_ == 1
    encode(estimator, [[1, 2, 3], [NAN, 5, 6]])
    assert estimator.n_features_in_ == 3
    assert not hasattr(estimator, "feature_names_in_")


def test_new_rows():
    estimator = BaseEstimator()
    X = pd.DataFrame({"a": [1.0, 2, 3], "colour": category("red", "blue", "green"), "yes": [True, False, True]})
    found, encoding = encode(estimator, X)
    new = X.iloc[[2, 0]].assign(colour=category("green", None))
    again = encoding.apply(estimator, new)
    assert same(again.values[0], found.values[2])
    assert same(again.values[1], [1, NAN, NAN, NAN, 1])
    assert list(again.first) == list(found.first)
    assert same(encoding.apply(estimator, X.assign(colour=[None] * 3)).values[:, 1:4], [[NAN] * 3] * 3)
    with pytest.warns(UserWarning, match=r"2 cells have .* not seen in fit: column 'colour' \('Pink', 'grey'\). They"):
        again = encoding.apply(estimator, X.assign(colour=category("Pink", "red", "grey")))
    assert same(again.values[:, 1:4], [[NAN] * 3, [0, 0, 1], [NAN] * 3])
    with pytest.raises(ValueError, match="feature names"):
        encoding.apply(estimator, X.rename(columns={"a": "A"}))
    with pytest.raises(ValueError, match="3 features"), pytest.warns(UserWarning, match="feature names"):
        encoding.apply(estimator, X[["a", "yes"]].to_numpy(dtype=float))


@pytest.mark.parametrize(
    ("name", "cells", "message"),
    [
        ("a", category("x", "y", "x"), "Column 'a' must hold numbers, as in fit, not categories"),
        ("a", pd.to_datetime(["2021-03-04"] * 3), "Column 'a' must hold numbers, as in fit, not dates"),
        ("colour", [1.0, 2.0, 3.0], "Column 'colour' must hold categories, as in fit, not numbers"),
        ("day", [1.0, 2.0, 3.0], "Column 'day' must hold dates, as in fit, not numbers"),
        ("colour", ["red", "blue", "red"], "1 column.s. of text: column 'colour'"),
    ],
)
def test_new_rows_of_another_kind_are_refused(name, cells, message):
    estimator = BaseEstimator()
    days = pd.to_datetime(["2021-03-04", None, "2021-03-07"])
    X = pd.DataFrame({"a": [1.0, 2, 3], "colour": category("red", "blue", "green"), "day": days})
    _, encoding = encode(estimator, X)
    with pytest.raises(ValueError, match=message):
        encoding.apply(estimator, X.assign(**{name: cells}))


def test_unseen_levels_of_all_blocks_are_told_of_once():
    unseen = UnseenLevels()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unseen.add("column 'a'", [])
        unseen.warn()
    unseen.add("column 'a'", ["x", "y", "z", "y", "w"])
    unseen.add("column 'b'", [3])
    for name in "cd":
        unseen.add(f"column {name!r}", ["q"])
    with pytest.warns(
        UserWarning, match=r"8 cells .* column 'a' \('y' 2 times, 'w', 'x', \.\.\.\), column 'b' \(3\), .* 1 more"
    ):
        unseen.warn()


def test_new_rows_without_categories():
    estimator = BaseEstimator()
    _, encoding = encode(estimator, np.arange(6.0).reshape(3, 2))
    assert same(encoding.apply(estimator, [[1, None], [3, 4]]).values, [[1, NAN], [3, 4]])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert same(encoding.apply(estimator, pl.DataFrame({"a": [None], "b": [2]})).values, [[NAN, 2]])
    with pytest.raises(ValueError, match="the first is row 1"):
        encoding.apply(estimator, [[1, 2], [NAN, NAN]])


def test_order_of_rows_does_not_show():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": category(*rng.choice(["x", "y", "z", None], 50)),
            "b": rng.choice([1.0, NAN, 3.0], 50),
            "c": rng.normal(size=50),
        }
    )
    order = rng.permutation(50)
    assert same(values(X.iloc[order]), values(X)[order])


TIMES = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            pd.DataFrame({"a": ["x", "y"], "b": [1, 2], "c": ["u", None]}),
            ValueError,
            "text: column 'a', column 'c'.*TableReader",
        ),
        (pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}), ValueError, "text: column 'a'.*TableReader"),
        (pa.table({"a": ["x", "y"], "b": [1, 2]}), ValueError, "text: column 'a'.*TableReader"),
        (np.array([[1, "x"], [3, 4]], dtype=object), ValueError, "text: column 1.*TableReader"),
        (np.array([["1", "0.5"], ["nan", "1"]]), ValueError, "text: column 0, column 1.*TableReader"),
        (np.array([[TIMES[0], 1], [TIMES[1], 2]], dtype=object), ValueError, "X holds dates or times"),
        (
            pl.DataFrame({"When": [datetime.time(7), datetime.time(8)]}),
            ValueError,
            "'When' holds dates or times .*drop",
        ),
        (pd.DataFrame({"a": pd.period_range("2020", periods=2)}), TypeError, "Column 'a' holds Period.* in row 0"),
        (np.array(TIMES, dtype="M8[s]")[:, None], ValueError, "X holds dates or times"),
        (
            pd.DataFrame({"a": [1, 2], "b": [[1], [2]]}),
            TypeError,
            "Column 'b' holds .* in row 0: .* string or a number",
        ),
        (pl.DataFrame({"a": [1, 2], "b": [[1], [2]]}), TypeError, "Column 'b' holds .* in row 0"),
        (np.array([[1, 2], [3, {"x": 1}]], dtype=object), TypeError, "Column 1 holds {'x': 1} in row 1"),
        (np.array([[1, 2 + 1j]]), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j, 2]}), ValueError, "Column 'a': Complex data not supported"),
        ([[1, 2], [3, np.inf]], ValueError, "infinity in row 1, column 1"),
        ([[1, NAN], [3, -np.inf]], ValueError, "infinity in row 1, column 1"),
        (
            pd.DataFrame({"a": [1, 2], "b": category("x", "y"), "c": [1, np.inf]}),
            ValueError,
            "infinity in row 1, column 'c'",
        ),
        (np.array([[10**400, 1]], dtype=object), ValueError, "Column 0 must hold numbers.*too large"),
        ([[1, NAN], [3, NAN]], ValueError, "1 column.s. of X have no value at all, the first is column 1. Drop"),
        (pd.DataFrame({"B": [None, None]}), ValueError, "the first is column 'B'. Drop"),
        ([[1, 2], [NAN, NAN], [3, 4]], ValueError, "1 row.s. of X have no value at all, the first is row 1"),
        (pd.DataFrame({"a": [1, 2, None], "b": category("x", "y", None)}), ValueError, "the first is row 2"),
        (pd.DataFrame({"a": []}), ValueError, "0 sample.s. .shape=.0, 1.. while a minimum of 1"),
        (pd.DataFrame(index=[1, 2]), ValueError, "0 feature.s. .shape=.2, 0.. while a minimum of 1"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        (np.arange(3.0), ValueError, "Expected 2D array"),
        (pl.DataFrame({"a": [1, 2]}).lazy(), TypeError, r"X\.collect\(\)"),
    ],
)
def test_what_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        encoded(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dates_are_days(frame):
    times = [datetime.datetime(1970, 1, 3), datetime.datetime(1970, 1, 4, 12), None]
    found = values(frame({"when": times, "day": [datetime.date(1970, 1, 2), None, datetime.date(2000, 1, 1)]}))
    assert same(found, [[2, 1], [3.5, NAN], [NAN, 10957]])
    spans = frame({"span": [datetime.timedelta(days=2), datetime.timedelta(hours=12)], "b": [1, 2]})
    assert same(values(spans), [[2, 1], [0.5, 2]])


def test_no_column_is_dropped():
    frame = pd.DataFrame({"customer_id": range(50), "one": 1.0, "b": np.arange(50) % 7})
    assert same(values(frame), frame)


def test_too_many_levels_are_refused():
    many = pd.Categorical([str(i // 3) for i in range(3 * MAX_LEVELS + 3)])
    with pytest.raises(ValueError, match="'Town' has 1001 levels"):
        encoded(pd.DataFrame({"Town": many, "b": np.arange(len(many)) % 7}))


def test_frames_are_not_imported(monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.delitem(sys.modules, name)
    assert same(values([[1, 2], [None, 3]]), [[1, 2], [NAN, 3]])
    assert "pandas" not in sys.modules
    assert "polars" not in sys.modules


def test_no_warning_for_missing_cells_of_new_rows():
    estimator = BaseEstimator()
    X = pd.DataFrame({"a": category("x", "y", None), "b": [1, 2, 3]})
    found, encoding = encode(estimator, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(encoding.apply(estimator, X).values, found.values)
