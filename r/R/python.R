# The way to Python. Numbers travel as raw bytes: older versions of reticulate cannot read arrays of NumPy 2.

known <- new.env(parent = emptyenv())

have_clusterforests <- function() {
  reticulate::py_available(initialize = TRUE) && reticulate::py_module_available("clusterforests")
}

bridge <- function() {
  if (is.null(known$bridge)) {
    if (!have_clusterforests()) stop(not_there(), call. = FALSE)
    folder <- system.file("python", package = "clusterforests")
    known$bridge <- reticulate::import_from_path("clusterforests_bridge", folder, convert = FALSE)
  }
  known$bridge
}

not_there <- function() {
  python <- if (reticulate::py_available()) reticulate::py_config()$python else "any Python that was found"
  paste0(
    "The Python package clusterforests is not installed in ", python, ". Install it there (pip install clusterforests), or ",
    "start R again and name another Python before the first call: reticulate::use_virtualenv(\"path\"), or the ",
    "environment variable RETICULATE_PYTHON."
  )
}

# Call a function of inst/python/clusterforests_bridge.py; its warnings and errors become those of R.
ask <- function(name, ...) {
  answer <- reticulate::py_to_r(bridge()$guarded(name, ...))
  for (message in as.character(answer$warnings)) warning(message, call. = FALSE)
  if (!is.null(answer$error)) stop(answer$error, call. = FALSE)
  answer$value
}

doubles <- function(bytes) readBin(bytes, "double", length(bytes) %/% 8, endian = "little")

integers <- function(bytes) readBin(bytes, "integer", length(bytes) %/% 4, size = 4, endian = "little")

packed <- function(values) writeBin(as.vector(values), raw(), endian = "little")

# 50 and 50.0 are not the same in Python; in R they are.
whole <- function(value) {
  if (is.numeric(value) && all(is.finite(value)) && all(value == round(value)) && all(abs(value) < 2^31)) {
    return(if (length(value) == 1) as.integer(value) else as.list(as.integer(value)))
  }
  value
}
