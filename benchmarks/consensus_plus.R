# Rscript consensus_plus.R TABLE ROWS FEATURES ALGORITHM MAX_K K REPEATS SEED LABELS
# TABLE holds doubles, row after row; LABELS gets one label a line after the seconds that ConsensusClusterPlus took.
suppressMessages(library(ConsensusClusterPlus))
given <- commandArgs(trailingOnly = TRUE)
size <- as.integer(given[2:3])
X <- matrix(readBin(given[1], "double", prod(size)), nrow = size[2], ncol = size[1])  # features in rows
pdf(NULL)
distance <- if (given[4] == "km") "euclidean" else "pearson"
took <- system.time(found <- suppressMessages(ConsensusClusterPlus(
  X, maxK = as.integer(given[5]), reps = as.integer(given[7]), pItem = 0.8, clusterAlg = given[4],
  distance = distance, seed = as.integer(given[8]), plot = NULL, verbose = FALSE)))
labels <- found[[as.integer(given[6])]]$consensusClass
writeLines(c(sprintf("%.3f", took[["user.self"]] + took[["sys.self"]]), labels), given[9])
