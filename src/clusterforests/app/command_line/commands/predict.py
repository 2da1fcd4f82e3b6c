"""`clusterforests predict`: find the clusters of other rows with a saved model."""

import argparse
import time
from functools import partial
from typing import Any

import numpy as np

from clusterforests.app.command_line.label_files import formula_notes, labels_format, membership_column, write_labels
from clusterforests.app.command_line.model_table import read_for_model
from clusterforests.app.command_line.outputs import STDOUT, Outputs
from clusterforests.app.command_line.screen import Screen, naming_file
from clusterforests.app.command_line.summary import as_json, row_facts, score, score_lines
from clusterforests.app.files import row_name
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.inspection.memberships import own_membership


def run_predict(given: argparse.Namespace) -> int:
    """Read, predict, write, and print a summary."""
    screen = Screen(given)
    out = given.out if given.out is not None or given.json else STDOUT
    outputs = Outputs({"MODEL": given.model, "DATA": given.data}, {"--out": out})
    form = labels_format(out)
    forest = ClusterForest.load(given.model).set_params(n_jobs=given.threads or -1)
    if given.clusters is not None:
        with naming_file(given.model):
            forest = forest.recut(given.clusters)
    data = read_for_model(view_of(forest), given, screen)
    for note in formula_notes(out, data):
        screen.note(note)
    started = time.perf_counter()
    naming = naming_file(given.data, partial(row_name, data))
    with screen.warnings_as_notes(), naming, screen.stage("placing the rows"):
        labels = forest.predict(data.table)
        own = membership_column(own_membership(forest.predict_proba(data.table), labels), labels)
    seconds = time.perf_counter() - started
    scores = score(data.truth, labels)
    with outputs:
        outputs.write("--out", lambda path: write_labels(path, data, labels, own, form))
        if given.json:
            facts: dict[str, Any] = {"data": given.data, "model": given.model, "rows": len(labels)}
            facts["clusters"] = int(forest.n_clusters_)
            facts["outliers"] = int((labels < 0).sum())
            sizes = np.bincount(labels[labels >= 0], minlength=forest.n_clusters_)
            rows = row_facts(data, labels) if out is None else {"files": {"out": str(out)}}
            facts |= {"sizes": sizes, "scores": scores, "seconds": seconds, "notes": screen.notes}
            screen.show(as_json({**facts, **rows}))
    lines = [f"{given.data}: {len(labels)} rows in {forest.n_clusters_} clusters", *score_lines(scores, given.label)]
    screen.tell(lines + ([f"wrote {outputs.files[0]}"] if outputs.files else []), on_stderr=True)
    return 0
