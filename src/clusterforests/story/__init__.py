"""The story of a clustering: each cluster in plain English, and no claim that the numbers do not carry."""

from clusterforests.story.doubtful_rows import DoubtfulPair, DoubtfulRows
from clusterforests.story.summary import ClusterStory, Summary, summarise
from clusterforests.story.traits import Trait

__all__ = ["ClusterStory", "DoubtfulPair", "DoubtfulRows", "Summary", "Trait", "summarise"]
