"""`clusterforests report`: write a page about a saved model."""

import argparse
from functools import partial
from pathlib import Path

from clusterforests.app.command_line.model_table import read_for_model
from clusterforests.app.command_line.outputs import Outputs
from clusterforests.app.command_line.screen import Screen, naming_file
from clusterforests.app.command_line.summary import as_json
from clusterforests.app.files import row_name
from clusterforests.app.report import write_report
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of


def run_report(given: argparse.Namespace) -> int:
    """Read the model and its table, and write the page."""
    screen = Screen(given)
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": given.out})
    forest = ClusterForest.load(given.model).set_params(n_jobs=given.threads or -1)
    data = read_for_model(view_of(forest), given, screen)
    title = given.title or (None if given.data == "-" else f"Clusters of {Path(given.data).name}")

    def write_page(path: Path) -> None:
        write_report(forest, data.table, path, ids=data.ids, truth=data.truth, title=title, command=given.command_line)

    naming = naming_file(given.data, partial(row_name, data))
    with outputs, screen.warnings_as_notes(), naming, screen.stage(f"writing {given.out}"):
        outputs.write("--out", write_page)
    if given.json:
        screen.show(
            as_json({"data": given.data, "model": given.model, "notes": screen.notes, "files": {"out": str(given.out)}})
        )
    screen.tell([f"wrote {given.out}"])
    return 0
