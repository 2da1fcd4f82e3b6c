"""File formats of tables, by the extensions of their names."""

from pathlib import Path

FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "arrow", "npy", "h5ad")
_EXTENSIONS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".h5ad": "h5ad",
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def format_of(path: str) -> str:
    """Return the format by the file's extension, before that of a compression; CSV if it is unknown."""
    name = Path(path)
    if compression_of(path) is not None:
        name = name.with_suffix("")
    return _EXTENSIONS.get(name.suffix.lower(), "csv")


def compression_of(path: str) -> str | None:
    """Return "gzip" or "zstd" by the file's extension; None if it has neither."""
    return _COMPRESSIONS.get(Path(path).suffix.lower())
