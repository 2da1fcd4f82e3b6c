"""`clusterforests predict`: the clusters of other rows. `clusterforests report`: a page about a saved model."""

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from clusterforests.cli.arguments import (
    EXIT_CODES,
    Command,
    add_data_options,
    add_run_options,
    request_of,
    target,
)
from clusterforests.cli.outputs import STDOUT, Outputs, labels_format, write_labels
from clusterforests.cli.readers import DataFile, read_table
from clusterforests.cli.screen import Screen, naming_file
from clusterforests.cli.summary import as_json, row_facts, score, score_lines
from clusterforests.estimator import ClusterForest
from clusterforests.tables.column_table import ColumnTable

PREDICT_EXAMPLES = """examples:
  clusterforests predict model.cf new.csv --out labels.csv
  clusterforests predict model.cf new.csv --id sample --json
  cat new.csv | clusterforests predict model.cf - > labels.csv

The columns of the fitted table are found by their names; others are left out.
Rows of the fitted table get the clusters that `fit` gave them.

"""
REPORT_EXAMPLES = """examples:
  clusterforests report model.cf data.csv --out report.html
  clusterforests report model.cf data.csv --id sample --label diagnosis

DATA is the table that the model was fitted on, with its rows in the same order.

"""


def add_predict(command: Command) -> None:
    command.parser.description = "The clusters of the rows of a table, by a model that `fit --model` wrote."
    command.parser.epilog = PREDICT_EXAMPLES + EXIT_CODES
    command.add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    command.add("data", metavar="DATA", help="a table with the columns of the fitted one; - is standard input")
    command.add(
        "--out",
        metavar="FILE",
        type=target,
        file=True,
        help="the cluster of each row (default: standard output, as CSV)",
    )
    add_data_options(command, fitting=False)
    add_run_options(command)
    command.parser.set_defaults(run=run_predict)


def add_report(command: Command) -> None:
    command.parser.description = "A page about a saved model: one HTML file that needs no network."
    command.parser.epilog = REPORT_EXAMPLES + EXIT_CODES
    command.add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    command.add("data", metavar="DATA", help="the table it was fitted on; - is standard input")
    command.add(
        "--out",
        metavar="FILE",
        type=target,
        file=True,
        default=Path("report.html"),
        help="the page (default: report.html)",
    )
    command.add("--title", help="heading of the page")
    add_data_options(command, fitting=False)
    add_run_options(command)
    command.parser.set_defaults(run=run_report)


def run_predict(given: argparse.Namespace) -> int:
    screen = Screen(given)
    out = given.out if given.out is not None or given.json else STDOUT
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": out})
    forest = ClusterForest.load(given.model).set_params(n_jobs=given.threads or -1)
    data = read_for(forest, given, screen)
    started = time.perf_counter()
    with screen.warnings_as_notes(), naming_file(given.data):
        shares = forest.predict_proba(data.table)
    labels = shares.argmax(axis=1).astype(np.int32)
    seconds = time.perf_counter() - started
    scores = score(data.truth, labels)
    with outputs:
        kind = labels_format(out)
        outputs.write("--out", lambda path: write_labels(path, data, labels, shares.max(axis=1), kind))
        if given.json:
            facts = {"data": given.data, "model": given.model, "rows": len(labels), "clusters": int(forest.n_clusters_)}
            sizes = np.bincount(labels, minlength=forest.n_clusters_)
            rows = row_facts(data, labels) if out is None else {"files": {"out": str(out)}}
            print(as_json({**facts, "sizes": sizes, "scores": scores, "seconds": seconds, **rows}), flush=True)
    lines = [f"{given.data}: {len(labels)} rows in {forest.n_clusters_} clusters", *score_lines(scores, given.label)]
    screen.tell(lines + ([f"wrote {outputs.files[0]}"] if outputs.files else []), on_stderr=True)
    return 0


def run_report(given: argparse.Namespace) -> int:
    from clusterforests.report import write_report

    screen = Screen(given)
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": given.out})
    forest = ClusterForest.load(given.model).set_params(n_jobs=given.threads or -1)
    data = read_for(forest, given, screen)
    title = given.title or (None if given.data == "-" else f"Clusters of {Path(given.data).name}")

    def write_page(path: Path) -> None:
        write_report(forest, data.table, path, ids=data.ids, truth=data.truth, title=title, command=given.command_line)

    with outputs, screen.warnings_as_notes():
        outputs.write("--out", write_page)
    if given.json:
        print(as_json({"data": given.data, "model": given.model, "files": {"out": str(given.out)}}), flush=True)
    screen.tell([f"wrote {given.out}"])
    return 0


def read_for(forest: ClusterForest, given: argparse.Namespace, screen: Screen) -> DataFile:
    """The table with the columns that a model knows."""
    names = getattr(forest, "feature_names_in_", None)
    levels: dict[str, Mapping[str, Any]] = {}
    if names is not None:
        levels = {str(names[j]): _by_text(known) for j, known in forest._encoding.levels.items()}
    wanted = None if names is None else [str(name) for name in names]
    data = read_table(given.data, request_of(given, screen.bar.loaded, wanted=wanted, levels=levels), given.format)
    screen.bar.clear()
    for note in data.notes:
        screen.note(note)
    if data.table.shape[1] != forest.n_features_in_:
        raise ValueError(
            f"{given.data} has {data.table.shape[1]} columns and the model was fitted on {forest.n_features_in_}. Give "
            "a table with the same columns."
        )
    if isinstance(data.table, np.ndarray) and wanted is not None:
        columns = [np.array(data.table[:, j], dtype=np.float64) for j in range(len(wanted))]
        return DataFile(ColumnTable(wanted, columns))
    return data


def _by_text(levels: tuple[Any, ...]) -> dict[str, Any]:
    """A model's levels by how they look in a file: 2.0 is also written 2."""
    by_text = {str(int(level)): level for level in levels if isinstance(level, float) and level.is_integer()}
    return by_text | {str(level): level for level in levels}
