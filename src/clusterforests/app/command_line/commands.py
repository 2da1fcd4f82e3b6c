"""What the commands do: `fit`, `inspect`, `predict`, `report` and `demo`."""

import argparse
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from clusterforests._utils.files import replace_text
from clusterforests.app.cluster_table import (
    ClusteredTable,
    TableRows,
    cluster_table,
    naming_rows,
    open_table,
    prepare_table,
    read_columns,
)
from clusterforests.app.command_line.outputs import Outputs
from clusterforests.app.command_line.screen import Screen
from clusterforests.app.command_line.summary import as_json, fit_facts, fit_lines, score, score_lines
from clusterforests.app.files.extensions import format_of
from clusterforests.app.files.file_table import FileOptions
from clusterforests.app.label_files import STDOUT, label_format, write_labels
from clusterforests.app.problems import SUGGESTION, FileProblems, LocatedProblem, suggest
from clusterforests.app.report import write_report
from clusterforests.app.saving import load
from clusterforests.app.table_reader import TableColumns, TableReader

# The parameters of functions, as the command line calls them.
OPTIONS = {
    "n_clusters": "--clusters",
    "n_estimators": "--trees",
    "random_state": "--seed",
    "n_jobs": "--threads",
    "must_link": "--must-link",
    "cannot_link": "--cannot-link",
    "known_labels": "--known-labels",
    "min_cluster_size": "--min-size",
    "max_cluster_size": "--max-size",
    "contamination": "--contamination",
}


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Let errors name options instead of parameters."""
    try:
        yield
    except FileProblems:
        raise
    except ValueError as error:
        text = str(error)
        for parameter, option in OPTIONS.items():
            if option not in text:
                text = text.replace(f"{parameter}=", f"{option} ").replace(parameter, option)
        raise ValueError(text) from error


def run_fit(given: argparse.Namespace) -> int:
    """Read, cluster, write, and print a summary."""
    screen = Screen(given)
    _check_options(given)
    inputs = {"DATA": given.data, "--must-link": given.must_link, "--cannot-link": given.cannot_link}
    outputs = Outputs(
        {option: path for option, path in inputs.items() if path is not None},
        {"--out": given.out, "--report": given.report, "--model": given.model},
    )
    form = label_format(given.out)
    started = time.perf_counter()
    with screen.warnings_as_notes(), in_words_of_options():
        found = cluster_table(
            given.data,
            given.clusters,
            **_table_options(given, screen),
            **_column_styles(given),
            overrides=_overrides(given),
            known_labels=given.known_labels,
            must_link=given.must_link,
            cannot_link=given.cannot_link,
            n_estimators=given.trees,
            select_features=given.select_features,
            contamination=given.contamination,
            min_cluster_size=given.min_size,
            max_cluster_size=given.max_size,
            n_jobs=given.threads or -1,
            random_state=given.seed,
            verbose=int(screen.watched),
        )
    seconds = time.perf_counter() - started
    screen.bar.clear()
    with screen.warnings_as_notes(), screen.stage("measuring how sure the clusters are"):
        facts = fit_facts(found, score(found.rows.classes, found.labels.to_numpy()), seconds)
    # How it was run is not part of the model: the same data and seed give the same file.
    found.forest.set_params(n_jobs=None, verbose=0)
    writers: dict[str, Callable[[Path], None]] = {
        "--report": lambda path: found.write_report(
            path, title=_title(given), command=given.command_line, seconds=seconds
        ),
        "--model": lambda path: found.save_model(path, keep_rows=not given.model_without_rows),
        "--out": lambda path: write_labels(path, found.labels, found.memberships, form),
    }
    with outputs, screen.warnings_as_notes():
        for option in filter(outputs.targets.get, ("--report", "--model", "--out")):  # labels last: into a pipe, maybe
            path = outputs.targets[option]
            with nullcontext() if path == STDOUT else screen.stage(f"writing {path}"):
                outputs.write(option, writers[option])
        if given.json:
            files = {option.lstrip("-"): str(path) for option, path in outputs.targets.items()}
            kept = {"kept": _kept(given, found), "columns": _column_facts(found.columns), "notes": screen.notes}
            screen.show(as_json({**facts, **kept, "files": files, **_row_facts(found.labels, given.out)}))
    lines = fit_lines(facts, given.label)
    if outputs.files:
        lines += ["", f"wrote {', '.join(outputs.files)}"]
    screen.tell(lines, on_stderr=given.out == STDOUT)
    return 0


def run_inspect(given: argparse.Namespace) -> int:
    """Show how each column is read, and the problems; the exit code is 1 if there are any."""
    screen = Screen(given)
    Outputs({"DATA": given.data}, {})  # it may be where standard output goes
    with in_words_of_options():
        rows, reader = prepare_table(
            given.data,
            **_table_options(given, screen),
            **_column_styles(given),
            overrides=_overrides(given),
            known_labels=given.known_labels,
        )
        numbers = isinstance(rows.cells, np.ndarray)
        columns, found = (TableColumns(), ()) if numbers else reader.inspect(rows.cells)
    screen.bar.clear()
    lines = [None if problem.row is None else int(rows.file.lines[problem.row]) for problem in found]
    located = [LocatedProblem(problem, line) for problem, line in zip(found, lines, strict=True)]
    problems = [*rows.file.problems, *located]
    command = suggest(["clusterforests", "fit", *given.words[1:]], problems)
    if given.json:
        facts = {
            "data": rows.file.name,
            "rows": len(rows.cells),
            "columns": _column_facts(columns),
            "notes": rows.file.notes,
            "problems": [
                asdict(found.problem) | {"line": found.line, "options": list(map(found.option, found.problem.remedies))}
                for found in problems
            ],
            "command": command,
        }
        screen.show(as_json(facts))
        return 1 if problems else 0
    if numbers:
        n, p = rows.cells.shape
        screen.tell([f"{rows.file.name}: {n} rows, {p} columns of numbers without names, all of them used"])
        return 0
    used = sum(column.used for column in columns)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    told = [f"{rows.file.name}: {len(rows.cells)} rows, {len(columns)} columns to cluster by, {used} of them used", ""]
    told += columns.lines(width, [problem.problem.column for problem in problems])
    notes = [*rows.file.notes, *(f"{column.name!r}: {note}" for column in columns for note in column.notes)]
    if notes:
        told += ["", "notes:", *(f"  {note}" for note in notes)]
    if problems:
        listed = [f"  {number}. {problem.sentence()}" for number, problem in enumerate(problems, 1)]
        told += ["", "problems:", *listed, "", SUGGESTION, f"  {command}"]
    screen.tell(told)
    return 1 if problems else 0


def run_predict(given: argparse.Namespace) -> int:
    """Find the clusters of the rows of a table by a saved model."""
    screen = Screen(given)
    out = given.out if given.out is not None or given.json else STDOUT
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": out})
    form = label_format(out)
    reader, forest = _load(given)
    if given.clusters is not None:
        try:
            with in_words_of_options():
                forest = forest.recut(given.clusters)
        except ValueError as error:
            raise ValueError(f"{given.model}: {error}") from error
    started = time.perf_counter()
    with screen.warnings_as_notes():
        rows, typed = _read_for_model(reader, forest, given, screen)
        for note in rows.file.notes:
            screen.note(note)
        with naming_rows(rows), in_words_of_options(), screen.stage("placing the rows"):
            labels = pd.Series(forest.predict(typed), index=rows.row_names)
            shares = forest.predict_proba(typed)
    own = np.where(labels < 0, 0.0, shares[np.arange(len(labels)), labels.clip(lower=0)])
    memberships = pd.Series(own, index=rows.row_names)
    scores = score(rows.classes, labels.to_numpy())
    n_clusters = int(forest.n_clusters_)
    with outputs:
        outputs.write("--out", lambda path: write_labels(path, labels, memberships, form))
        if given.json:
            facts = {
                "data": rows.file.name,
                "model": given.model,
                "rows": len(labels),
                "clusters": n_clusters,
                "outliers": int((labels < 0).sum()),
                "sizes": np.bincount(labels[labels >= 0], minlength=n_clusters),
                "scores": scores,
                "seconds": time.perf_counter() - started,
                "notes": screen.notes,
            }
            files = {} if out is None else {"files": {"out": str(out)}}
            screen.show(as_json({**facts, **files, **_row_facts(labels, out)}))
    lines = [f"{rows.file.name}: {len(labels)} rows in {n_clusters} clusters", *score_lines(scores, given.label)]
    screen.tell(lines + ([f"wrote {outputs.files[0]}"] if outputs.files else []), on_stderr=True)
    return 0


def run_report(given: argparse.Namespace) -> int:
    """Write a page about a saved model and its table."""
    screen = Screen(given)
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": given.out})
    reader, forest = _load(given)
    title = given.title or _title(given)
    with outputs, screen.warnings_as_notes():
        rows, typed = _read_for_model(reader, forest, given, screen)
        for note in rows.file.notes:
            screen.note(note)
        with naming_rows(rows), in_words_of_options(), screen.stage(f"writing {given.out}"):
            about = {"ids": rows.ids, "truth": rows.classes, "title": title, "command": given.command_line}
            model, table = (forest, typed) if reader is None else (make_pipeline(reader, forest), rows.cells)
            outputs.write("--out", lambda path: write_report(model, table, path, **about))
    if given.json:
        files = {"out": str(given.out)}
        screen.show(as_json({"data": rows.file.name, "model": given.model, "notes": screen.notes, "files": files}))
    screen.tell([f"wrote {given.out}"])
    return 0


def run_demo(given: argparse.Namespace) -> int:
    """Run `fit` on the wine data, and say how."""
    if given.out.exists() and not given.out.is_dir():
        raise ValueError(f"--out {given.out} is not a folder. Pass the name of one.")
    given.out.mkdir(parents=True, exist_ok=True)
    table = given.out / "wine.csv"
    replace_text(table, wine_as_text())
    arguments = ["fit", str(table), "--clusters", "2-6", "--id", "wine", "--label", "cultivar"]
    for option, name in (("--out", "labels.csv"), ("--report", "report.html"), ("--model", "model.cf")):
        arguments += [option, str(given.out / name)]
    if given.threads:
        arguments += ["--threads", str(given.threads)]
    arguments += ["--json"] * given.json + ["--quiet"] * given.quiet
    status = int(given.again(arguments))
    if status == 0 and not (given.json or given.quiet):
        command = shlex.join(["clusterforests", *arguments])
        print(f"\nOpen {given.out / 'report.html'} in a browser. This demo ran the command\n  {command}")
    return status


def wine_as_text() -> str:
    """Write the wine data, which come with scikit-learn, as CSV."""
    from sklearn.datasets import load_wine

    data = load_wine(as_frame=True)
    table = data.data.assign(cultivar=data.target_names[data.target])
    text: str = table.set_axis([f"wine {row}" for row in range(1, len(table) + 1)]).to_csv(index_label="wine")
    return text


# What the options say.


def _check_options(given: argparse.Namespace) -> None:
    """Refuse options that exclude each other."""
    if given.json and given.out == STDOUT:
        given.usage("--json and --out - both write to standard output. Leave one of them out.")
    for option in ("report", "model"):
        if getattr(given, option) == STDOUT:
            given.usage(f"--{option} cannot be standard output. Pass the name of a file.")
    for option, bound in (("--min-size", given.min_size), ("--max-size", given.max_size)):
        if given.contamination is not None and bound is not None:
            given.usage(
                f"--contamination and {option} cannot be combined: rows that leave a cluster would change its size."
            )
    for option, column in (("--id", given.id), ("--label", given.label)):
        if given.known_labels is not None and column == given.known_labels:
            given.usage(f"{option} and --known-labels both name the column {column!r}. Leave one of them out.")


def _table_options(given: argparse.Namespace, screen: Screen, **more: Any) -> dict[str, Any]:
    """Collect the arguments that say how a file is read."""
    options = FileOptions(
        format=given.format,
        delimiter=given.delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        header=not given.no_header,
        sheet=given.sheet,
        transpose=given.transpose,
        progress=screen.bar.loaded,
        **more,
    )
    return {"id_column": given.id, "label_column": given.label, "options": options}


def _column_styles(given: argparse.Namespace) -> dict[str, Any]:
    """Collect the arguments that say how cells are written."""
    day_first = True if given.day_first else False if given.month_first else None
    return {"missing": tuple(given.missing), "decimal": given.decimal, "day_first": day_first}


def _overrides(given: argparse.Namespace) -> dict[str, Any]:
    """Collect what the options say that columns hold; two answers about a column are refused."""
    overrides: dict[str, Any] = {}
    answered: dict[str, str] = {}
    for kind in ("ignore", "category", "number", "date", "ordered"):
        for text in dict.fromkeys(getattr(given, kind)):
            name, equals, levels = text.partition("=") if kind == "ordered" else (text, "", "")
            if name in answered:
                raise ValueError(
                    f"{answered[name]} and --{kind} both name column {name!r}. Leave it out of one of them."
                )
            answered[name] = f"--{kind}"
            overrides[name] = [level.strip() for level in levels.split(",") if level.strip()] if equals else kind
            if equals and len(set(overrides[name])) < max(2, len(overrides[name])):
                raise ValueError(
                    f"--ordered {text} does not name two different levels or more. Pass all levels from low to high, "
                    "such as --ordered size=small,medium,large."
                )
    return overrides


def _title(given: argparse.Namespace) -> str | None:
    return None if given.data == "-" else f"Clusters of {Path(given.data).name}"


# Saved models.


def _load(given: argparse.Namespace) -> tuple[TableReader | None, Any]:
    """Load a model: the reader of its columns, if it has one, and its forest."""
    model = load(given.model)
    parts = list(model.named_steps.values()) if hasattr(model, "named_steps") else [model]
    reader = parts[0] if isinstance(parts[0], TableReader) else None
    if reader is not None:
        reader.set_params(**{name: value for name, value in _column_styles(given).items() if value})
    return reader, parts[-1].set_params(n_jobs=given.threads or -1)


def _read_for_model(
    reader: TableReader | None, forest: Any, given: argparse.Namespace, screen: Screen
) -> tuple[TableRows, Any]:
    """Read the columns that a model was fitted on, as it read them."""
    names = getattr(forest, "feature_names_in_", None)
    more: dict[str, Any] = {}
    if names is not None and (given.format or format_of(given.data)) != "npy":
        # What was no plain number in the fitted table is left to the reader.
        used = [] if reader is None else [column for column in reader.columns_ if column.used]
        texts = {column.name for column in used if column.read_as != "number" or column.style == "decimal comma"}
        more = {"only": list(map(str, names)), "as_text": texts}
    rows = open_table(given.data, **_table_options(given, screen, **more))
    screen.bar.clear()
    if rows.cells.shape[1] != forest.n_features_in_:
        widths = f"{rows.cells.shape[1]} columns but the model was fitted on {forest.n_features_in_}"
        raise ValueError(f"{rows.file.name} has {widths}. Pass a table with the same columns.")
    # Columns without names are matched by their order.
    if names is None and isinstance(rows.cells, pd.DataFrame):
        rows = replace(rows, cells=rows.cells.to_numpy())
    elif names is not None and isinstance(rows.cells, np.ndarray):
        rows = replace(rows, cells=pd.DataFrame(rows.cells, columns=names))
    if reader is None:
        return rows, rows.cells if names is None else rows.cells[list(names)]
    return rows, read_columns(rows, reader, fit=False)


# Facts for JSON.


def _column_facts(columns: Any) -> list[dict[str, Any]]:
    return [asdict(column) for column in columns or ()]


def _row_facts(labels: "pd.Series[int]", out: Path | None) -> dict[str, Any]:
    """Give the labels if no file has them."""
    if out is not None:
        return {}
    return {"ids": None if labels.index.name is None else labels.index.tolist(), "labels": labels.to_numpy()}


def _kept(given: argparse.Namespace, found: ClusteredTable) -> dict[str, Any] | None:
    """Count what the clusters keep; None if nothing was asked for."""
    facts = {
        "must_link": found.n_pairs["must_link"],
        "cannot_link": found.n_pairs["cannot_link"],
        "known_rows": sum(name is not None for name in found.rows.known_labels or ()),
        "known_clusters": found.forest.known_clusters_,
        "min_size": given.min_size,
        "max_size": given.max_size,
    }
    return facts if any(facts.values()) else None
