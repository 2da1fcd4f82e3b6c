"""What a command reports about a forest: lines for people, or JSON for programs."""

import json
import math
import textwrap
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.description import Description
from clusterforests.app.description.clustering import Clustering, measure
from clusterforests.app.description.described_table import read_table
from clusterforests.app.description.description import describe_clusters
from clusterforests.app.description.sentences import informative_features
from clusterforests.app.files import DataFile
from clusterforests.forest_view import ForestView
from clusterforests.inspection import pac
from paper.metrics import clustering_accuracy, rand_index

SHOWN_CLUSTERS = 20
SHOWN_FEATURES = 10
WIDTH = 76  # of sentences, in characters


def score(truth: list[str | None] | None, labels: AnyArray) -> dict[str, float] | None:
    """Measure the agreement with known classes, over the rows that have one."""
    if truth is None:
        return None
    known = [i for i, name in enumerate(truth) if name is not None]
    if not known:
        raise ValueError("The column that --label names has no values. Leave --label out.")
    classes = np.unique([str(truth[i]) for i in known], return_inverse=True)[1]
    mine = labels[known]
    return {
        "rows": len(known),
        "rand_index": float(rand_index(classes, mine)),
        "adjusted_rand_index": float(adjusted_rand_score(classes, mine)),
        "accuracy": float(clustering_accuracy(classes, mine)),
    }


def fit_facts(
    name: str, data: DataFile, view: ForestView, scores: dict[str, float] | None, seconds: float
) -> dict[str, Any]:
    """Collect everything that is reported about a fit."""
    forest = view.forest
    clustering = measure(forest)
    table = read_table(clustering, data.table, None, data.ids, forest.columns_)
    names = view.feature_names or [f"column {j}" for j in range(1, view.n_features + 1)]
    return {
        "data": name,
        "rows": len(view.labels),
        "features": view.n_features,
        "trees": view.n_trees,
        "clusters": view.n_clusters,
        "why": view.settings["n_clusters"].reason,
        "evidence": _evidence(view),
        "repeats": [names[j] for j in view.repeated_features],
        "sizes": clustering.sizes,
        "outliers": clustering.n_outliers,
        "cluster_consensus": view.cluster_consensus(),
        **_agreement_of_halves(clustering),
        "feature_importances": dict(zip(names, view.feature_importances.tolist(), strict=True)),
        "feature_pvalues": dict(zip(names, view.feature_pvalues.tolist(), strict=True)),
        "informative_features": [
            names[j] for j in np.argsort(-view.feature_importances) if view.feature_importances[j] > 0
        ],
        "about_features": informative_features(view.forest, table, "feature"),
        "description": describe_clusters(clustering, table),
        "settings": {setting: choice.value for setting, choice in view.settings.items()},
        "scores": scores,
        "seconds": seconds,
    }


def _evidence(view: ForestView) -> dict[str, Any] | None:
    """List the numbers of clusters that were judged, and the measures of each; None if the number was given."""
    found = view.n_clusters_evidence
    return None if found is None else {"clusters": list(found.candidates), **found.evidence}


def _agreement_of_halves(found: Clustering) -> dict[str, float | None]:
    """Measure stability and PAC; None where there is one cluster, or too little to split."""
    if found.halves is None or found.stability is None or found.n_clusters == 1:
        return {"stability": None, "pac": None}
    return {"stability": found.stability.mean, "pac": pac(found.halves)}


def fit_lines(facts: dict[str, Any], label: str | None) -> list[str]:
    """Write the summary of a fit."""
    lines = [
        f"{facts['data']}: {_count(facts['rows'], 'row')}, {_count(facts['features'], 'feature')} -> "
        f"{_count(facts['clusters'], 'cluster')} by {_count(facts['trees'], 'tree')} in {facts['seconds']:.1f} s"
    ]
    if facts["why"] != "given":
        lines += textwrap.wrap(facts["why"], 78, initial_indent="  ", subsequent_indent="  ")
    description: Description = facts["description"]
    lines += _indented(description.cluster_lines(WIDTH, SHOWN_CLUSTERS))
    lines += ["", "  cluster     rows   mean membership of its rows"]
    for cluster, (size, share) in enumerate(zip(facts["sizes"], facts["cluster_consensus"], strict=True)):
        if cluster == SHOWN_CLUSTERS:
            lines.append(f"  ... and {facts['clusters'] - SHOWN_CLUSTERS} more")
            break
        sure = "  -" if math.isnan(share) else f"{100 * share:3.0f} %"
        lines.append(f"  {cluster:7d}  {size:7d}   {sure}")
    if facts["outliers"]:
        lines.append(f"       -1  {facts['outliers']:7d}   apart from every cluster")
    if facts["stability"] is not None:
        lines += [
            "",
            f"  stability {facts['stability']:.2f} (1: halves of the forest find the same clusters, 0: chance), "
            f"ambiguous pairs {facts['pac']:.0%}",
        ]
    informative = facts["informative_features"]
    lines += ["", f"  {facts['about_features']}"]
    if informative:
        lines.append("  share of their variance between clusters found without them, above chance:")
    lines += [
        f"  {100 * facts['feature_importances'][name]:6.1f} %   {_printable(name)}"
        for name in informative[:SHOWN_FEATURES]
    ]
    if len(informative) > SHOWN_FEATURES:
        lines.append(f"  ... and {len(informative) - SHOWN_FEATURES} more")
    return lines + score_lines(facts["scores"], label) + _indented(description.caveat_lines(WIDTH))


def _indented(lines: list[str]) -> list[str]:
    return [f"  {_printable(line)}" if line else "" for line in lines]


def score_lines(scores: dict[str, float] | None, label: str | None) -> list[str]:
    """Write the agreement with known classes, if there are any."""
    if scores is None:
        return []
    return [
        "",
        f"  agreement with {_printable(str(label))}, {_count(int(scores['rows']), 'row')}",
        f"  {100 * scores['rand_index']:6.1f} %   Rand index",
        f"  {scores['adjusted_rand_index']:6.3f}     adjusted Rand index",
        f"  {100 * scores['accuracy']:6.1f} %   accuracy",
    ]


def as_json(facts: dict[str, Any]) -> str:
    """Write facts as one line of JSON; what is not finite becomes null."""
    return json.dumps(_plain(facts), allow_nan=False, ensure_ascii=False)


def row_facts(data: DataFile, labels: AnyArray) -> dict[str, Any]:
    """Collect the labels, for JSON without a file of labels."""
    return {"ids": data.ids, "labels": labels}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Description):
        return _plain(value.to_dict())
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _printable(text: str) -> str:
    """Show characters that would move the cursor as their codes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
