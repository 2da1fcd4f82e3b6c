"""Configure the documentation site, built by `make docs`."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import clusterforests

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "clusterforests"
author = "The clusterforests developers"
copyright = author
version = release = clusterforests.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "stacked_tables",
]
nitpicky = True
exclude_patterns = ["_*", "**sg_execution_times.rst"]
templates_path = ["_templates"]
highlight_language = "none"
default_role = "literal"
smartquotes = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

numpydoc_show_class_members = False
autodoc_typehints = "none"  # the docstrings give the types
autodoc_default_options = {"members": True, "inherited-members": "tuple"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"wine\.py",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "doc_module": ("clusterforests",),
    "reference_url": {"clusterforests": None},
    "backreferences_dir": None,
}

html_theme = "pydata_sphinx_theme"
html_title = "clusterforests"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries would be fetched, which pages opened from disk may not do
html_sidebars = {page: [] for page in ("index", "start", "comparison", "gallery/plot_01_tutorial")}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "clusterforests"},
    "navbar_align": "left",
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Files outside this folder that are pages of the site.
OUTSIDE = {
    "../benchmarks/results/speed.md": "benchmarks/speed.md",
    "../benchmarks/results/scale.md": "benchmarks/scale.md",
    "../benchmarks/results/dask.md": "benchmarks/dask.md",
    "../benchmarks/results/anndata.md": "benchmarks/anndata.md",
    "../benchmarks/results/ccp.md": "benchmarks/ccp.md",
    "../benchmarks/results/gpu.md": "benchmarks/gpu.md",
    "../benchmarks/results/outliers.md": "benchmarks/outliers.md",
    "../benchmarks/results/guidance.md": "benchmarks/guidance.md",
    "../benchmarks/results/choosing_k.md": "benchmarks/choosing-k.md",
    "../benchmarks/results/quality.md": "benchmarks/quality.md",
    "../benchmarks/results/noise.md": "benchmarks/noise.md",
    "../benchmarks/results/shapes.md": "benchmarks/shapes.md",
    "../paper/README.md": "reproduction.md",
    "../paper/THEORY.md": "theory.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
}


def link_inside(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Point links to these files of the repository, and to examples, at the pages of the site."""
    for file, page in OUTSIDE.items():
        source[0] = source[0].replace(f"]({file}", f"]({page}")
    source[0] = re.sub(r"\]\(\.\./examples/(plot_\w+)\.py", r"](gallery/\1.rst", source[0])


def skip_foreign(_app: Sphinx, _what: str, _name: str, member: object, skip: bool, _options: object) -> bool | None:
    """Leave out what estimators inherit from scikit-learn, which documents it."""
    module = getattr(member, "__module__", None) or ""
    return True if module.startswith("sklearn") else None


def setup(app: Sphinx) -> None:
    app.connect("source-read", link_inside)
    app.connect("autodoc-skip-member", skip_foreign)
