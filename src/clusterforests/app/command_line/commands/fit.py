"""`clusterforests fit`: cluster the rows of a table."""

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from clusterforests.app.command_line.commands.inspect import column_facts, show_columns
from clusterforests.app.command_line.guidance import GivenGuidance, check_guidance, read_guidance, request_of
from clusterforests.app.command_line.label_files import formula_notes, labels_format, membership_column, write_labels
from clusterforests.app.command_line.outputs import STDOUT, Outputs
from clusterforests.app.command_line.screen import Screen, naming_file, reading_file
from clusterforests.app.command_line.summary import as_json, fit_facts, fit_lines, row_facts, score
from clusterforests.app.files import DataFile, read_table, row_name
from clusterforests.app.report import write_report
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of


def run_fit(given: argparse.Namespace) -> int:
    """Read, cluster, write, and print a summary."""
    screen = Screen(given)
    if given.json and given.out == STDOUT:
        given.usage("--json and --out - both write to standard output. Leave one of them out.")
    check_guidance(given)
    outputs = _outputs(given)
    for option in ("report", "model"):
        if getattr(given, option) == STDOUT:
            given.usage(f"--{option} cannot be standard output. Pass the name of a file.")
    if given.dry_run:
        words = [word for word in given.words if word != "--dry-run"]
        return show_columns(given, screen, words)
    data, guidance = _read(given, screen)
    started = time.perf_counter()
    forest = _forest(given, screen)
    with screen.warnings_as_notes(), naming_file(given.data, partial(row_name, data)):
        forest.fit(data.table, **guidance.arguments)
    seconds = time.perf_counter() - started
    name = "standard input" if given.data == "-" else given.data
    with screen.stage("measuring how sure the clusters are"):
        facts = fit_facts(name, data, view_of(forest), score(data.truth, forest.labels_), seconds)
    with outputs, screen.warnings_as_notes():
        write_results(outputs, forest, data, given, seconds, screen)
        if given.json:
            files = {option.lstrip("-"): str(path) for option, path in outputs.targets.items()}
            rows = row_facts(data, forest.labels_) if given.out is None else {}
            facts |= {"kept": guidance.kept(forest), "columns": column_facts(forest.columns_), "notes": data.notes}
            screen.show(as_json({**facts, "files": files, **rows}))
    lines = fit_lines(facts, given.label)
    if outputs.files:
        lines += ["", f"wrote {', '.join(outputs.files)}"]
    screen.tell(lines, on_stderr=given.out == STDOUT)
    return 0


def _outputs(given: argparse.Namespace) -> Outputs:
    """Name the files to write, none of which may be one that is read."""
    inputs = {"DATA": given.data, "--must-link": given.must_link, "--cannot-link": given.cannot_link}
    return Outputs(
        {option: path for option, path in inputs.items() if path is not None},
        {"--out": given.out, "--report": given.report, "--model": given.model},
    )


def _forest(given: argparse.Namespace, screen: Screen) -> ClusterForest:
    """Make the estimator that the options ask for."""
    return ClusterForest(
        given.clusters,
        n_estimators=given.trees,
        select_features=given.select_features,
        outliers=given.outliers,
        min_cluster_size=given.min_size,
        max_cluster_size=given.max_size,
        n_jobs=given.threads or -1,
        random_state=given.seed,
        verbose=int(screen.watched),
    )


def _read(given: argparse.Namespace, screen: Screen) -> tuple[DataFile, GivenGuidance]:
    """Read the table and what the user knows of its rows, and say what is to be known of both."""
    labels_format(given.out)  # refuses a format that is not written, before the work begins
    with reading_file(given.data):
        data = read_table(given.data, request_of(given, screen.bar.loaded), given.format)
    guidance = read_guidance(given, data)
    screen.bar.clear()
    data = replace(data, notes=(*data.notes, *formula_notes(given.out, data), *guidance.notes))
    for note in data.notes:
        screen.note(note)
    return data, guidance


def write_results(
    outputs: Outputs, forest: ClusterForest, data: DataFile, given: argparse.Namespace, seconds: float, screen: Screen
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

    form, labels = labels_format(given.out), forest.labels_
    # How it was run is not part of the model: the same data and seed give the same file.
    forest.set_params(n_jobs=None, verbose=0)
    writers: dict[str, Callable[[Path], None]] = {
        "--report": write_page,
        "--model": lambda path: forest.save(path, keep_rows=not given.model_without_rows),
        "--out": lambda path: write_labels(path, data, labels, membership_column(forest.item_consensus_, labels), form),
    }
    for option, writer in writers.items():
        path = outputs.targets.get(option, STDOUT)
        with nullcontext() if path == STDOUT else screen.stage(f"writing {path}"):
            outputs.write(option, writer)
