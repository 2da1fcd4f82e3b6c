"""Messy files of many kinds: the kind of each column, and each number, are what a careful analyst finds by hand."""

import numpy as np
import pandas as pd
import pytest
from customers import KINDS, write_customers
from files_business import FILES as BUSINESS
from files_exports import FILES as EXPORTS
from files_science import FILES as SCIENCE

from clusterforests import TableReader
from clusterforests.app.cluster_table import prepare_table, read_columns

FILES = {make.__name__: make() for make in (*BUSINESS, *SCIENCE, *EXPORTS)}


def read_typed(path):
    """Return how the columns of a file were read, and the typed columns."""
    rows, reader = prepare_table(path)
    typed = read_columns(rows, reader, fit=True)
    return reader.columns_, typed


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Read every file once."""
    folder = tmp_path_factory.mktemp("messy")
    return {name: read_typed(file.write(folder)) for name, file in FILES.items()}


def as_numbers(cells):
    """Take dates as days since 1970, and levels in order as ranks."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return cells.cat.codes.where(cells.notna())
    if cells.dtype.kind == "M":
        return (cells - pd.Timestamp(0)) / pd.Timedelta(days=1)
    return cells.astype(float)


def test_kinds_are_those_that_an_analyst_finds(read, capsys):
    wrong = [
        f"{name}, {column.name}: {reading.kind} ({reading.reason}), expected {column.kind}"
        for name, file in FILES.items()
        for column, reading in zip(file.columns, read[name][0], strict=True)
        if reading.kind not in column.kind.split("|")
    ]
    total = sum(len(file.columns) for file in FILES.values())
    with capsys.disabled():
        print(f"\n{total - len(wrong)} of {total} columns are of the expected kind ({1 - len(wrong) / total:.1%})")
    assert len(wrong) <= 0.05 * total, "\n".join(wrong)


@pytest.mark.parametrize("name", FILES)
def test_no_identifier_is_clustered_on_and_no_column_lost(read, name):
    for column, reading in zip(FILES[name].columns, read[name][0], strict=True):
        expected = column.kind.split("|")
        left_out = {"identifier", "free text", "constant", "running number", "empty"}
        if left_out.issuperset(expected):
            assert not reading.used, column.name
        elif left_out.isdisjoint(expected):
            assert reading.used, column.name


@pytest.mark.parametrize("name", FILES)
def test_no_number_is_misread(read, name):
    typed = read[name][1]
    for column in FILES[name].columns:
        if column.values is not None:
            found = as_numbers(typed[column.name]).to_numpy(float)
            np.testing.assert_allclose(found, column.values, rtol=1e-12, atol=1e-12, err_msg=column.name)
        elif column.kind in ("category", "yes/no"):
            known = [None if cell in ("", "NA") else cell for cell in column.cells]
            cells = typed[column.name].astype(object)
            assert cells.where(cells.notna(), None).tolist() == known, column.name


@pytest.mark.parametrize("name", FILES)
def test_a_frame_of_the_same_texts_is_read_alike(read, name):
    """Whatever a program made of the cells before: text is text."""
    frame = pd.DataFrame({column.name: column.cells for column in FILES[name].columns}).replace("", None)
    columns, problems = TableReader().inspect(frame)
    assert not problems
    assert [(r.name, r.kind) for r in columns] == [(r.name, r.kind) for r in read[name][0]]


def test_customers(tmp_path):
    segments = write_customers(tmp_path / "customers.csv", 1500)
    columns, typed = read_typed(tmp_path / "customers.csv")
    assert {reading.name: reading.kind for reading in columns} == KINDS
    assert typed.shape == (len(segments), 13)
