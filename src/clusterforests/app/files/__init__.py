"""Files of many formats as pandas frames of raw cells, whose meaning `TableReader` finds."""
