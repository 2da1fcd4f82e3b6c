"""Tables of every kind as numbers."""

import datetime
import decimal
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from clusterforests.table.encoding import MAX_LEVELS, encode

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
        np.array([["1", "0.5"], ["nan", "1"]]),
        np.array([["1", 0.5], [None, 1]], dtype=object),
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
        pd.Series(COLOURS),
        pd.Series(COLOURS, dtype=object),
        pd.Series(COLOURS, dtype="category"),
        pd.Series(COLOURS, dtype="string"),
        pd.Series(COLOURS, dtype="string[pyarrow]"),
        pl.Series(COLOURS),
        pl.Series(COLOURS, dtype=pl.Categorical),
        pl.Series(COLOURS, dtype=pl.Enum(["yellow", "red", "green", "blue"])),
        np.array(COLOURS, dtype=object),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}-{column.dtype}",
)
def test_categories(column):
    """Levels in sorted order whatever the kind of column; a level that does not occur has no column."""
    if isinstance(column, np.ndarray):
        X = np.column_stack([np.arange(5.0).astype(object), column, np.arange(5.0).astype(object)])
    else:
        frame = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
        X = frame({"a": np.arange(5.0), "colour": column, "b": np.arange(5.0)})
    found = encoded(X)
    assert same(found.values, np.column_stack([np.arange(5.0), INDICATORS, np.arange(5.0)]))
    assert list(found.first) == [0, 1, 4]
    assert list(found.widths) == [1, 3, 1]
    assert list(found.categorical) == [False, True, False]


def test_numbers_beside_text_in_a_frame_are_read_as_in_a_file():
    mixed = pd.Series([1.5, "n/a", 1.234, 3, None, "2.5"] * 3, dtype=object)
    with pytest.warns(UserWarning, match="'n/a' counts as missing"):
        found = values(pd.DataFrame({"a": mixed, "b": np.arange(18.0) ** 2}))
    assert same(found[:6, 0], [1.5, NAN, 1.234, 3, NAN, 2.5])
    assert list(encoded(pd.DataFrame({"a": ["x", 3, True] * 3, "b": np.arange(9.0)})).widths) == [3, 1]


def test_two_levels_are_one_column():
    found = encoded(pd.DataFrame({"a": ["no", "yes", None, "no"], "b": [1, 2, 3, 4]}))
    assert same(found.values, [[0, 1], [1, 2], [NAN, 3], [0, 4]])
    assert list(found.categorical) == [True, False]
    with pytest.warns(UserWarning, match="Column 'a' is left out: constant"):
        assert same(values(pd.DataFrame({"a": ["x", None, "x"], "b": [1, 2, 3]})), [[1], [2], [3]])


