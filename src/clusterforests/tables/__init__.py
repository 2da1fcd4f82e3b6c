"""What a table is: frames, encoding, imputation, scaling, reading in blocks."""
