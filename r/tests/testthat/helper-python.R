# Whoever names a Python has clusterforests there: only without that are tests skipped.
needs_python <- function() {
  there <- have_clusterforests()
  if (!there && nzchar(Sys.getenv("RETICULATE_PYTHON"))) stop(clusterforests:::not_there())
  skip_if_not(there, "Python's clusterforests is not there")
}

# Run a script in another process of Python, which writes what `save` is given as doubles; read these.
from_python <- function(lines) {
  script <- tempfile(fileext = ".py")
  out <- tempfile()
  head <- c(
    "import sys", "import warnings", "import numpy as np", "import pandas as pd",
    "from clusterforests import ClusterForest, TableReader", "from sklearn.pipeline import make_pipeline",
    "warnings.simplefilter('ignore')", "parts = []",
    "save = lambda values: parts.append(np.asarray(values, dtype='<f8').ravel(order='F'))"
  )
  writeLines(c(head, lines, "np.concatenate(parts).tofile(sys.argv[1])"), script)
  stopifnot(system2(reticulate::py_config()$python, c(script, out)) == 0)
  readBin(out, "double", file.size(out) / 8, endian = "little")
}

SAVE <- paste0(
  "for name in ('labels_', 'memberships_', 'item_consensus_', 'cluster_consensus_', 'feature_importances_', ",
  "'feature_pvalues_'): save(getattr(forest, name))"
)

in_that_order <- function(fit) {
  as.double(unname(c(
    as.integer(fit$cluster) - 1L, fit$memberships, fit$consensus, fit$cluster_consensus, fit$importance, fit$p_value
  )))
}

measured <- function() as.matrix(iris[, 1:4])
