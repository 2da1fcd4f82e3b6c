"""What every room uses: random streams, portable mathematics, array types, checks of parameters, memory, files."""
