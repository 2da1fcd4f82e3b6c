"""Numbers in README.md and docs/ come from committed result files, or from the constants they describe."""

import re
from pathlib import Path

import pytest

from clusterforests._utils.memory import DEFAULT_LIMITS as SIZES
from clusterforests._utils.memory import WIDE
from clusterforests.consensus.settings import LIMITS
from clusterforests.table import row_sampling as sampling
from clusterforests.table import sparse_reduction as reduction

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FOREST = "A whole forest with the paper's settings, T = 100, one thread"
MILLION = "A million rows: a whole forest against one K-means"
WIDE_TABLES = "Many columns"
OTHER_LIMITS = {
    "README.md": {450_000},  # columns of the widest table that was timed
    "docs/many-rows.md": {SIZES.least_sample, SIZES.sample_cells // SIZES.sample_rows, reduction.MOST_ROWS, WIDE},
    "docs/dask.md": {round(SIZES.sample_rows / sampling.RARE, -3)},
}
NAMES = {  # the README's names of the methods, and those of the benchmarks
    "**ClusterForest, default**": "default",
    "UMAP, then K-means": "UMAP + KMeans",
    "locally weighted evidence accumulation": "LWEA",
    "Gaussian mixture, full": "GMM full",
    "evidence accumulation": "EAC",
    "K-means": "KMeans",
    "Gaussian mixture, diagonal": "GMM diag",
    "spectral clustering": "Spectral",
    "Ward": "Ward",
    "Lumbermark": "Lumbermark",
    "Genie": "Genie",
}
QUALITY = {  # the README's columns, in order: the section of a report, and the place of the mean in its lines
    "28 tables with noise features": ("benchmarks/noise/RESULTS.md", "Mean ARI by kind of noise", 6),
    "20 curved shapes": ("benchmarks/shapes/RESULTS.md", "Mean over the tables", 3),
    "45 real tables": ("benchmarks/quality/RESULTS.md", "All 45 sets: all 45 sets", 3),
    "of these, the even half of dev2": ("benchmarks/quality/RESULTS.md", "Even half of dev2: all 12 sets", 3),
    "11 real tables of KEEL that took no part": (
        "benchmarks/quality/RESULTS.md",
        "Eleven sets of KEEL: all 11 sets",
        3,
    ),
}


def section(path, title):
    """Return the text under a heading."""
    text = (ROOT / path).read_text()
    return re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#|\Z)", text, re.M | re.S)[1]


def rows(text):
    """Return the cells of the tables in a text, header rows included."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in lines if set("".join(cells)) - set("-")]


def plain(text):
    """Return a page as one line, whatever its line breaks."""
    return re.sub(r"\s+", " ", (ROOT / text).read_text())


def test_quality_of_readme():
    header, *table = rows(section("README.md", "Comparison with other methods"))[: 1 + len(NAMES)]
    assert header == ["method", *QUALITY]
    shown = {cells[0]: [cell.strip("*") for cell in cells[1:]] for cells in table}
    assert list(shown) == list(NAMES)
    for column, (path, title, place) in enumerate(QUALITY.values()):
        found = {cells[0].strip("*"): cells[place].strip("*") for cells in rows(section(path, title))}
        assert [means[column] for means in shown.values()] == [found[name] for name in NAMES.values()]
    noise = {cells[0].strip("*"): cells[6] for cells in rows(section(*QUALITY["28 tables with noise features"][:2]))}
    assert f"({noise['oracle']}); the best other method, sparse K-means, has {noise['Sparse KMeans']}" in README


def test_speed_of_readme():
    ratios = [int(cells[4].strip("*x")) for cells in rows(section("benchmarks/RESULTS.md", FOREST))[1:]]
    assert f"takes 1/{min(ratios)} to 1/{max(ratios)} of the time" in README
    million = {cells[0]: cells for cells in rows(section("benchmarks/SCALE.md", MILLION))}
    ours, peer = million["clusterforests"][1], million["scikit-learn `KMeans(5, n_init=20)`"][1]
    assert f"| a million rows, 20 features, two threads | {ours} s | {peer} s with 20 starts |" in README
    assert f"{ours} s for a million rows of 20 features on two cores" in plain("docs/faq.md")
    wide = [cells for cells in rows(section("benchmarks/SCALE.md", WIDE_TABLES)) if cells[0] == "500 x 450,000"]
    (ours, ours_gb), (peer, peer_gb) = ((cells[2], cells[4]) for cells in wide)
    assert (
        f"| 500 rows, 450,000 features, two threads | {ours} s, {ours_gb} GB | {peer} s with 20 starts, {peer_gb} GB |"
        in README
    )


def test_rare_group_of_many_rows():
    found = rows(section("benchmarks/SCALE.md", "A rare group"))[1:]
    kway = [cells for cells in found if "kway" in cells[0]]
    automatic = [cells for cells in found if cells[0] == "all automatic"]
    assert len(kway) == len(automatic) == 5
    words = ("none", "one", "two", "three", "four", "all")
    whole = sum(float(cells[2]) > 0.9 and float(cells[3]) > 0.9 for cells in automatic)
    assert f"all is found with {words[whole]} of five seeds" in plain("docs/many-rows.md")
    assert "a sixth group of 0.2 % of them, like the first but 10 standard deviations away in two features" in plain(
        "benchmarks/SCALE.md"
    )


@pytest.mark.parametrize("path", ["README.md", "docs/many-rows.md", "docs/dask.md", "docs/gpu.md"])
def test_limits(path):
    """Sizes from which something changes are those of the code."""
    limits = {
        SIZES.large_rows,
        SIZES.sample_rows,
        LIMITS.exact,
        LIMITS.exact_without_matrix,
        LIMITS.landmarks,
    }
    limits |= {sampling.CANDIDATES * SIZES.sample_rows} | OTHER_LIMITS.get(path, set())
    known = {f"{limit:,.0f}" for limit in limits}
    shown = set(re.findall(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])", plain(path)))
    assert shown <= known
    assert {f"{SIZES.large_rows:,}", f"{SIZES.sample_rows:,}"} <= shown


def test_gpu():
    page, gpu = plain("docs/gpu.md"), "benchmarks/GPU.md"
    fits = {(c[0], c[1]): float(c[2].strip("*s ")) for c in rows(section(gpu, "Whole fit"))[1:]}
    first = {c[0]: float(c[2].strip("s ")) for c in rows(section(gpu, "First fit of a process"))[1:]}
    new = {c[0].strip("`"): float(c[1].strip("s ")) for c in rows(section(gpu, "New rows, and how sure rows are"))[1:]}
    peers = {c[0]: c[1] for c in rows(section(gpu, "K-means on the GPU"))}
    assert f"columns in {fits['10,000,000', 'defaults']:.2f} s" in page
    assert f"in {first['compiled before']:.2f} s" in page
    assert f"100 million (8 GB) in {fits['100,000,000', 'defaults']:.1f} s" in page
    assert (
        f"`predict` of a million rows in {new['predict']:.2f} s, `memberships_` in {new['memberships_']:.2f} s" in page
    )
    flash = float(peers["flash-kmeans"].strip("s "))
    assert f"by flash-kmeans, on the same GPU, takes {flash:.2f} s" in page
    assert 20 * flash > fits["10,000,000", "defaults"]  # "would take longer than the forest"
    highest = {}
    for _, kernel, *shares in rows(section(gpu, "Hardware counters"))[1:]:
        highest.setdefault(kernel.strip("`"), []).append([int(share.strip("* %")) for share in shares])
    issued = [shares[0] for shares in highest["label_rows"]]
    assert (
        f"`project` reaches {max(shares[3] for shares in highest['project'])} % of the throughput of the level 1"
        in page
    )
    assert f"issues {min(issued)} to {max(issued)} % of the instructions" in page


def test_tables_without_clusters_in_the_page_on_choosing_k():
    table = rows(section("benchmarks/how_many/RESULTS.md", "Structureless tables"))
    found = dict(zip(table[0], table[-1], strict=True))
    ours, hdbscan, mixture = (found[name] for name in ("auto", "HDBSCAN", "GMM full + BIC"))
    said = f"on {ours} drawn tables without clusters, where HDBSCAN is on {hdbscan.split()[0]} and a Gaussian mixture"
    assert f"{said} chosen by BIC on {mixture.split()[0]}." in plain("docs/choosing-k.md")
