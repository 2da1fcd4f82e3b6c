"""Our own settings under test, in one place: every benchmark reads this dictionary."""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any, NamedTuple

DEFAULT = "default"
BEFORE = "default before"  # rows of the default before the forest learned which features tell; never computed again
AUTO = "auto"  # the default that is not told K


class Variant(NamedTuple):
    """Keyword arguments of ClusterForest, and constants or functions of the package that are replaced for a fit."""

    settings: dict[str, Any]
    replaced: dict[str, Any] = {}  # noqa: RUF012


def _without(kind: str) -> dict[str, Any]:
    """Put trees of whole tables in the place of a kind of trees."""
    usual = ["whole", "ranks", "whitened", "whole", "ranks", "whitened", "whole", "ranks", "whitened", "whole"]
    few = ["whole", "fine", "ranks", "whitened", "fine", "whole", "ranks", "whitened", "fine", "whole"]
    names = ("forest.varied.KINDS", usual), ("forest.varied.KINDS_OF_FEW", few)
    return {name: tuple("whole" if one == kind else one for one in kinds) for name, kinds in names}


def _nobody_used_anything(rows: Any, views: Any, labels: Any, used: Any) -> Any:
    scores = importlib.import_module("clusterforests.feature_screening.out_of_bag_scores")
    return scores.score_features(rows, views, labels, 0 * used > 0)


def _one_mode(rows: Any, columns: Any) -> Any:
    return columns != columns


# The first is what users get; each other one switches off one part.
VARIANTS: dict[str, Variant] = {
    DEFAULT: Variant({}),
    "no search for features": Variant({"select_features": False}),
    "one round": Variant({}, {"signal.search.ROUNDS": 1}),
    "no start from pairs": Variant({}, {"signal.search._only_sure": lambda weights, *_: weights}),
    "scores not honest": Variant({}, {"signal.search.score_features": _nobody_used_anything}),
    "modes do not tell": Variant({}, {"signal.search.several_modes": _one_mode}),
    "near-copies vouch": Variant({}, {"signal.search.COPY": 2.0}),
    "no ranks": Variant({}, _without("ranks")),
    "no whitened draws": Variant({}, _without("whitened")),
    "whole tables only": Variant({}, {"forest.varied.KINDS": ("whole",), "forest.varied.KINDS_OF_FEW": ("whole",)}),
    "no fine trees": Variant({"trees": "varied"}),
    "grown trees": Variant({"trees": "grown"}),
    "z-scores only": Variant({"scale": "standard"}),
    "cut not refined": Variant({}, {"combining.registry.refine": lambda backend, signatures, groups: groups}),
    "dense parts not held back": Variant({}, {"combining.graph.HELD_BACK": 0.0}),
    "medoid of three cuts": Variant({"consensus": "medoid"}),
    "recursive cuts": Variant({"consensus": "ncut"}),
}
# Those that are run only where they are named.
UNLISTED = {BEFORE: Variant({}), AUTO: Variant({"n_clusters": "auto"})}


@contextlib.contextmanager
def replaced(names: dict[str, Any]) -> Iterator[None]:
    """Replace constants and functions of the package for a while."""
    places = [(importlib.import_module(f"clusterforests.{name.rpartition('.')[0]}"), name) for name in names]
    before = [getattr(module, name.rpartition(".")[2]) for module, name in places]
    for (module, name), value in zip(places, names.values(), strict=True):
        setattr(module, name.rpartition(".")[2], value)
    try:
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name.rpartition(".")[2], value)
