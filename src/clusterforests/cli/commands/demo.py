"""`clusterforests demo`: from a file to a report, on data that comes with scikit-learn."""

import argparse
import csv
import io
import shlex
from pathlib import Path

from sklearn.datasets import load_wine

from clusterforests._base.files import replace_text
from clusterforests.cli.arguments import EXIT_CODES, add_run_options

FOLDER = Path("clusterforests-demo")


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Cluster 178 wines by 13 measurements. Writes the data, the labels, a report and the model to a folder."
    )
    parser.epilog = "example:\n  clusterforests demo\n\n" + EXIT_CODES
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=FOLDER, help=f"folder to write to (default: {FOLDER})"
    )
    add_run_options(parser)
    parser.set_defaults(run=run_demo)


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
    """Write the wine data as CSV."""
    data = load_wine()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["wine", *data.feature_names, "cultivar"])
    for number, (row, target) in enumerate(zip(data.data.tolist(), data.target.tolist(), strict=True), 1):
        writer.writerow([f"wine {number}", *row, data.target_names[target]])
    return text.getvalue()
