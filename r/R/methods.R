print.cluster_forest <- function(x, digits = 2, ...) {
  cat("Cluster forest:", length(x$cluster), "rows,", length(x$importance), "features,", x$k, "clusters\n")
  reason <- x$settings["n_clusters", "reason"]
  if (!identical(reason, "given")) cat(strwrap(paste0("Number of clusters: ", reason)), sep = "\n")
  cat("\n")
  clusters <- data.frame(cluster = cluster_names(x$k), size = x$size, consensus = round(x$cluster_consensus, digits))
  print(clusters, row.names = FALSE)
  apart <- sum(is.na(x$cluster))
  if (apart > 0) cat("\nRows that belong to no cluster (NA): ", apart, "\n", sep = "")
  best <- head_of(x$importance[order(-x$importance)], min(5, sum(x$importance > 0, na.rm = TRUE)))
  if (length(best) > 0) {
    told <- paste0(label_of(best, x$importance), " (", round(best, digits), ")", collapse = ", ")
    cat("", strwrap(paste("Most informative features:", told)), sep = "\n")
  }
  invisible(x)
}

head_of <- function(values, n) values[seq_len(min(n, length(values)))]

label_of <- function(values, all) {
  if (is.null(names(values))) paste("column", order(-all)[seq_along(values)]) else names(values)
}

summary.cluster_forest <- function(object, ...) {
  ids <- if (is.null(names(object$cluster))) NULL else as.list(names(object$cluster))
  features <- if (is.null(names(object$importance))) NULL else as.list(names(object$importance))
  structure(list(text = ask("description", forest_of(object), object$table, features, ids)), class = "summary.cluster_forest")
}

print.summary.cluster_forest <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

predict.cluster_forest <- function(object, newdata, type = c("cluster", "membership"), ...) {
  type <- match.arg(type)
  if (missing(newdata)) return(if (type == "cluster") object$cluster else object$memberships)
  table <- as_python(newdata)
  rows <- names_of_rows(newdata)
  if (type == "membership") {
    shares <- doubles(ask("probabilities", forest_of(object), table))
    return(matrix(shares, ncol = object$k, dimnames = list(rows, cluster_names(object$k))))
  }
  as_clusters(ask("clusters", forest_of(object), table), object$k, rows)
}

plot.cluster_forest <- function(x, which = c("consensus", "importance", "rows"),
                                max_rows = 500, max_features = 20, ...) {
  switch(match.arg(which),
    consensus = plot_consensus(x, max_rows, ...),
    importance = plot_importance(x, max_features, ...),
    rows = plot_rows(x, ...)
  )
  invisible(x)
}

plot_consensus <- function(x, max_rows, main = "How often two rows are together", ...) {
  order <- order(x$cluster, -x$consensus)
  chosen <- order[unique(round(seq(1, length(order), length.out = min(max_rows, length(order)))))]
  shares <- matrix(doubles(ask("shares", forest_of(x), as.list(chosen - 1L))), length(chosen))
  before <- par(pty = "s", mar = c(2, 2, 3, 1))
  on.exit(par(before))
  blues <- hcl.colors(64, "Blues", rev = TRUE)
  image(shares[, rev(seq_len(ncol(shares)))], zlim = 0:1, col = blues, axes = FALSE, main = main, ...)
  size <- tabulate(x$cluster[chosen], x$k)
  middle <- (cumsum(size) - size / 2) / length(chosen)
  axis(1, middle, cluster_names(x$k), tick = FALSE)
  axis(2, 1 - middle, cluster_names(x$k), tick = FALSE, las = 1)
}

plot_importance <- function(x, max_features, main = "How informative each feature is", ...) {
  best <- head_of(x$importance[order(-x$importance)], max_features)
  labels <- label_of(best, x$importance)
  before <- par(mar = c(4, min(15, 2 + 0.55 * max(nchar(labels))), 3, 1))
  on.exit(par(before))
  barplot(
    rev(as.vector(best)),
    names.arg = rev(labels), horiz = TRUE, las = 1, main = main, xlab = "importance", border = NA, ...
  )
}

plot_rows <- function(x, main = "Membership of each row in its own cluster", ...) {
  order <- order(x$cluster, -x$consensus)
  colours <- hcl.colors(max(2, x$k), "Dark 3")[x$cluster[order]]
  barplot(
    as.vector(x$consensus[order]),
    col = colours, border = NA, space = 0, ylim = 0:1, main = main, las = 1, xlab = "rows, by cluster", ...
  )
}
