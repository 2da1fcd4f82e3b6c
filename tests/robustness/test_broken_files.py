"""Files that are not what they should be: one sentence, exit code 1, no traceback, and the file is left as it was."""

import gzip
import io
import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from clusterforests.app.command_line.program import main
from clusterforests.app.files import opening

GOOD = b"a,b\n" + b"".join(b"%d,%d\n" % (i % 7, 10 * (i % 2)) for i in range(40))


def packed(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def parquet(columns):
    return packed(lambda out: pyarrow.parquet.write_table(pa.table(columns), out))


def arrow(columns):
    def write(out):
        table = pa.table(columns)
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)

    return packed(write)


def workbook(out):
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")


NUMBERS = {"a": [1.0, 2.0], "b": [3.0, 4.0]}

# name of the file: contents, what the sentence says, further options
BROKEN = {
    "short-row.csv": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "line 3 has 2 cells but the line of names has 3"),
    "row-names.csv": (b"a,b\nr1,1,2\nr2,3,4\n", "give it a name too"),
    "mixed.csv": (b"a,b\n1,2\n2,oops\n3,4\n", "line 3, column 'b': 'oops' is not a number"),
    "underscore.csv": (b"a,b\n1,2\n2,1_000\n3,4\n", "'1_000' is not a number"),
    "empty.csv": (b"", "is empty"),
    "latin-1.csv": ("größe,b\n1,2\n".encode("latin-1"), "line 1 has the byte 0xF6, which is not UTF-8"),
    "utf-16.csv": ("a,b\n1,2\n".encode("utf-16"), "is encoded as UTF-16. Pass --encoding utf-16"),
    "utf-16-le.csv": ("größe,b\n1,2\n".encode("utf-16-le"), "line 1 has a zero byte"),
    "wrong-encoding.csv": (b"a,b\n1,\xff\n", "not in the encoding ascii", "--encoding", "ascii"),
    "unknown-encoding.csv": (b"a,b\n1,2\n", "--encoding klingon is unknown", "--encoding", "klingon"),
    "nul.csv": (b"a,b\n1,2\n3,\x00\n", "line 3 has a zero byte"),
    "long-line.csv": (b"a,b\n1," + b"9" * 10_000_000 + b"\n", "line 2: a cell has more than 131072 characters"),
    "wide-line.csv": (b"a,b\n" + b"1," * 5_000_000 + b"\n", "line 2 has 5000001 cells"),
    "duplicate.csv": (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called 'a'"),
    "nameless.csv": (b"a,,c\n1,2,3\n", "column 2 has no name"),
    "only-header.csv": (b"a,b\n", "has column names but no rows"),
    "no-header.csv": (b"1,2\n3,4\n", "line 1 holds only numbers"),
    "thousands.csv": (b'a,b\n1,"1,234"\n2,"5,678"\n', "column 'b': its numbers are like '1,234', which may be"),
    "point-among-commas.csv": (
        b"a;b\n" + b"1,5;2\n" * 5000 + b"1.5;2\n",
        "line 5002, column 'a': some numbers have a decimal point and others a decimal comma",
    ),
    "huge-integers.csv": (b"a,b\n1,12345678901234567890\n2,3\n3,4\n", "line 2, column 'b': '12345678901234567890' is"),
    "overflow.csv": (b"a,b\n1,2\n3,1e999\n", "line 3, column 'b': '1e999' is not a number"),
    "open-quote.csv": (b'a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote is opened but never closed"),
    "after-quote.csv": (b'a,b\n1,"2"x\n', "line 2: text follows a closing quote"),
    "empty-row.csv": (b"a,b\n1,2\n,NA\n3,4\n", "line 3 has no value in any column"),
    "empty-columns.csv": (b"a,b\n-,\n-,NA\n", "has no column to cluster by: 'a' is empty (it has no values); 'b' is"),
    "identifiers.csv": (
        b"name,b\n" + b"".join(b"row%d,%d\n" % (i, i) for i in range(50)),
        "no column to cluster by: 'name' is identifier (every row has its own text); 'b' is running number",
    ),
    "too-few.csv": (b"a,b\n1,2\n3,4\n", "--clusters 9 is more than the number of rows", "--clusters", "9"),
    "wrong-id.csv": (GOOD, "has no column 'sample'. Its columns are 'a', 'b'", "--id", "sample"),
    "nothing-left.csv": (GOOD, "has no column to cluster by", "--ignore", "a", "b"),
    "workbook.csv": (packed(workbook), "is a zip file, such as an Excel workbook"),
    "packed.csv.gz": (gzip.compress(GOOD)[:-9], "is compressed (gzip) but damaged or cut short"),
    "packed.csv.zst": (pa.compress(GOOD, "zstd", asbytes=True)[:-9], "is compressed (zstd) but damaged or cut short"),
    "not-a-book.xlsx": (packed(workbook), "is not a complete workbook"),
    "two.jsonl": (b'{"a": 1}\n{"a": 2', "line 2 is not JSON"),
    "text.h5ad": (GOOD, "is not a complete .h5ad file"),
    "parquet.csv": (parquet(NUMBERS), "is a Parquet file. Pass --format parquet"),
    "page.pdf": (b"%PDF-1.4\n", "is a PDF"),
    "text.parquet": (GOOD, "is not a complete parquet file"),
    "times.parquet": (parquet({"d": pa.array([1, 2, 3], pa.time32("s"))}), "column 'd': it holds time32[ms], neither"),
    "lists.parquet": (parquet({"x": [[1], [2, 3]]}), "column 'x': it holds list<"),
    "no-rows.parquet": (parquet({"x": pa.array([], pa.float64())}), "has columns but no rows"),
    "infinite.parquet": (parquet({"x": [1.0, np.inf]}), "contains infinity in row 2, column 'x'"),
    "cut.arrow": (arrow(NUMBERS)[:-30], "is not a complete arrow file"),
    "cut.npy": (packed(lambda out: np.save(out, np.ones((9, 9))))[:-9], "is not a complete .npy file"),
    "objects.npy": (packed(lambda out: np.save(out, np.array([[{}]]), allow_pickle=True)), "holds Python objects"),
    "vector.npy": (packed(lambda out: np.save(out, np.ones(9))), "an array of float64 with shape (9,)"),
    "several.npy": (packed(lambda out: np.savez(out, np.ones(9))), "holds several arrays"),
    "infinite.npy": (packed(lambda out: np.save(out, np.array([[1.0], [np.inf]]))), "infinity in row 2, column 1."),
}


def run(capsys, *arguments):
    """Exit code and the one sentence on stderr."""
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    err = "".join(line for line in err.splitlines(keepends=True) if ": note: " not in line)
    assert len(err.splitlines()) == 1, err
    assert err.startswith(f"clusterforests {arguments[0]}: ")
    assert len(err) < 500
    return status, err


def listing(folder):
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir()}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file(tmp_path, capsys, name):
    contents, sentence, *options = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(contents)
    before = listing(tmp_path)
    options = options if "--clusters" in options else [*options, "--clusters", "2"]
    out = [item for option in ("out", "model") for item in (f"--{option}", tmp_path / f"{option}.txt")]
    status, err = run(capsys, "fit", path, *options, *out)
    assert status == 1
    assert sentence in err
    assert name in err or "--encoding" in err
    assert listing(tmp_path) == before
    assert path.read_bytes() == contents


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_bytes(GOOD)
    return path


