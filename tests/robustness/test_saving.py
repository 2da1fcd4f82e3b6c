"""A file that is there stays whole: when the disk is full, and when the process is killed while it writes."""

import os
import pickle
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.cli.program import main

# Children save over and over, and each is killed at another moment.
KILL = """
import os
import signal
import sys
import time
from pathlib import Path

from clusterforests import ClusterForest

path, kills = Path(sys.argv[1]), int(sys.argv[2])
forest, whole = ClusterForest.load(path), path.read_bytes()
caught = 0
for i in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            forest.save(path)
    time.sleep(0.02 + 0.0007 * i)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.read_bytes() == whole
    halves = list(path.parent.glob(".m.cf.*.part"))
    caught += len(halves)
    for half in halves:
        half.unlink()
print(caught)
"""


@pytest.fixture
def forest(blobs):
    return ClusterForest(3, n_estimators=10, random_state=0).fit(blobs[0])


class LargestFile:
    """No file of more bytes can be written: to the program this is a disk that is full."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.limits[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.limits)
        signal.signal(signal.SIGXFSZ, self.handler)


def test_a_full_disk_leaves_the_old_model(forest, tmp_path, record_property):
    path = tmp_path / "m.cf"
    forest.save(path)
    whole = path.read_bytes()
    sizes = [0, 1, 100, 4096, len(whole) // 2, len(whole) - 1]
    for size in sizes:
        with LargestFile(size), pytest.raises(OSError, match="too large"):
            forest.save(path)
        assert path.read_bytes() == whole
        assert os.listdir(tmp_path) == ["m.cf"]
    with LargestFile(len(whole)):
        forest.save(path)
    assert path.read_bytes() == whole
    record_property("full disks", len(sizes))


@pytest.mark.parametrize("size", [0, 200, 5000])
def test_a_full_disk_leaves_what_a_command_wrote_before(tmp_path, capsys, size, record_property):
    rng = np.random.default_rng(0)
    table = tmp_path / "data.csv"
    np.savetxt(table, rng.normal(size=(60, 3)) + np.repeat([[0], [9]], 30, axis=0), delimiter=",", header="a,b,c")
    names = {"--out": "labels.csv", "--model": "m.cf", "--report": "page.html"}
    options = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    command = ["fit", str(table), "--clusters", "2", "--trees", "20", *options]
    assert main(command) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    with LargestFile(size):
        assert main([*command, "--seed", "1"]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    record_property("full disks", 1)


def test_a_full_disk_leaves_what_reproduce_found(tmp_path, stand_ins, monkeypatch, capsys, record_property):
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "datasets", "--out", "results", "--runs", "1", "--jobs", "1"]
    assert main(command) == 0
    table = tmp_path / "results" / "tables" / "datasets.md"
    whole = table.read_bytes()
    with LargestFile(10):
        assert main(command) == 1
    assert table.read_bytes() == whole
    assert [path.name for path in table.parent.iterdir()] == ["datasets.md"]
    assert "File too large" in capsys.readouterr().err
    record_property("full disks", 1)


def test_a_kill_leaves_a_whole_model(forest, tmp_path, record_property):
    path = tmp_path / "m.cf"
    forest.save(path)
    kills = 60
    done = subprocess.run([sys.executable, "-c", KILL, path, str(kills)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    record_property("kills while saving", kills)
    record_property("of these, with the new file half written", int(done.stdout))


def test_a_pickle_is_equal(forest, blobs):
    again = pickle.loads(pickle.dumps(forest))
    X = blobs[0] + 0.1
    assert np.array_equal(again.predict(X), forest.predict(X))
    assert np.array_equal(again.memberships_, forest.memberships_)
    assert str(again.get_params()) == str(forest.get_params())
