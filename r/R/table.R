# Tables of R as tables of Python.

as_python <- function(x) {
  if (inherits(x, "dist")) {
    stop("x holds distances. Pass the table itself: rows are samples, columns are features.", call. = FALSE)
  }
  if (is(x, "sparseMatrix")) return(sparse_table(x))
  if (is.matrix(x) && (is.numeric(x) || is.logical(x))) {
    storage.mode(x) <- "double"
    return(made("numbers", packed(x), nrow(x), ncol(x)))
  }
  if (is.matrix(x)) x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (!is.data.frame(x)) {
    stop("x must be a matrix or a data frame whose rows are samples, not ", class(x)[1], ".", call. = FALSE)
  }
  x <- as.data.frame(x)
  columns <- unname(Map(column, x, names(x)))
  made("frame", as.list(names(x)), columns)
}

# The table itself stays in Python.
made <- function(...) {
  answer <- bridge()$guarded(...)
  error <- reticulate::py_to_r(answer$get("error"))
  if (!is.null(error)) stop(error, call. = FALSE)
  answer$get("value")
}

sparse_table <- function(x) {
  x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  made("sparse", packed(x@x), packed(x@i), packed(x@p), as.list(dim(x)))
}

column <- function(cells, name) {
  if (is.factor(cells)) {
    codes <- as.integer(cells) - 1L
    codes[is.na(codes)] <- -1L
    return(list("category", packed(codes), as.list(levels(cells)), is.ordered(cells)))
  }
  if (inherits(cells, "Date")) return(list("day", packed(as.double(cells))))
  if (inherits(cells, "POSIXt")) return(list("second", packed(as.double(as.POSIXct(cells)))))
  if (inherits(cells, "difftime")) return(list("number", packed(as.double(cells, units = "days"))))
  if (is.object(cells) || !is.null(dim(cells))) refuse(cells, name)
  if (is.logical(cells)) return(list("logical", packed(as.integer(cells))))
  if (is.numeric(cells)) return(list("number", packed(as.double(cells))))
  if (!is.character(cells)) refuse(cells, name)
  missing <- is.na(cells)
  list("text", as.list(ifelse(missing, "", enc2utf8(cells))), packed(as.integer(missing)))
}

refuse <- function(cells, name) {
  stop(
    "Column '", name, "' is of class ", class(cells)[1], ". Make it numbers, text, a factor or dates, or leave it out.",
    call. = FALSE
  )
}

names_of_rows <- function(x) {
  if (is.data.frame(x) && .row_names_info(x) < 0) return(NULL) # numbered by R
  rownames(x)
}
