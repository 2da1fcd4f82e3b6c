"""`clusterforests fit`: cluster the rows of a table."""

import argparse
import time
from pathlib import Path

from clusterforests.cli.arguments import (
    EXIT_CODES,
    add_data_options,
    add_run_options,
    number_of_clusters,
    positive,
    request_of,
    seed,
    target,
)
from clusterforests.cli.label_files import labels_format, write_labels
from clusterforests.cli.outputs import STDOUT, Outputs
from clusterforests.cli.readers import DataFile, read_table
from clusterforests.cli.screen import Screen, naming_file, reading_file
from clusterforests.cli.summary import as_json, fit_facts, fit_lines, row_facts, score
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.report import write_report

EXAMPLES = """examples:
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests fit data.csv --id sample --ignore batch date --label diagnosis
  clusterforests fit counts.tsv --clusters 2-6 --out labels.tsv
  clusterforests fit table.parquet --clusters auto --json > result.json
  zcat data.csv.gz | clusterforests fit - --clusters 3 --out - > labels.csv

The labels have a line for each row: its name (--id) or its number, from 1; its
cluster, where 0 is the largest; and its membership in it, from 0 to 1. They are
CSV unless the name ends in .tsv, .parquet, .arrow or .npy. With --json and
without --out, the labels are part of the JSON. A model holds every number of
clusters: see `predict --clusters`.

"""


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = "Cluster the rows of a table: CSV, TSV, Parquet, Arrow (.arrow, .feather) or .npy."
    parser.epilog = EXAMPLES + EXIT_CODES
    add = parser.add_argument
    add("data", metavar="DATA", help="the table, one sample per row; - is standard input")
    add(
        "--clusters",
        metavar="K",
        type=number_of_clusters,
        default="auto",
        help="number of clusters: 4; 2-6 to choose among these; auto (the default) to choose from 1 to 50",
    )
    add("--out", metavar="FILE", type=target, help="write the cluster of each row; - is standard output")
    add("--report", metavar="FILE", type=target, help="write an HTML page about the result")
    add("--model", metavar="FILE", type=target, help="write the model, for `predict` and `report`")
    add("--trees", metavar="T", type=positive, default=200, help="number of trees in the forest (default: 200)")
    add(
        "--noise-features",
        choices=("auto", "drop", "keep"),
        default="auto",
        help="leave columns that do not tell out of the trees (drop), or not (keep); auto, the default, is drop",
    )
    add("--seed", metavar="N", type=seed, default=0, help="random seed; the same gives the same result (default: 0)")
    add_data_options(parser, fitting=True)
    add_run_options(parser)
    parser.set_defaults(run=run_fit)


def run_fit(given: argparse.Namespace) -> int:
    """Read, cluster, write, and print a summary."""
    screen = Screen(given)
    if given.json and given.out == STDOUT:
        given.usage("--json and --out - both write to standard output. Leave one of them out.")
    outputs = Outputs({"DATA": given.data}, {"--out": given.out, "--report": given.report, "--model": given.model})
    for option in ("report", "model"):
        if getattr(given, option) == STDOUT:
            given.usage(f"--{option} cannot be standard output. Pass the name of a file.")
    with reading_file(given.data):
        data = read_table(given.data, request_of(given, screen.bar.loaded), given.format)
    screen.bar.clear()
    for note in data.notes:
        screen.note(note)
    started = time.perf_counter()
    forest = ClusterForest(
        given.clusters,
        n_estimators=given.trees,
        noise_features=given.noise_features,
        n_jobs=given.threads or -1,
        random_state=given.seed,
        verbose=int(screen.watched),
    )
    with screen.warnings_as_notes(), naming_file(given.data):
        forest.fit(data.table)
    seconds = time.perf_counter() - started
    name = "standard input" if given.data == "-" else given.data
    facts = fit_facts(name, view_of(forest), score(data.truth, forest.labels_), seconds)
    if outputs.files:
        screen.bar.stage(f"writing {', '.join(outputs.files)},")
    with outputs, screen.warnings_as_notes():
        write_results(outputs, forest, data, given, seconds)
        if given.json:
            files = {option.lstrip("-"): str(path) for option, path in outputs.targets.items()}
            rows = row_facts(data, forest.labels_) if given.out is None else {}
            screen.show(as_json({**facts, "files": files, **rows}))
    lines = fit_lines(facts, given.label)
    if outputs.files:
        lines += ["", f"wrote {', '.join(outputs.files)}"]
    screen.tell(lines, on_stderr=given.out == STDOUT)
    return 0


def write_results(
    outputs: Outputs, forest: ClusterForest, data: DataFile, given: argparse.Namespace, seconds: float
) -> None:
    """Write the report, the model, and last the labels, which may go down a pipe."""

    def write_page(path: Path) -> None:
        write_report(
            forest,
            data.table,
            path,
            ids=data.ids,
            truth=data.truth,
            title=None if given.data == "-" else f"Clusters of {Path(given.data).name}",
            command=given.command_line,
            seconds=seconds,
        )

    # How it was run is not part of the model: the same data and seed give the same file.
    forest.set_params(n_jobs=None, verbose=0)
    outputs.write("--report", write_page)
    outputs.write("--model", forest.save)
    if "--out" in outputs.targets:
        own = forest.item_consensus_
        kind = labels_format(outputs.targets["--out"])
        outputs.write("--out", lambda path: write_labels(path, data, forest.labels_, own, kind))
