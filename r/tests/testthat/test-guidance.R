test_that("pairs and known classes are kept", {
  needs_python()
  x <- measured()
  fit <- cluster_forest(x, 3, must_link = rbind(c(1, 150), c(150, 60)), cannot_link = cbind(2, 3), seed = 0)
  expect_true(all(fit$cluster[c(1, 150)] == fit$cluster[60]))
  expect_false(fit$cluster[2] == fit$cluster[3])
  rownames(x) <- paste0("flower", 1:150)
  named <- data.frame(a = c("flower1", "flower150"), b = c("flower150", "flower60"))
  again <- cluster_forest(x, 3, must_link = named, cannot_link = cbind("flower2", "flower3"), seed = 0)
  expect_identical(again$memberships, `rownames<-`(fit$memberships, rownames(x)))
  known <- iris$Species
  known[-c(1, 51, 101)] <- NA
  fit <- cluster_forest(x, 3, known_labels = known, seed = 0)
  expect_identical(anyDuplicated(fit$cluster[c(1, 51, 101)]), 0L)
  expect_match(summary(fit)$text, "3 rows in the clusters of their known classes")
})

test_that("what cannot be kept is refused with rows that are counted from 1", {
  needs_python()
  x <- measured()
  expect_error(
    cluster_forest(x, 3, must_link = cbind(1, 2), cannot_link = cbind(1, 2)),
    "row 1 and row 2 are to be apart, but are joined by row 1 - row 2"
  )
  expect_error(cluster_forest(x, 3, must_link = cbind(1, 151)), "must_link has \"151\", which is not a row of x, 1 to 150")
  expect_error(cluster_forest(x, 3, must_link = cbind(1, 1.5)), "which is not a row of x")
  expect_error(cluster_forest(x, 3, cannot_link = cbind("a", "b")), "cannot_link has \"a\", which is not a row name of x")
  expect_error(cluster_forest(x, 3, must_link = 1:4), "must_link must have two columns")
  classes <- rep(NA, 150)
  classes[1:2] <- c("the row 7", "b")
  expect_error(cluster_forest(x, 3, must_link = cbind(1, 2), known_labels = classes), "'the row 7'", fixed = TRUE)
  fit <- cluster_forest(unname(x), 3, seed = 0, n_estimators = 20)
  x[5, 2] <- Inf
  expect_error(cluster_forest(unname(x), 3), "infinity in row 5, column 2", fixed = TRUE)
  expect_error(predict(fit, unname(x)), "infinity in row 5, column 2", fixed = TRUE)
  expect_error(cluster_forest(x, 3, known_labels = "a"), "known_labels must have an entry for each of the 150 rows")
})