def test_a_folder_and_a_file_that_is_not_there(tmp_path, capsys):
    status, err = run(capsys, "fit", tmp_path)
    assert (status, "is a folder" in err) == (1, True)
    status, err = run(capsys, "fit", tmp_path / "none.csv")
    assert (status, "none.csv: No such file or directory. Check the name." in err) == (1, True)


@contextmanager
def as_nobody():
    """Root may do everything: be someone else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_no_permission(capsys):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        secret, data = folder / "secret.csv", folder / "data.csv"
        secret.write_bytes(GOOD)
        data.write_bytes(GOOD)
        secret.chmod(0)
        data.chmod(0o644)
        folder.chmod(0o555)
        try:
            with as_nobody():
                unreadable = run(capsys, "fit", secret)
                unwritable = run(capsys, "fit", data, "--clusters", "2", "--out", folder / "labels.csv")
        finally:
            folder.chmod(0o755)
        assert unreadable[0] == unwritable[0] == 1
        assert "secret.csv: Permission denied. Check its permissions." in unreadable[1]
        assert "no permission to write to the folder" in unwritable[1]
        assert sorted(os.listdir(folder)) == ["data.csv", "secret.csv"]


@pytest.mark.parametrize("option", ["--out", "--model"])
def test_disk_full(good, capsys, option):
    status, err = run(capsys, "fit", good, "--clusters", "2", "--trees", "5", option, "/dev/full")
    assert status == 1
    assert "/dev/full: No space left on device. Free some space" in err


@pytest.mark.parametrize("option", ["--out", "--model"])
def test_a_disk_that_fills_up_half_way_leaves_the_old_files(good, tmp_path, capsys, option):
    target = tmp_path / "result"
    target.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        status, err = run(capsys, "fit", good, "--clusters", "2", "--trees", "5", option, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 1
    assert f"{target}: File too large." in err
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["good.csv", "result"]


def test_output_that_is_the_input_or_has_no_place(good, tmp_path, capsys):
    link = tmp_path / "link.csv"
    link.symlink_to(good)
    for target, sentence in (
        (good, "is the same file as DATA"),
        (link, "is the same file as DATA"),
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "labels.csv", "there is no folder"),
    ):
        status, err = run(capsys, "fit", good, "--out", target)
        assert status == 1
        assert sentence in err
    status, err = run(capsys, "fit", good, "--out", tmp_path / "x", "--model", tmp_path / "x")
    assert (status, "is the same file as --out" in err) == (1, True)
    assert good.read_bytes() == GOOD


def test_redirected_files_are_not_overwritten(good, tmp_path):
    """Standard input and output may be files too."""
    program = [sys.executable, "-m", "clusterforests"]
    model = tmp_path / "model.cf"
    assert main(["fit", str(good), "--clusters", "2", "--trees", "5", "--model", str(model), "--quiet"]) == 0
    with good.open("rb") as reading, good.open("ab") as appending:
        for arguments, streams, sentence in (
            (["fit", "-", "--clusters", "2", "--out", good], {"stdin": reading}, "is the same file as DATA"),
            (["predict", model, good], {"stdout": appending}, "standard output is the same file as DATA"),
        ):
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
            done = subprocess.run([*program, *arguments], **streams, text=True, check=False)
            assert (done.returncode, sentence in done.stderr) == (1, True), done.stderr
    assert good.read_bytes() == GOOD


def test_without_pyarrow(tmp_path, capsys, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet(NUMBERS))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, err = run(capsys, "fit", path)
    assert (status, "needs pyarrow (pip install clusterforests[app])" in err) == (1, True)


def test_a_file_that_does_not_fit_into_memory(good, capsys, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(opening, "read_text", full)
    status, err = run(capsys, "fit", good)
    assert (status, "good.csv does not fit into the memory that is left. Leave columns out" in err) == (1, True)


def test_broken_models(good, tmp_path, capsys):
    model = tmp_path / "model.cf"
    assert main(["fit", str(good), "--clusters", "2", "--trees", "5", "--model", str(model), "--quiet"]) == 0
    status, err = run(capsys, "predict", good, good)
    assert (status, "good.csv is not a clusterforests model" in err) == (1, True)
    whole = model.read_bytes()
    model.write_bytes(whole[:-5])
    status, err = run(capsys, "predict", model, good)
    assert (status, "model.cf is damaged" in err) == (1, True)
    model.write_bytes(whole)
    other = tmp_path / "other.csv"
    other.write_bytes(b"a,c\n1,2\n")
    status, err = run(capsys, "predict", model, other)
    assert (status, "has no column 'b', which the model was fitted on" in err) == (1, True)
    other.write_bytes(b"a,b\n1,x\n")
    status, err = run(capsys, "predict", model, other)
    assert (status, "line 2, column 'b': 'x' is not a number" in err) == (1, True)
