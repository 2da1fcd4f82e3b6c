"""The story of a clustering: each cluster in plain English, and no claim that the numbers do not carry."""

from clusterforests.description.ambiguous_rows import DoubtfulPair, DoubtfulRows
from clusterforests.description.summary import ClusterStory, Summary, summarise
from clusterforests.description.traits import Trait

__all__ = ["ClusterStory", "DoubtfulPair", "DoubtfulRows", "Summary", "Trait", "summarise"]
