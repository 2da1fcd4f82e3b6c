"""What a table is: frames, checks, encoding, imputation, scaling, rows read in blocks and sampled."""