def test_levels_need_not_be_text():
    X = pd.DataFrame({"a": pd.Categorical([10, 9, 2, None]), "b": range(4)})
    assert same(values(X)[:, :3], [[0, 0, 1], [0, 1, 0], [1, 0, 0], [NAN] * 3])
    X = pd.DataFrame({"a": pd.Categorical([10, "x", (1, 2)]), "b": range(3)})
    assert same(values(X)[:, :3], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_text_of_a_frame_is_read_as_numbers_if_it_is_numbers_and_no_codes():
    columns = {"weight": ["10", "20", "30"] * 4, "zip": ["10", "20", "30"] * 4, "b": [0.5] * 6 + [1.5] * 6}
    assert list(encoded(pd.DataFrame(columns)).widths) == [1, 3, 1]


def test_an_ordered_type_is_ranks():
    sizes = pd.Categorical(["S", None, "L", "M"], categories=["S", "M", "L"], ordered=True)
    assert same(values(pd.DataFrame({"size": sizes, "b": range(4)}))[:, 0], [0, NAN, 2, 1])


def test_names_and_number_of_features():
    estimator = BaseEstimator()
    encode(estimator, pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert list(estimator.feature_names_in_) == ["a", "b"]
    encode(estimator, pl.DataFrame({"c": ["x", "y"]}))
    assert list(estimator.feature_names_in_) == ["c"]
    assert estimator.n_features_in_ == 1
    encode(estimator, [[1, 2, 3], [NAN, 5, 6]])
    assert estimator.n_features_in_ == 3
    assert not hasattr(estimator, "feature_names_in_")


def test_new_rows():
    estimator = BaseEstimator()
    X = pd.DataFrame({"a": [1.0, 2, 3], "colour": ["red", "blue", "green"], "yes": [True, False, True]})
    found, encoding = encode(estimator, X)
    new = X.iloc[[2, 0]].assign(colour=pd.Categorical(["green", None]))
    again = encoding.apply(estimator, new)
    assert same(again.values[0], found.values[2])
    assert same(again.values[1], [1, NAN, NAN, NAN, 1])
    assert list(again.first) == list(found.first)
    with pytest.warns(UserWarning, match=r"2 cells have .* not seen in fit: column 'colour' \('Pink', 'grey'\). They"):
        again = encoding.apply(estimator, X.assign(colour=["Pink", "red", "grey"]))
    assert same(again.values[:, 1:4], [[0] * 3, [0, 0, 1], [0] * 3])
    with pytest.raises(ValueError, match="feature names"):
        encoding.apply(estimator, X.rename(columns={"a": "A"}))
    with pytest.raises(ValueError, match="Column 'a', row 0: 'x' is not a number"):
        encoding.apply(estimator, X.assign(a=["x", "y", "z"]))
    with pytest.raises(ValueError, match="3 features"), pytest.warns(UserWarning, match="feature names"):
        encoding.apply(estimator, X[["a", "yes"]].to_numpy(dtype=float))


def test_an_unseen_level_is_as_far_from_one_of_two_levels_as_from_the_other():
    estimator = BaseEstimator()
    X = pd.DataFrame({"two": ["no", "yes", "no"], "also": ["u", "v", "v"]})
    _, encoding = encode(estimator, X)
    with pytest.warns(UserWarning, match=r"2 cells .* column 'two' \('perhaps'\), column 'also' \('y'\)"):
        again = encoding.apply(estimator, X.assign(two=["perhaps", None, "yes"], also=["y", "u", "u"]))
    assert same(again.values, [[0.5, 0.5], [NAN, 0], [1, 0]])


def test_new_rows_of_an_array_keep_the_kind_of_their_column():
    estimator = BaseEstimator()
    _, encoding = encode(estimator, np.array([["1a", "1"], ["b", "2"], ["c", "nan"]]))
    assert same(encoding.apply(estimator, np.array([["b", "7"]])).values, [[0, 1, 0, 7]])
    _, encoding = encode(estimator, pd.DataFrame({"a": pd.Categorical([1, 2, 3]), "b": [1, 2, 3]}).to_numpy())
    assert same(encoding.apply(estimator, [[2, 5]]).values, [[2, 5]])
    _, encoding = encode(estimator, pd.DataFrame({"a": pd.Categorical([1, 2, 3]), "b": [1, 2, 3]}))
    assert same(encoding.apply(estimator, pd.DataFrame({"a": [2.0], "b": [5]})).values, [[0, 1, 0, 5]])


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
        {"a": rng.choice(["x", "y", "z", None], 50), "b": rng.choice([1.0, NAN, 3.0], 50), "c": rng.normal(size=50)}
    )
    order = rng.permutation(50)
    assert same(values(X.iloc[order]), values(X)[order])


TIMES = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
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
        (np.array([[1, "x"], [3, 4]], dtype=object), ValueError, "Column 1 mixes text and numbers"),
        (np.array([[1, 2 + 1j]]), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j, 2]}), ValueError, "Column 'a': Complex data not supported"),
        ([[1, 2], [3, np.inf]], ValueError, "infinity in row 1, column 1"),
        ([[1, NAN], [3, -np.inf]], ValueError, "infinity in row 1, column 1"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [1, np.inf]}), ValueError, "infinity in row 1, column 'c'"),
        (np.array([[10**400, 1]], dtype=object), ValueError, "Column 0 must hold numbers.*too large"),
        ([[1, NAN], [3, NAN]], ValueError, "1 column.s. of X have no value at all, the first is column 1. Drop"),
        (pd.DataFrame({"B": [None, None]}), ValueError, "no column to cluster by: 'B' is empty"),
        ([[1, 2], [NAN, NAN], [3, 4]], ValueError, "1 row.s. of X have no value at all, the first is row 1"),
        (pd.DataFrame({"a": [1, 2, None], "b": ["x", "y", None]}), ValueError, "the first is row 2"),
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


