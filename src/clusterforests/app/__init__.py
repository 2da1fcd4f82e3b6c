"""What a person with a file uses: reading of messy columns, descriptions, the report, the command line."""
