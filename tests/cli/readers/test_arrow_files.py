"""Arrow files of all kinds."""

import numpy as np
import pyarrow as pa

from clusterforests.cli.readers import Request, read_table


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
