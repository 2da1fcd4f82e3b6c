"""File formats of tables, by the extensions of their names."""

from pathlib import Path

FORMATS = ("csv", "tsv", "parquet", "arrow", "npy")
_EXTENSIONS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
}


def format_of(path: str) -> str:
    """Return the format by the file's extension; CSV if it is unknown."""
    return _EXTENSIONS.get(Path(path).suffix.lower(), "csv")
