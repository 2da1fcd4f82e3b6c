"""What a command reports about clusters: lines for people, or JSON for programs."""

import json
import math
import textwrap
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.cluster_table import ClusteredTable
from clusterforests.app.description.clustering import agreement

SHOWN_CLUSTERS = 20
SHOWN_FEATURES = 10
WIDTH = 76  # of sentences, in characters


def score(classes: list[Any] | None, labels: AnyArray) -> dict[str, float] | None:
    """Measure the agreement with known classes, over the rows that have one."""
    if classes is None:
        return None
    known = [i for i, name in enumerate(classes) if name is not None]
    if not known:
        raise ValueError("The column that --label names has no values. Leave --label out.")
    return agreement([str(classes[i]) for i in known], labels[known])


def fit_facts(found: ClusteredTable, scores: dict[str, float] | None, seconds: float) -> dict[str, Any]:
    """Collect everything that is reported about a fit."""
    forest, labels = found.forest, found.labels.to_numpy()
    names = [str(name) for name in getattr(found.typed, "columns", range(1, forest.n_features_in_ + 1))]
    if not hasattr(found.typed, "columns"):
        names = [f"column {name}" for name in names]
    importances = dict(zip(names, forest.feature_importances_.tolist(), strict=True))
    evidence = forest.n_clusters_evidence_
    return {
        "data": found.rows.file.name,
        "rows": len(labels),
        "features": forest.n_features_in_,
        "trees": len(forest.partitions_),
        "clusters": int(forest.n_clusters_),
        "why": forest.chosen_params_["n_clusters"].reason,
        "evidence": None if evidence is None else {"clusters": list(evidence.candidates), **evidence.evidence},
        "repeats": [names[j] for j in forest.dominant_features_],
        "sizes": np.bincount(labels[labels >= 0], minlength=forest.n_clusters_),
        "outliers": int((labels < 0).sum()),
        "cluster_consensus": forest.cluster_consensus_,
        "stability": _stability(forest),
        "feature_importances": importances,
        "feature_pvalues": dict(zip(names, forest.feature_pvalues_.tolist(), strict=True)),
        "informative_features": sorted((n for n in names if importances[n] > 0), key=lambda n: -importances[n]),
        "description": found.description,
        "settings": {name: choice.value for name, choice in forest.chosen_params_.items()},
        "scores": scores,
        "seconds": seconds,
    }


def _stability(forest: Any) -> float | None:
    """Return the stability; None where there is one cluster, or too little to split."""
    try:
        return None if forest.n_clusters_ == 1 else float(forest.stability().mean)
    except ValueError:
        return None


def fit_lines(facts: dict[str, Any], label: str | None) -> list[str]:
    """Write the summary of a fit."""
    lines = [
        f"{facts['data']}: {_count(facts['rows'], 'row')}, {_count(facts['features'], 'feature')} -> "
        f"{_count(facts['clusters'], 'cluster')} by {_count(facts['trees'], 'tree')} in {facts['seconds']:.1f} s"
    ]
    if facts["why"] != "given":
        lines += textwrap.wrap(facts["why"], WIDTH + 2, initial_indent="  ", subsequent_indent="  ")
    description = facts["description"]
    lines += ["", *_indented(textwrap.wrap(description.answer, WIDTH))]
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
    informative = facts["informative_features"]
    if informative:
        lines += ["", "  share of the variance of informative features between clusters that were"]
        lines.append("  found without them, above chance:")
    lines += [
        f"  {100 * facts['feature_importances'][name]:6.1f} %   {_printable(name)}"
        for name in informative[:SHOWN_FEATURES]
    ]
    if len(informative) > SHOWN_FEATURES:
        lines.append(f"  ... and {len(informative) - SHOWN_FEATURES} more")
    return lines + score_lines(facts["scores"], label) + _indented(description.caveat_lines(WIDTH))


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


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "to_dict"):  # a description
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


def _indented(lines: list[str]) -> list[str]:
    return [f"  {_printable(line)}" if line else "" for line in lines]


def _printable(text: str) -> str:
    """Show characters that would move the cursor as their codes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
