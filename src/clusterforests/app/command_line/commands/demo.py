"""`clusterforests demo`: from a file to a report, on data that comes with scikit-learn."""

import argparse
import csv
import io
import shlex

from sklearn.datasets import load_wine

from clusterforests._utils.files import replace_text


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
