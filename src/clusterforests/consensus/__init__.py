"""One clustering from many partitions: affinity, cuts, placement of rows (Algorithm 3, lines 4 to 8)."""
