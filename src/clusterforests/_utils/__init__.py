"""What every folder uses: random streams, portable mathematics, array types, rules of parameters, memory, files."""
