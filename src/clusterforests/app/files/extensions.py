"""Formats of tables, and compressions, by the extensions of their files' names."""

from pathlib import Path

EXTENSIONS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "xlsx": (".xlsx", ".xlsm", ".xlsb"),
    "xls": (".xls",),
    "ods": (".ods",),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "npy": (".npy",),
    "h5ad": (".h5ad",),
}
FORMATS = tuple(EXTENSIONS)
WORKBOOKS = ("xlsx", "xls", "ods")
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}


def format_of(path: str) -> str:
    """Return the format by the file's extension, before that of a compression; CSV if it is unknown."""
    name = Path(path)
    ending = (name.with_suffix("") if compression_of(path) else name).suffix.lower()
    return next((kind for kind, endings in EXTENSIONS.items() if ending in endings), "csv")


def compression_of(path: str) -> str | None:
    """Return the compression by the file's extension; None if it is that of none."""
    return COMPRESSIONS.get(Path(path).suffix.lower())
