library(testthat)
library(clusterforests)

test_check("clusterforests")
