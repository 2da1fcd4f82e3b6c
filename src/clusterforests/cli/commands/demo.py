"""`clusterforests demo`: from a file to understanding, on data that comes with scikit-learn."""

import argparse
import csv
import io
import shlex
from pathlib import Path

from sklearn.datasets import load_wine

from clusterforests._base.files import replace_text
from clusterforests.cli.arguments import EXIT_CODES, Command, add_run_options

FOLDER = Path("clusterforests-demo")


def add_demo(command: Command) -> None:
    command.parser.description = (
        "Cluster 178 wines by 13 measurements. Writes the data, the labels, a report and the model into a folder."
    )
    command.parser.epilog = "example:\n  clusterforests demo\n\n" + EXIT_CODES
    command.add("--out", metavar="FOLDER", type=Path, default=FOLDER, file=True, help=f"default: {FOLDER}")
    add_run_options(command)
    command.parser.set_defaults(run=run_demo)


def run_demo(given: argparse.Namespace) -> int:
    if given.out.exists() and not given.out.is_dir():
        raise ValueError(f"--out {given.out} is not a folder. Give the name of one.")
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
        print(f"\nOpen {given.out / 'report.html'} in a browser. The command was:\n  {command}")
    return status


def wine_as_text() -> str:
    """The wine data as a CSV file."""
    data = load_wine()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["wine", *data.feature_names, "cultivar"])
    for number, (row, target) in enumerate(zip(data.data.tolist(), data.target.tolist(), strict=True), 1):
        writer.writerow([f"wine {number}", *row, data.target_names[target]])
    return text.getvalue()
