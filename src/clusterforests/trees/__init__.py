"""Growing the forest: Algorithms 1 and 2, and lines 1 to 3 of Algorithm 3."""
