"""A file that is there stays whole: when the disk is full, and when the process is killed while it writes."""

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.app.command_line.program import main

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
    halves = list(path.parent.glob(".*.part"))
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


def test_a_full_disk_leaves_the_old_model(forest, tmp_path):
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


@pytest.mark.parametrize("size", [0, 200, 5000])
def test_a_full_disk_leaves_what_a_command_wrote_before(tmp_path, capsys, size):
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


def test_a_kill_leaves_a_whole_model(forest, tmp_path):
    path = tmp_path / "m.cf"
    forest.save(path)
    done = subprocess.run([sys.executable, "-c", KILL, path, "60"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.fixture
def two_models(forest, blobs, tmp_path):
    """Two forests, their files, and the path that both are saved to."""
    forests = [forest, ClusterForest(4, n_estimators=30, random_state=1).fit(blobs[0])]
    files = [tmp_path / "0.cf", tmp_path / "1.cf"]
    for one, file in zip(forests, files, strict=True):
        one.save(file)
    shared = tmp_path / "shared"
    shared.mkdir()
    forest.save(shared / "m.cf")
    return forests, files, shared / "m.cf"


def read_while(path, going):
    """Read the file again and again; return what it was."""
    seen = set()
    while going():
        seen.add(path.read_bytes())
    return seen | {path.read_bytes()}


@pytest.mark.parametrize("saves", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_threads_that_save_to_one_path_leave_whole_models(two_models, saves):
    forests, files, path = two_models
    errors = []

    def save(forest):
        try:
            for _ in range(saves):
                forest.save(path)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(forest,)) for forest in forests]
    for thread in threads:
        thread.start()
    seen = read_while(path, lambda: any(thread.is_alive() for thread in threads))
    assert errors == []
    assert seen <= {file.read_bytes() for file in files}
    assert os.listdir(path.parent) == ["m.cf"]


def test_a_pickle_is_equal(forest, blobs):
    again = pickle.loads(pickle.dumps(forest))
    X = blobs[0] + 0.1
    assert np.array_equal(again.predict(X), forest.predict(X))
    assert np.array_equal(again.memberships_, forest.memberships_)
    assert str(again.get_params()) == str(forest.get_params())
