# Results are those of Python, to the last bit.

test_that("a matrix gives what it gives in Python", {
  needs_python()
  file <- tempfile()
  writeBin(as.vector(measured()), file, endian = "little")
  there <- from_python(c(
    sprintf("X = np.fromfile(%s, '<f8').reshape((150, 4), order='F')", encodeString(file, quote = "'")),
    "forest = ClusterForest(3, random_state=7, n_estimators=50).fit(X)", SAVE, "forest = forest.recut(5)", SAVE,
    "save(forest.predict(X[::3])); save(forest.predict_proba(X[::3]))"
  ))
  fit <- cluster_forest(measured(), 3, seed = 7, n_estimators = 50)
  five <- recut(fit, 5)
  some <- measured()[seq(1, 150, 3), ]
  new <- c(as.integer(predict(five, some)) - 1, predict(five, some, type = "membership"))
  expect_identical(c(in_that_order(fit), in_that_order(five), as.double(new)), there)
})

test_that("a data frame of all kinds of columns gives what it gives in Python", {
  needs_python()
  there <- from_python(c(
    "i = np.arange(90)",
    "frame = pd.DataFrame({",
    "  'number': np.where(i % 11 == 3, np.nan, i // 30 * 5 + i * 7 % 13 / 4),",
    "  'whole': np.where(i % 17 == 2, np.nan, i // 30 * 4 + i * 5 % 7),",
    "  'yes': pd.array([None if k == 4 else k % 3 == 0 for k in i], dtype='boolean'),",
    "  'group': pd.Categorical([None if k == 5 else 'abc'[k // 30] for k in i], categories=['a', 'b', 'c']),",
    "  'size': pd.Categorical(['SML'[k // 30] for k in i], categories=['S', 'M', 'L'], ordered=True),",
    "  'day': pd.to_datetime('2020-01-31') + pd.to_timedelta(i * 9 % 61 + i // 30 * 100, unit='D'),",
    "  'time': pd.to_datetime('2021-05-05 10:00:00') + pd.to_timedelta(i * 31 % 77 * 3600.5, unit='s'),",
    "  'text': [None if k == 8 else ['red', 'blue', 'grün'][k * 3 // 91] for k in i],",
    "})",
    "frame.loc[7, 'day'] = pd.NaT",
    "model = make_pipeline(TableReader(), ClusterForest(3, random_state=0, n_estimators=50)).fit(frame)",
    "forest = model[-1]", SAVE, "save(model.predict(frame.iloc[10:50]))"
  ))
  i <- 0:89
  frame <- data.frame(
    number = ifelse(i %% 11 == 3, NA, i %/% 30 * 5 + (i * 7) %% 13 / 4),
    whole = as.integer(ifelse(i %% 17 == 2, NA, i %/% 30 * 4 + (i * 5) %% 7)),
    yes = ifelse(i == 4, NA, i %% 3 == 0),
    group = factor(ifelse(i == 5, NA, c("a", "b", "c")[i %/% 30 + 1])),
    size = factor(c("S", "M", "L")[i %/% 30 + 1], levels = c("S", "M", "L"), ordered = TRUE),
    day = as.Date("2020-01-31") + (i * 9) %% 61 + i %/% 30 * 100,
    time = as.POSIXct("2021-05-05 10:00:00", tz = "UTC") + (i * 31) %% 77 * 3600.5,
    text = ifelse(i == 8, NA, c("red", "blue", "gr\u00fcn")[(i * 3) %/% 91 + 1]),
    stringsAsFactors = FALSE
  )
  frame$day[8] <- NA
  fit <- suppressWarnings(cluster_forest(frame, 3, seed = 0, n_estimators = 50))
  expect_identical(c(in_that_order(fit), as.double(predict(fit, frame[11:50, ])) - 1), there)
})

test_that("a sparse matrix gives what it gives in Python", {
  needs_python()
  skip_if_not_installed("Matrix")
  x <- measured()
  x[x < 1.5] <- 0
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  expect_identical(
    in_that_order(cluster_forest(sparse, 3, seed = 0, n_estimators = 50)),
    in_that_order(cluster_forest(x, 3, seed = 0, n_estimators = 50))
  )
})