def test_what_is_left_out_is_said():
    names = [f"row {i}" for i in range(50)]
    frame = pd.DataFrame({"Name": names, "nr": range(50), "b": np.arange(50) % 7, "none": [None] * 50})
    with pytest.warns(
        UserWarning, match="'Name' is left out: identifier .*'nr' is left out: running.*'none' is left out"
    ):
        found, encoding = encode(estimator := BaseEstimator(), frame)
    assert same(found.values[:, 0], frame["b"])
    assert found.values.shape[1] == 1
    assert encoding.used == (2,)
    assert encoding.spread(np.array([0.5]), 0.0).tolist() == [0, 0, 0.5, 0]
    assert [reading.used for reading in encoding.readings] == [False, False, True, False]
    with pytest.raises(ValueError, match=r"3 row.s. of X have no value at all, the first is row 4"):
        encoding.apply(estimator, frame.assign(b=[1.0] * 4 + [NAN] * 3 + [2.0] * 43))


def test_levels_of_categories():
    halves = [f"row {i // 2}" for i in range(50)]
    b = np.arange(50) % 7
    assert encoded(pd.DataFrame({"Town": halves, "b": b})).widths[0] == 25
    many = pd.Categorical([str(i // 3) for i in range(3 * MAX_LEVELS + 3)])
    with pytest.warns(UserWarning, match="'Town' is left out: identifier .1001 different texts in 3003 rows: too many"):
        encoded(pd.DataFrame({"Town": many, "b": np.arange(len(many)) % 7}))


def test_frames_are_not_imported(monkeypatch):
    for name in ("pandas", "polars"):
        monkeypatch.delitem(sys.modules, name)
    assert same(values([[1, "x"], [2, "y"], [None, "x"]]), [[1, 0], [2, 1], [NAN, 0]])
    assert "pandas" not in sys.modules
    assert "polars" not in sys.modules


def test_no_warning_for_missing_cells_of_new_rows():
    estimator = BaseEstimator()
    X = pd.DataFrame({"a": ["x", "y", None], "b": [1, 2, 3]})
    found, encoding = encode(estimator, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(encoding.apply(estimator, X).values, found.values)


@pytest.mark.parametrize(
    ("fitted", "levels"),
    [
        (["oak", 1.5, 2.5, 3, True], ("1.5", "2.5", "3", "True", "oak")),
        ([True, False], (False, True)),
        ([1, 0, 2], ("0", "1", "2")),
    ],
)
def test_a_level_is_the_same_alone_and_beside_others(fitted, levels):
    """New rows come in blocks, which may hold only numbers, only true and false, or any mixture with text."""
    estimator = BaseEstimator()
    estimator.columns = {"c": "category"}
    X = pd.DataFrame({"x": np.arange(10.0) ** 2 + 0.5, "c": pd.Series((fitted * 10)[:10], dtype=object)})
    found, encoding = encode(estimator, X)
    assert encoding.levels[1] == levels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in range(len(fitted)):
            alone = X.iloc[[row]]
            assert same(encoding.apply(estimator, alone).values, found.values[[row]])
            assert same(encoding.apply(estimator, alone.infer_objects()).values, found.values[[row]])
    with pytest.warns(UserWarning, match="'elm'"):
        beside = encoding.apply(estimator, pd.concat([X, X.iloc[:1].assign(c="elm")])).values
    assert same(beside[:-1], found.values)
