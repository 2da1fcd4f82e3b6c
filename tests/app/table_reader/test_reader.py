"""TableReader as a transformer: frames of every library, typed columns, scikit-learn's conventions."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterforests import TableReader

pytestmark = pytest.mark.filterwarnings("ignore:Column .* is dropped")
DAYS = [datetime.date(2021, 3, 4 + j) for j in range(4)]
COLUMNS = {
    "price": ["5,50 €", None, "7,25 €", "1.250,00 €"],
    "size": [1.5, 2.5, None, 4.0],
    "count": [7, 5, 9, 7],
    "town": ["Ulm", "Bonn", "", "Ulm"],
    "mood": ["low", "high", "medium", "low"],
    "paid": [True, False, None, True],
    "member": ["yes", "no", "no", "yes"],
    "when": DAYS,
    "same": ["x"] * 4,
}
TYPES = {
    "price": "float64",
    "size": "float64",
    "count": "float64",
    "town": pd.CategoricalDtype(["Bonn", "Ulm"]),
    "mood": pd.CategoricalDtype(["low", "medium", "high"], ordered=True),
    "paid": "boolean",
    "member": pd.CategoricalDtype(["no", "yes"]),
    "when": "datetime64[us]",
}


@parametrize_with_checks([TableReader()], expected_failed_checks=lambda reader: {})
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "batch"])
def test_columns_have_types(kind):
    arrow = pa.table(COLUMNS)
    frames = {"pandas": pd.DataFrame(COLUMNS), "polars": pl.DataFrame(COLUMNS, strict=False), "arrow": arrow}
    frame = frames.get(kind, arrow.to_batches()[0])
    reader = TableReader()
    found = reader.fit_transform(frame)
    expected = pd.DataFrame(
        {
            "price": [5.5, np.nan, 7.25, 1250.0],
            "size": COLUMNS["size"],
            "count": COLUMNS["count"],
            "town": ["Ulm", "Bonn", None, "Ulm"],
            "mood": COLUMNS["mood"],
            "paid": pd.array(COLUMNS["paid"], dtype="boolean"),
            "member": COLUMNS["member"],
            "when": pd.to_datetime(DAYS),
        }
    ).astype(TYPES)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(reader.transform(frame), expected)
    assert list(reader.get_feature_names_out()) == list(TYPES)
    assert list(reader.feature_names_in_) == list(COLUMNS)
    assert list(reader.dropped_columns_) == ["same"]
    assert any("'same'" in note for note in reader.notes_)
    assert [reading.feature for reading in reader.columns_] == [*range(8), -1]
    # Typed columns are read as they are.
    pd.testing.assert_frame_equal(TableReader().fit_transform(found), expected)


def test_typed_columns_of_every_library():
    days = [datetime.datetime(2021, 3, 4, 12), None, datetime.datetime(2021, 3, 5, 18)]
    words = ["low", None, "high"]
    spans = [datetime.timedelta(hours=12), None, datetime.timedelta(hours=6)]
    columns = {"when": days, "span": spans, "n": [decimal.Decimal(n) for n in ("0.5", "1.0", "2.0")]}
    for frame in (
        pd.DataFrame(columns | {"word": pd.Categorical(words)}),
        pd.DataFrame(columns | {"word": words}).assign(when=pd.to_datetime(days).tz_localize("UTC")),
        pl.DataFrame({**columns, "word": pl.Series(words, dtype=pl.Categorical)}, strict=False),
        pl.DataFrame({**columns, "word": pl.Series(words, dtype=pl.Enum(["low", "high"]))}, strict=False),
        pa.table(columns | {"word": pa.array(words).dictionary_encode()}),
    ):
        found = TableReader({"word": "category", "span": "number"}).fit_transform(frame)
        assert found["when"].dropna().tolist() == [pd.Timestamp(day) for day in days if day]
        assert found["span"].dropna().tolist() == [0.5, 0.25]
        assert found["n"].tolist() == [0.5, 1, 2]
        assert found["word"].cat.categories.tolist() == ["high", "low"]


def test_rows_of_text():
    rows = [["5 kg", "Ulm"], ["7.5 kg", "Bonn"], ["", "Ulm"]]
    for X in (rows, np.array(rows), np.array(rows, dtype=object)):
        reader = TableReader()
        found = reader.fit_transform(X)
        assert list(reader.get_feature_names_out()) == ["x0", "x1"]
        assert not hasattr(reader, "feature_names_in_")
        np.testing.assert_equal(found["x0"].tolist(), [5, 7.5, np.nan])
        pd.testing.assert_frame_equal(reader.transform(X), found)


def test_columns_are_found_by_their_names():
    frame = pd.DataFrame(COLUMNS, index=list("abcd"))
    reader = TableReader().fit(frame)
    before = frame.copy()
    turned = reader.transform(frame[reversed(TYPES)].assign(more=1))
    pd.testing.assert_frame_equal(turned, reader.transform(frame))
    pd.testing.assert_frame_equal(frame, before)
    assert list(turned.index) == list("abcd")
    with pytest.raises(ValueError, match="no column 'price', nor 1 others"):
        reader.transform(frame.drop(columns=["price", "size"]))


def test_output_of_other_libraries():
    reader = clone(TableReader(missing=["x"])).set_output(transform="polars")
    found = reader.fit_transform(pd.DataFrame(COLUMNS)[["price", "town"]])
    assert isinstance(found, pl.DataFrame)
    assert found["price"].to_list() == [5.5, None, 7.25, 1250.0]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [[1], [2]]}), TypeError, r"Column 'b' holds \[1\] in row 0"),
        (pd.DataFrame({"a": [1j, 2]}), ValueError, "Column 'a': Complex"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), ValueError, "several columns 'a'"),
        (pd.DataFrame({"a": [1, 1], "b": [None, None]}), ValueError, "'a' is constant .*'b' is empty"),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pl.LazyFrame({"a": [1]}), TypeError, r"X\.collect\(\)"),
        (np.arange(3.0), ValueError, "Expected 2D array"),
        (pd.DataFrame({"a": [10**400, "x"]}, dtype=object), ValueError, "Column 'a'"),
    ],
)
def test_what_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        TableReader().fit(X)


def test_a_reader_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        TableReader().transform(pd.DataFrame(COLUMNS))


def test_without_pandas_all_names_are_there_and_say_what_to_install():
    code = "import sys; sys.modules['pandas'] = None; from clusterforests import *; ClusterForest(); TableReader()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: TableReader needs pandas" in run.stderr
