"""A short name for each cluster, from what tells it apart."""

from clusterforests.story.traits import Trait
from clusterforests.story.words import capitalised

USUAL = 2  # traits in a name


def name_clusters(traits: list[tuple[Trait, ...]]) -> list[str]:
    """Suggest names, all different: by two traits, by more where that is not enough, or by the number."""
    names = [_joined(found, USUAL) for found in traits]
    for c, found in enumerate(traits):
        for count in range(USUAL + 1, len(found) + 1):
            if names.count(names[c]) > 1:
                names[c] = _joined(found, count)
    return [name if name and names.count(name) == 1 else f"{name or 'Cluster'} {c}" for c, name in enumerate(names)]


def _joined(traits: tuple[Trait, ...], count: int) -> str:
    return capitalised(", ".join(trait.name for trait in traits[:count])) if traits else ""
