"""The download of UC Irvine data, against a server of our own."""

import hashlib
import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from paper.datasets import UCI_NAMES, download, load_uci

REAL_CACHE_FOLDER = download.cache_folder


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


@pytest.fixture
def serve(monkeypatch):
    """Serve {path: bytes or a function of the handler} as the repository and expect the tables made of it."""

    @contextmanager
    def server(answers):
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path.lstrip("/"))
                answer = answers.get(asked[-1])
                if callable(answer):
                    answer(self)
                elif answer is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_):
                """Nothing on the screen."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
            thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                monkeypatch.setenv("CLUSTERFORESTS_UCI_URL", f"http://127.0.0.1:{httpd.server_port}/")
                yield asked
            finally:
                httpd.shutdown()
                thread.join()

    return server


def small(name, monkeypatch):
    """Let the two rows in ORIGINALS be the whole data set; return what the repository holds and our table."""
    originals, rows = ORIGINALS[name]
    source = download.SOURCES[name]
    table = "\n".join([source.header + ",label", *rows]) + "\n"
    sha256 = hashlib.sha256(table.encode()).hexdigest()
    monkeypatch.setitem(download.SOURCES, name, replace(source, sha256=sha256))
    return {file: text.encode() for file, text in zip(source.files, originals, strict=True)}, table


@pytest.mark.parametrize("name", download.SOURCES)
def test_known_hashes(uci, name):
    """The files on this machine, where they are, are what a download must give."""
    data = uci(name)
    path = Path(os.environ["CLUSTERFORESTS_DATA"]) / f"{name}.csv"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == download.SOURCES[name].sha256
    assert data.feature_names == download.SOURCES[name].header.split(",")


@pytest.mark.parametrize("name", ORIGINALS)
def test_download(name, cache, serve, monkeypatch):
    files, table = small(name, monkeypatch)
    with serve(files) as asked:
        data = load_uci(name)
    assert asked == list(download.SOURCES[name].files)
    assert [path.name for path in cache.iterdir()] == [f"{name}.csv"]
    assert (cache / f"{name}.csv").read_bytes() == table.encode()
    assert data.data.shape == (2, len(download.SOURCES[name].header.split(",")))
    for row, label, line in zip(data.data, data.target, table.splitlines()[1:], strict=True):
        assert label == line.split(",")[-1]
        assert row.tolist() == [float(value) for value in line.split(",")[:-1]]
    # The server is gone: from now on the cache answers.
    assert np.array_equal(load_uci(name).data, data.data)
    assert np.array_equal(load_uci(name, download=False).data, data.data)


def test_every_download_has_a_small_original():
    assert set(ORIGINALS) == set(download.SOURCES) == set(UCI_NAMES) - {"wine", "wdbc"}


def test_damaged_cache_is_replaced(cache, serve, monkeypatch):
    files, table = small("heart", monkeypatch)
    cache.mkdir(parents=True)
    (cache / "heart.csv").write_text(table[:-5])
    with pytest.raises(FileNotFoundError, match="download=False"):
        load_uci("heart", download=False)
    with serve(files):
        assert load_uci("heart").data.shape == (2, 13)
    assert (cache / "heart.csv").read_text() == table


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(b"70.0", b"71.0"),  # one digit
        lambda text: text[: len(text) // 2],  # half a file
        lambda text: b"",
        lambda text: b"<html><body>Moved</body></html>",
        lambda text: b"\x1f\x8b\xff\x00",  # not text
    ],
)
def test_damaged_download_is_refused(damage, cache, serve, monkeypatch):
    files, _ = small("heart", monkeypatch)
    files = {path: damage(content) for path, content in files.items()}
    with serve(files), pytest.raises(OSError, match=r"statlog/heart/heart\.dat sent is not the heart data") as caught:
        load_uci("heart")
    assert not isinstance(caught.value, FileNotFoundError)
    assert not cache.exists()


def test_second_file_of_two_is_checked(cache, serve, monkeypatch):
    files, _ = small("madelon", monkeypatch)
    files["madelon/MADELON/madelon_train.labels"] = b"-1\n"
    with serve(files), pytest.raises(OSError, match=r"train\.data and .*train\.labels sent is not the madelon data"):
        load_uci("madelon")
    del files["madelon/MADELON/madelon_train.labels"]
    with serve(files), pytest.raises(FileNotFoundError, match=r"madelon_train\.labels could not be downloaded"):
        load_uci("madelon")
    assert not cache.exists()


def test_robot_without_its_first_class_is_refused(cache, serve, monkeypatch):
    files, _ = small("robot", monkeypatch)
    files = {path: content.partition(b"\n")[2] for path, content in files.items()}
    with serve(files), pytest.raises(OSError, match="not the robot data"):
        load_uci("robot")


def test_cut_transfer(cache, serve, monkeypatch):
    """The server promises more bytes than it sends, then hangs up."""
    files, _ = small("heart", monkeypatch)
    content = files["statlog/heart/heart.dat"]

    def half(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])

    with serve({"statlog/heart/heart.dat": half}), pytest.raises(OSError, match=r"statlog/heart/heart\.dat"):
        load_uci("heart")
    assert not cache.exists()


@pytest.mark.parametrize("status", [404, 500])
def test_server_says_no(status, cache, serve):
    files = {"statlog/heart/heart.dat": lambda handler: handler.send_error(status)}
    with serve(files), pytest.raises(FileNotFoundError, match=rf"heart\.dat could not be downloaded \({status} "):
        load_uci("heart")
    assert not cache.exists()


def test_connection_refused(cache, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_uci("heart", data_home=tmp_path)
    message = str(caught.value)
    assert f"There is no {tmp_path / 'heart.csv'}" in message
    assert f"{os.environ['CLUSTERFORESTS_UCI_URL']}/statlog/heart/heart.dat could not be downloaded" in message
    assert "pass data_home=, or set CLUSTERFORESTS_DATA, to a folder that holds heart.csv" in message
    assert not cache.exists()


def test_failed_write_leaves_nothing(cache, serve, monkeypatch):
    files, _ = small("heart", monkeypatch)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with serve(files), pytest.raises(OSError, match="No space left"):
        load_uci("heart")
    assert list(cache.iterdir()) == []


def test_without_pooch(tmp_path, monkeypatch, cache):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setattr(download, "cache_folder", REAL_CACHE_FOLDER)
    with pytest.raises(ImportError, match=r'pip install "clusterforests\[data\]"'):
        load_uci("heart")
    with pytest.raises(FileNotFoundError, match="download=False"):
        load_uci("heart", download=False)
    (tmp_path / "heart.csv").write_text("age,label\n3.5,yes\n")
    assert load_uci("heart", data_home=tmp_path).data.item() == 3.5


def test_places(monkeypatch):
    assert "clusterforests" in str(REAL_CACHE_FOLDER())
    monkeypatch.delenv("CLUSTERFORESTS_UCI_URL")
    assert download.base_url() == "https://archive.ics.uci.edu/ml/machine-learning-databases"
    monkeypatch.setenv("CLUSTERFORESTS_UCI_URL", "http://localhost/mirror/")
    assert download.base_url() == "http://localhost/mirror"
