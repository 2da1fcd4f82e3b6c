"""`clusterforests report`: write a page about a saved model."""

import argparse
from pathlib import Path

from clusterforests.cli.arguments import EXIT_CODES, add_data_options, add_run_options, target
from clusterforests.cli.model_table import read_for_model
from clusterforests.cli.outputs import Outputs
from clusterforests.cli.screen import Screen
from clusterforests.cli.summary import as_json
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.report import write_report

EXAMPLES = """examples:
  clusterforests report model.cf data.csv --out report.html
  clusterforests report model.cf data.csv --id sample --label diagnosis

DATA is the table that the model was fitted on, with its rows in the same order.

"""


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = "Write a page about a saved model: one HTML file that needs no network."
    parser.epilog = EXAMPLES + EXIT_CODES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    add("data", metavar="DATA", help="the table it was fitted on; - is standard input")
    page = Path("report.html")
    add("--out", metavar="FILE", type=target, default=page, help=f"the page to write (default: {page})")
    add("--title", help="heading of the page")
    add_data_options(parser, fitting=False)
    add_run_options(parser)
    parser.set_defaults(run=run_report)


def run_report(given: argparse.Namespace) -> int:
    """Read the model and its table, and write the page."""
    screen = Screen(given)
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": given.out})
    forest = ClusterForest.load(given.model).set_params(n_jobs=given.threads or -1)
    data = read_for_model(view_of(forest), given, screen)
    title = given.title or (None if given.data == "-" else f"Clusters of {Path(given.data).name}")

    def write_page(path: Path) -> None:
        write_report(forest, data.table, path, ids=data.ids, truth=data.truth, title=title, command=given.command_line)

    with outputs, screen.warnings_as_notes():
        outputs.write("--out", write_page)
    if given.json:
        screen.show(as_json({"data": given.data, "model": given.model, "files": {"out": str(given.out)}}))
    screen.tell([f"wrote {given.out}"])
    return 0
