"""Check what an installation with only the base dependencies must do, on every system, in a temporary folder."""

import contextlib
import importlib.util
import subprocess
import sys
import tempfile
import time

begin = time.perf_counter()
import clusterforests  # noqa: E402
from clusterforests import ClusterForest  # noqa: E402

print(f"import: {time.perf_counter() - begin:.2f} s")

import numpy as np  # noqa: E402

ABSENT = ("matplotlib", "pyarrow", "dask", "cupy", "pandas", "pytest")
COMMAND = [sys.executable, "-m", "clusterforests"]


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 5)), rng.normal(size=(60, 5)) + 6])


def works() -> None:
    X = table()
    forest = ClusterForest(2, n_estimators=30, random_state=0).fit(X)
    assert np.bincount(forest.labels_).tolist() == [60, 60]
    assert (forest.predict(X) == forest.labels_).all()
    forest.save("model.cf")
    assert (ClusterForest.load("model.cf").predict(X) == forest.labels_).all()
    version = subprocess.run([*COMMAND, "--version"], check=True, capture_output=True, text=True).stdout
    assert version.strip() == f"clusterforests {clusterforests.__version__}"


def refusal(call) -> str:
    try:
        call()
    except (ImportError, ValueError) as error:
        return str(error)
    raise AssertionError("an optional package is missing, but nothing was said")


def says_what_is_missing() -> None:
    """Check that errors name what to install where an optional package is missing."""
    present = [name for name in ABSENT if importlib.util.find_spec(name)]
    assert not present, f"not an empty environment: {present}"
    from clusterforests import plots

    forest = ClusterForest(2, n_estimators=10, random_state=0).fit(table())
    assert "clusterforests[plot]" in refusal(lambda: plots.consensus_heatmap(forest))
    assert "clusterforests[gpu]" in refusal(lambda: ClusterForest(2, device="gpu").fit(table()))
    np.savetxt("table.csv", table(), delimiter=",", header="a,b,c,d,e", comments="")
    run = subprocess.run([*COMMAND, "fit", "table.csv", "--clusters", "2"], capture_output=True, text=True)
    assert run.returncode
    assert "clusterforests[app]" in run.stderr
    assert "Traceback" not in run.stderr


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.chdir(folder):
        works()
        says_what_is_missing()
    print("fit, predict, save, load, command line, report: as they should be; optional packages: clear errors")
