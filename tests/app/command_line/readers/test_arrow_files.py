"""Arrow files of all kinds."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from clusterforests.app.command_line.problems import FileProblems
from clusterforests.app.files import Request, read_table


def test_streams_of_arrow_and_types(tmp_path):
    table = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int64()),
            "b": [True, False, None],
            "d": pa.array(["p", "q", None]).dictionary_encode(),
            "s": pa.array(["u", None, "w"], pa.large_string()),
        }
    )
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    read_back = read_table(str(tmp_path / "t.arrow"), Request()).table
    assert np.array_equal(read_back.cells[0], [1, np.nan, 3], equal_nan=True)
    assert np.array_equal(read_back.cells[1], [1, 0, np.nan], equal_nan=True)
    assert read_back.cells[2].cells().tolist() == ["p", "q", None]
    assert read_back.cells[3].cells().tolist() == ["u", None, "w"]


@pytest.fixture(params=["t.parquet", "t.arrow"])
def nested(request, tmp_path):
    """Write columns that are no cells between others, one of which asks a question too."""
    table = pa.table(
        {
            "a": [1.0 * i for i in range(9)],
            "tags": [[i] for i in range(9)],
            "geo": [{"lat": i} for i in range(9)],
            "raw": [b"\x00\x01" for _ in range(9)],
            "far": [np.inf, *(1.0 * i for i in range(8))],
            "p": [f"{i + 1},{100 + i}" for i in range(9)],
        }
    )
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)
    return str(path)


def columns_refused(path, request):
    with pytest.raises(FileProblems) as caught:
        read_table(path, request)
    return [problem.problem.column for problem in caught.value.problems]


def test_columns_that_are_no_cells_are_listed_at_once(nested):
    everything = ["tags", "geo", "raw", "far", "p"]
    assert columns_refused(nested, Request()) == everything
    found = read_table(nested, Request(only_inspect=True))
    assert [problem.problem.column for problem in found.problems] == everything
    assert read_table(nested, Request(ignore=everything)).table.columns == ["a"]
    assert columns_refused(nested, Request(wanted=["a", "geo", "tags"])) == ["tags", "geo"]
    for use in ("id", "label", "known"):
        assert columns_refused(nested, Request(**{use: "tags"}, ignore=everything[1:])) == ["tags"]
        assert columns_refused(nested, Request(**{use: "geo"}, ignore=["raw", "far", "p"])) == ["tags", "geo"]
    assert columns_refused(nested, Request(categories=["geo"], ignore=["tags", "raw", "far", "p"])) == ["geo"]
    assert columns_refused(nested, Request(ignore=["a", "p"])) == everything[:-1]


def test_a_column_that_is_no_cells_is_named_with_its_type(nested):
    with pytest.raises(FileProblems, match=r"'tags': it holds list<.*int64>, neither numbers nor text.*--ignore"):
        read_table(nested, Request(ignore=["geo", "raw", "far", "p"]))
    with pytest.raises(FileProblems, match="column 'far': row 1 is infinite"):
        read_table(nested, Request(ignore=["geo", "raw", "tags", "p"]))
