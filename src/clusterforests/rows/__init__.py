"""Where rows are: in memory, in local blocks, in Dask, on a GPU."""
