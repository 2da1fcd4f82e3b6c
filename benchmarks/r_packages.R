# Rscript r_packages.R TABLE SAMPLES GENES K SEED OUT
# TABLE holds doubles, sample after sample. OUT gets a line for each method: its name, the version, seconds and labels.
suppressMessages({
  library(clue)
  library(dbscan)
})
given <- commandArgs(trailingOnly = TRUE)
number <- function(i) as.integer(given[i])
x <- matrix(readBin(given[1], "double", number(2) * number(3)), nrow = number(2), ncol = number(3), byrow = TRUE)
k <- number(4)
of <- function(package) as.character(packageVersion(package))
# The best of several min_cluster_size is found by the caller, who knows the answer.
densities <- lapply(c(5, 10, 15, 20), function(size) function() hdbscan(x, minPts = size)$cluster)
names(densities) <- paste0("hdbscan", c(5, 10, 15, 20))
methods <- c(list(
  kmeans = function() kmeans(x, k, iter.max = 100, nstart = 100)$cluster,
  clue = function() {
    runs <- lapply(1:100, function(i) kmeans(x[sample(nrow(x), 0.8 * nrow(x)), ], k, iter.max = 100, nstart = 1))
    whole <- lapply(runs, function(run) as.cl_partition(cl_predict(run, x)))
    cl_class_ids(cl_consensus(cl_ensemble(list = whole), method = "SE", control = list(k = k)))
  }), densities)
packages <- c(kmeans = "stats", clue = "clue")
lines <- sapply(names(methods), function(name) {
  set.seed(number(5))
  took <- system.time(labels <- methods[[name]]())
  package <- if (name %in% names(packages)) packages[[name]] else "dbscan"
  paste(c(name, of(package), took[["user.self"]] + took[["sys.self"]], as.integer(labels)), collapse = " ")
})
writeLines(lines, given[6])
