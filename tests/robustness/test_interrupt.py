"""Ctrl-C stops every stage soon, leaves the estimator as it was, and the next fit is right."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from interruption import WITHIN, groups, interrupt, slowest

from clusterforests import ClusterForest, HartiganWongKMeans, PaperForest, _core, consensus_clustering
from clusterforests.consensus.methods import METHODS, NEEDS_VALUES


def table():
    X = groups(500_000, 10)
    for _ in range(30):
        _core.Table(X)


def one_large_kmeans():
    HartiganWongKMeans(20, n_init=2, random_state=0).fit(groups(200_000, 10))


def kmeans_of_a_column():
    HartiganWongKMeans(8, n_init=1, random_state=0).fit(groups(2_000_000, 1))


def growth():
    PaperForest(5, n_estimators=1000, n_jobs=2, random_state=0).fit(groups(2000, 20))


@pytest.mark.parametrize("work", [table, one_large_kmeans, kmeans_of_a_column, growth])
def test_the_core_stops(work):
    late = interrupt(work, 0.4)
    assert late is not None
    assert late < WITHIN


def test_whatever_the_handler_raises_comes_out():
    def stop(signum, frame):
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError, match="enough"):
            one_large_kmeans()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_handler_may_use_the_core(blobs):
    """If it raises nothing, the call goes on."""
    small = ClusterForest(3, n_estimators=5, random_state=0)
    found = []

    def handle(signum, frame):
        signal.setitimer(signal.ITIMER_REAL, 0)  # on a busy machine it may take longer than the time to the next
        found.append(small.fit_predict(blobs[0]))
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    before = signal.signal(signal.SIGALRM, handle)
    X = groups(3000, 20)
    undisturbed = ClusterForest(5, n_estimators=50, random_state=0).fit_predict(X)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        labels = ClusterForest(5, n_estimators=50, random_state=0).fit_predict(X)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert found
    assert np.array_equal(labels, undisturbed)
    expected = small.fit_predict(blobs[0])
    assert all(np.array_equal(expected, labels) for labels in found)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stopped_fit_leaves_no_trace(n_jobs):
    X = groups(4000, 20)
    undisturbed = ClusterForest(5, n_estimators=300, random_state=0).fit(X)
    forest = ClusterForest(5, n_estimators=300, random_state=0, n_jobs=n_jobs).fit(X[:100])
    before = vars(forest).copy()
    assert interrupt(lambda: forest.fit(X), 0.3) is not None
    assert vars(forest).keys() == before.keys()
    assert all(vars(forest)[name] is value for name, value in before.items())
    assert np.array_equal(forest.fit(X).labels_, undisturbed.labels_)


def fitted(**settings):
    return ClusterForest(5, n_estimators=50, random_state=0, **settings).fit(groups(3000, 20))


def stages():
    """Yield what comes before each stage, and the stage."""

    def fit(n_rows, n_columns, **settings):
        X = groups(n_rows, n_columns)
        return lambda: ClusterForest(5, random_state=0, **settings).fit(X)

    yield "growth", fit(3000, 30, n_estimators=200, n_jobs=2)
    yield "many rows", fit(300_000, 10, n_estimators=50, n_jobs=2)
    yield "missing cells", fit_missing
    yield "number of clusters", lambda: ClusterForest(n_estimators=50, random_state=0).fit(groups(3000, 30))
    yield "dense cut", fit(3000, 10, n_estimators=30, n_landmarks=None, max_samples=500)
    yield "operator cut", fit(6000, 10, n_estimators=30, n_landmarks=None, max_samples=500)
    yield "landmark cut", fit(20_000, 10, n_estimators=30, n_landmarks=3000, max_samples=500)
    labels = fit(6000, 10, n_estimators=50, max_samples=500)().partitions_
    for method in set(METHODS) - set(NEEDS_VALUES):
        yield f"consensus {method}", lambda method=method: consensus_clustering(labels, 5, method=method)
    forest, many = fitted(), groups(300_000, 20)
    yield "predict", lambda: forest.predict(many)
    yield "predict_proba", lambda: forest.predict_proba(many[:100_000])
    yield "coassociation", lambda: [forest.coassociation() for _ in range(20)]
    yield "stability", lambda: fitted().stability()
    yield "diagnostics", diagnostics
    yield "K-means", one_large_kmeans
    yield "K-means of a column", kmeans_of_a_column


def fit_missing():
    X = groups(4000, 20)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    ClusterForest(5, n_estimators=20, random_state=0).fit(X)


def diagnostics():
    forest = fitted()
    assert len(forest.memberships_) == len(forest.item_consensus_) == len(forest.consensus_silhouette_) == 3000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_stage_stops():
    late, count = {}, 0
    for name, work in stages():
        late[name], stopped = slowest(work, 6)
        count += stopped
        assert stopped >= 3, name
    worst = max(late, key=late.get)
    assert late[worst] < WITHIN, late


@pytest.mark.slow
def test_the_command_stops(tmp_path):
    np.savetxt(tmp_path / "rows.csv", groups(20_000, 20), delimiter=",", fmt="%.4f")
    options = ["--no-header", "--trees", "5000", "--out", "labels.csv"]
    command = [sys.executable, "-m", "clusterforests", "fit", "rows.csv", *options]
    slow = 0.0
    for after in (0.5, 1.5, 3.0, 4.0):  # seconds of its processor time: importing, reading, growing
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            while used(process.pid) < after:
                time.sleep(0.01)
                assert process.poll() is None
            before = used(process.pid)
            process.send_signal(signal.SIGINT)
            text = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        slow = max(slow, usage.ru_utime + usage.ru_stime - before)
        assert process.returncode in (130, -signal.SIGINT), text
        assert "Fatal Python error" not in text
        assert not (tmp_path / "labels.csv").exists()
    assert slow < WITHIN + 0.5  # Python's own end included


STOPPED_BY = """
import os, signal, sys

module = sys.argv[1]

class Stop:
    def find_spec(name, path, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Stop)
from clusterforests.__main__ import main
sys.argv[1:] = ["fit", "rows.csv"]
sys.exit(main())
"""


def stopped_by(module, folder):
    """Return the exit status and the message of a command that Ctrl-C reaches when it loads a module."""
    command = [sys.executable, "-c", STOPPED_BY, module]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", ["numpy", "clusterforests.app.command_line.program", "argparse", "shlex"])
def test_a_command_that_is_stopped_while_it_is_loaded_says_so(tmp_path, module):
    status, text = stopped_by(module, tmp_path)
    assert status == 130
    assert text.endswith(": Stopped. Nothing was written.\n")


def used(pid):
    """Return the processor seconds a process has used."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
