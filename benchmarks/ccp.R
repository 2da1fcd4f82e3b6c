# Rscript ccp.R TABLE SAMPLES GENES ALGORITHM DISTANCE MAX_K REPEATS SEED K OUT
# TABLE holds doubles, sample after sample. OUT gets lines of a name and numbers: what ConsensusClusterPlus found.
suppressMessages(library(ConsensusClusterPlus))
given <- commandArgs(trailingOnly = TRUE)
number <- function(i) as.integer(given[i])
d <- matrix(readBin(given[1], "double", number(2) * number(3)), nrow = number(3), ncol = number(2)) # genes in rows
d <- sweep(d, 1, apply(d, 1, median)) # as its vignette does
colnames(d) <- seq_len(ncol(d))
pdf(NULL)
took <- system.time(found <- suppressMessages(ConsensusClusterPlus(
  d, maxK = number(6), reps = number(7), pItem = 0.8, pFeature = 1, clusterAlg = given[4], distance = given[5],
  seed = number(8), plot = NULL, verbose = FALSE)))
k <- number(9)
told <- suppressMessages(calcICL(found, plot = NULL))
of_k <- function(frame) frame[frame$k == k, ]
clusters <- of_k(as.data.frame(told$clusterConsensus))
items <- of_k(told$itemConsensus)
own <- items[items$cluster == found[[k]]$consensusClass[as.character(items$item)], ]
own <- own[order(as.integer(as.character(own$item))), ]
pac <- sapply(2:number(6), function(k) {
  shares <- found[[k]]$consensusMatrix[lower.tri(found[[k]]$consensusMatrix)]
  mean(shares > 0.1 & shares < 0.9)
})
line <- function(name, values) paste(c(name, format(values, digits = 15, trim = TRUE, scientific = FALSE)), collapse = " ")
writeLines(c(
  line("seconds", took[["user.self"]] + took[["sys.self"]]), line("labels", found[[k]]$consensusClass),
  line("cluster_consensus", clusters$clusterConsensus), line("item_consensus", own$itemConsensus), line("pac", pac)
), given[10])
