"""How many clusters a table has."""
