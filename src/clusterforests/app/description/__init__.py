"""The description of a clustering: each cluster in plain English, and no claim that the numbers do not carry."""

from clusterforests.app.description.ambiguous_rows import AmbiguousPair, AmbiguousRows
from clusterforests.app.description.description import ClusterDescription, Description, describe
from clusterforests.app.description.traits import Trait

__all__ = ["AmbiguousPair", "AmbiguousRows", "ClusterDescription", "Description", "Trait", "describe"]
