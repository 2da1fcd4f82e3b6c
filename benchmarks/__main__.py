"""Measure topics and write their pages and summaries into benchmarks/results/.

    python -m benchmarks speed scale              # one after the other
    python -m benchmarks noise --methods ours --jobs 2
    python -m benchmarks noise --help             # the options of a topic

Single fits go into build/benchmarks/, where a run that was stopped goes on.
"""

import importlib
import os
import sys

TOPICS = {
    "speed": "K-means and whole forests against scikit-learn: ten minutes; needs $CLUSTERFORESTS_DATA",
    "scale": "many rows, many columns, memory: half an hour, 16 GB of memory",
    "noise": "tables with noise features, against other methods: an hour",
    "shapes": "tables of curved shapes, against other methods: minutes",
    "quality": "labelled data sets, against other methods: hours; needs $CLUSTERFORESTS_DATA and the development sets",
    "choosing_k": "the choice of the number of clusters: hours; needs the same",
    "guidance": "what a few known labels are worth: minutes; needs the same",
    "outliers": "rows that belong to no cluster, against HDBSCAN: minutes",
    "ccp": "ConsensusClusterPlus and other packages of R on one table: a minute; needs R",
    "anndata": "cells in memory and in backed files: a quarter of an hour; needs scanpy",
    "dask": "a table larger than the workers' memory: a quarter of an hour, 7 GB of disk",
    "gpu": "the GPU against the CPU: benchmarks/gpu.sh runs it with the tests of the GPU",
}
# Their fits have a process each and one thread, which must be said before NumPy is imported.
ONE_THREAD = ("speed", "noise", "shapes", "quality", "choosing_k", "ccp")


def main(arguments: list[str]) -> None:
    """Run the topics that the arguments begin with, each with the options that follow."""
    names = []
    while arguments and arguments[0] in TOPICS:
        names.append(arguments.pop(0))
    if not names:
        about = "\n".join(f"  {name:<11} {text}" for name, text in TOPICS.items())
        sys.exit(f"{__doc__}\nTopics:\n{about}")
    for name in names:
        if len(names) > 1:
            os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-m", "benchmarks", name, *arguments])
            continue
        if name in ONE_THREAD:
            for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
                os.environ[f"{variable}_NUM_THREADS"] = "1"
            os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # the others do not survive a fork
        importlib.import_module(f"benchmarks.{name}").main(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
