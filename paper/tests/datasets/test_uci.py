"""UC Irvine data: files on this machine, and downloads in the form of the originals."""

import hashlib
import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paper.datasets import UCI_NAMES, load_uci
from paper.datasets import uci as module

SHAPES = {  # rows, features, classes, as the paper's table of data sets has them
    "soybean": (47, 35, 4),
    "spect": (267, 22, 2),
    "imgseg": (2100, 19, 7),
    "heart": (270, 13, 2),
    "wine": (178, 13, 3),
    "wdbc": (569, 30, 2),
    "robot": (164, 90, 5),
    "madelon": (2000, 500, 2),
}

# Two rows each in the form of the originals, line ends included, and the rows they must become.
ORIGINALS = {
    "soybean": (["1" + ",0" * 34 + ",D1\n2" + ",3" * 34 + ",D2\n"], ["1" + ",0" * 34 + ",D1", "2" + ",3" * 34 + ",D2"]),
    "spect": (["1" + ",0" * 22, "0" + ",1" * 22 + "\r\n"], ["0," * 22 + "1", "1," * 22 + "0"]),
    "imgseg": (
        [
            ";;; -*- Mode:Common-Lisp; Base:10 -*-\n;;; a comment, with a comma\n\nA,B\n\n"
            "SKY,110.0,9" + ",0.25" * 17 + "\nPATH,1.0,9" + ",-1.5894573e-8" * 17 + "\n"
        ],
        ["110.0,9.0" + ",0.25" * 17 + ",SKY", "1.0,9.0" + ",-1.5894573e-08" * 17 + ",PATH"],
    ),
    "heart": (
        ["70.0 1.0" + " 2.4" * 11 + " 2\n67.0 0.0" + " 3.0" * 11 + " 1"],
        ["70.0,1.0" + ",2.4" * 11 + ",2", "67.0,0.0" + ",3.0" * 11 + ",1"],
    ),
    "robot": (
        ["normal\n" + "\t-2\t-1\t81\t0\t-5\t0\n" * 15 + "\n\nfailed\n" + "\t1\t2\t3\t4\t5\t6\n" * 15 + "\n"],
        ["-2,-1,81,0,-5,0," * 15 + "normal", "1,2,3,4,5,6," * 15 + "failed"],
    ),
    "madelon": (["485 " * 500 + "\n" + "477 " * 500 + "\n", "-1\n1\n"], ["485," * 500 + "-1", "477," * 500 + "1"]),
}


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    """A repository that holds what the test puts into it; no test reaches the network, or earlier downloads."""
    files = {}

    def urlopen(url, timeout):
        name = url.removeprefix(module.UCI_URL + "/")
        if name not in files:
            raise OSError("404")
        return io.BytesIO(files[name])

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr(module, "DOWNLOADS", tmp_path / "downloads")
    return files


@pytest.fixture
def nowhere(monkeypatch):
    monkeypatch.delenv("CLUSTERFORESTS_DATA", raising=False)


def small(name, repository, monkeypatch):
    """Let the two rows in ORIGINALS be the whole data set; return our table."""
    originals, rows = ORIGINALS[name]
    source = module.SOURCES[name]
    table = "\n".join([source.header + ",label", *rows]) + "\n"
    sha256 = hashlib.sha256(table.encode()).hexdigest()
    monkeypatch.setitem(module.SOURCES, name, replace(source, sha256=sha256))
    repository |= {file: text.encode() for file, text in zip(source.files, originals, strict=True)}
    return table


@pytest.mark.parametrize("name", UCI_NAMES)
def test_shapes_and_hashes(uci, name):
    data = uci(name)
    assert (*data.data.shape, len(set(data.target))) == SHAPES[name]
    assert len(data.feature_names) == data.data.shape[1]
    if name in module.SOURCES:  # what is on this machine is what a download must give
        path = Path(os.environ["CLUSTERFORESTS_DATA"]) / f"{name}.csv"
        assert hashlib.sha256(path.read_bytes()).hexdigest() == module.SOURCES[name].sha256


@pytest.mark.parametrize("name", ORIGINALS)
def test_download(name, repository, nowhere, monkeypatch):
    table = small(name, repository, monkeypatch)
    data = load_uci(name)
    assert (module.DOWNLOADS / f"{name}.csv").read_bytes() == table.encode()
    for row, label, line in zip(data.data, data.target, table.splitlines()[1:], strict=True):
        assert label == line.split(",")[-1]
        assert row.tolist() == [float(value) for value in line.split(",")[:-1]]
    repository.clear()  # from now on the earlier download answers
    assert np.array_equal(load_uci(name, download=False).data, data.data)


def test_every_download_has_a_small_original():
    assert set(ORIGINALS) == set(module.SOURCES) == set(UCI_NAMES) - {"wine", "wdbc"}


def test_a_damaged_download_is_replaced(repository, nowhere, monkeypatch):
    table = small("heart", repository, monkeypatch)
    module.DOWNLOADS.mkdir()
    (module.DOWNLOADS / "heart.csv").write_text(table[:-5])
    with pytest.raises(FileNotFoundError, match="download=False"):
        load_uci("heart", download=False)
    assert load_uci("heart").data.shape == (2, 13)
    assert (module.DOWNLOADS / "heart.csv").read_text() == table


@pytest.mark.parametrize("sent", [b"", b"<html>", b"70.0 1.0", "é".encode()])
def test_what_is_not_the_data_is_not_kept(repository, nowhere, sent):
    repository["statlog/heart/heart.dat"] = sent
    with pytest.raises(OSError, match="is not the heart data"):
        load_uci("heart")
    assert not module.DOWNLOADS.exists()


def test_what_cannot_be_found(tmp_path, nowhere):
    with pytest.raises(ValueError, match="name='iris'"):
        load_uci("iris")
    with pytest.raises(FileNotFoundError, match=r"statlog/heart/heart\.dat could not be downloaded"):
        load_uci("heart", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"heart\.csv"):
        load_uci("heart", data_home=tmp_path, download=False)


def test_the_given_folder_comes_before_the_variable(tmp_path, monkeypatch):
    for folder, value in (("given", 1), ("variable", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "heart.csv").write_text(f"age,label\n{value},yes\n")
    monkeypatch.setenv("CLUSTERFORESTS_DATA", str(tmp_path / "variable"))
    assert load_uci("heart").data.item() == 2
    given = load_uci("heart", data_home=tmp_path / "given")
    assert (given.data.item(), given.target.tolist(), given.feature_names) == (1, ["yes"], ["age"])


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "a,b,label\n1,2,x\n1,x\n", "a,label\nfour,x\n", "a,label\nnan,x\n"])
def test_malformed_files(tmp_path, content):
    (tmp_path / "heart.csv").write_text(content)
    with pytest.raises(ValueError, match=r"heart\.csv|could not convert"):
        load_uci("heart", data_home=tmp_path)
