"""The options of each command. These modules import nothing that takes long, so that `--help` answers at once."""
