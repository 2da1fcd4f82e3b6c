# What is known of rows, in the form that Python takes: positions from 0, and texts for classes.

guidance <- function(x, must_link, cannot_link, known_labels) {
  list(
    must_link = positions(x, must_link, "must_link"),
    cannot_link = positions(x, cannot_link, "cannot_link"),
    known_labels = classes(x, known_labels)
  )
}

positions <- function(x, pairs, name) {
  if (is.null(pairs)) return(NULL)
  pairs <- as.matrix(pairs)
  if (ncol(pairs) != 2) {
    stop(name, " must have two columns, a pair of rows in each line, not ", ncol(pairs), ".", call. = FALSE)
  }
  rows <- if (is.character(pairs)) match(pairs, rownames(x)) else suppressWarnings(as.integer(pairs))
  wrong <- is.na(rows) | rows < 1 | rows > nrow(x) | (!is.character(pairs) & rows != pairs)
  if (any(wrong)) {
    known <- if (is.character(pairs)) "a row name of x" else paste("a row of x, 1 to", nrow(x))
    stop(name, " has ", encodeString(pairs[which(wrong)[1]], quote = "\""), ", which is not ", known, ".", call. = FALSE)
  }
  packed(t(matrix(rows - 1L, ncol = 2)))
}

classes <- function(x, known_labels) {
  if (is.null(known_labels)) return(NULL)
  if (length(known_labels) != nrow(x)) {
    stop("known_labels must have an entry for each of the ", nrow(x), " rows, NA where the class is not known, not ",
      length(known_labels), ".", call. = FALSE
    )
  }
  texts <- as.list(as.character(known_labels))
  texts[is.na(known_labels)] <- list(NULL)
  texts
}
