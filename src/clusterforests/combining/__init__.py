"""One clustering from many partitions (Algorithm 3, lines 6 to 8)."""
