cluster_forest <- function(x, k = "auto", ..., must_link = NULL, cannot_link = NULL, known_labels = NULL, seed = NULL) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  table <- as_python(x)
  settings <- c(lapply(list(...), whole), list(random_state = whole(seed)))
  found <- ask("fit", table, number(k), settings, guidance(x, must_link, cannot_link, known_labels))
  as_forest(found, table, colnames(x), names_of_rows(x), seed, match.call())
}

recut <- function(object, ...) UseMethod("recut")

recut.cluster_forest <- function(object, k, ...) {
  if (!(is.numeric(k) && length(k) == 1)) stop("k must be one number of clusters.", call. = FALSE)
  found <- ask("cut", forest_of(object), number(k))
  as_forest(found, object$table, names(object$importance), names(object$cluster), object$seed, match.call())
}

number <- function(k) {
  if (!(is.numeric(k) || identical(k, "auto")) || length(k) == 0 || anyNA(k) || (is.numeric(k) && any(k != round(k)))) {
    stop("k must be a number of clusters, several to choose from such as 2:6, or \"auto\".", call. = FALSE)
  }
  whole(k)
}

as_forest <- function(found, table, features, rows, seed, call) {
  named <- function(values, names) {
    names(values) <- names
    values
  }
  if (!is.null(found$features)) features <- as.character(found$features)
  clusters <- cluster_names(found$k)
  labels <- as_clusters(found$labels, found$k, rows)
  memberships <- matrix(doubles(found$memberships), ncol = found$k, dimnames = list(rows, clusters))
  fit <- list(
    cluster = labels,
    k = found$k,
    size = named(tabulate(labels, found$k), clusters),
    memberships = memberships,
    consensus = named(doubles(found$consensus), rows),
    cluster_consensus = named(doubles(found$cluster_consensus), clusters),
    importance = named(doubles(found$importance), features),
    p_value = named(doubles(found$p_value), features),
    settings = data.frame(
      value = as.character(found$values), reason = as.character(found$reasons), row.names = found$settings
    ),
    evidence = evidence_table(found$evidence),
    seed = seed,
    call = call,
    forest = found$forest,
    table = table
  )
  structure(fit, class = "cluster_forest")
}

# Clusters have the numbers that they have in Python, in the summary and in reports.
cluster_names <- function(k) as.character(seq_len(k) - 1L)

as_clusters <- function(bytes, k, rows) {
  labels <- factor(integers(bytes), levels = seq_len(k) - 1L)
  names(labels) <- rows
  labels
}

evidence_table <- function(evidence) {
  if (is.null(evidence)) return(NULL)
  as.data.frame(lapply(evidence, as.numeric))
}

# Python's forest, which ends with the session of R that fitted it.
forest_of <- function(object) {
  if (!inherits(object$forest, "python.builtin.object") || reticulate::py_is_null_xptr(object$forest)) {
    stop(
      "The forest belongs to a session of R that has ended; its clusters, memberships and importances are still in ",
      "the object. Fit again with the same seed (object$seed), which gives the same forest.",
      call. = FALSE
    )
  }
  object$forest
}
