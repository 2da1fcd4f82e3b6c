# `make run` and `make test` do everything that a user needs; `make help` lists the others.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto
TOPICS ?=
LATER ?=
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -type f -not -name '*.pyc')
CPP := $(shell find core tests/core/native tests/gpu/emulator -name '*.hpp' -o -name '*.cpp')

.PHONY: help run test test-more test-slow test-r test-machines golden lint docs bench reproduce dist sanitize clean

# This list.
help:
	@awk '/^# / { about = substr($$0, 3) } /^[a-z-]+:/ { split($$1, name, ":"); printf "%-14s %s\n", name[1], about }' Makefile

# Installs the package into .venv, clusters the wine data, prints the result, writes labels and a picture to out/.
run: $(VENV)/run
	$(BIN)/python examples/wine.py --out out

# The tests that need nothing but the package, on all cores but four workers at most (WORKERS=0: in one process).
test: $(VENV)/installed
	$(BIN)/python -m pytest tests paper/tests -m "not slow and not data and not browser and not r and not scanpy" -n $(WORKERS) --maxprocesses 4 --dist loadfile

# Tests that need the paper's data sets ($CLUSTERFORESTS_DATA), a browser, R or scanpy; they skip without.
test-more: $(VENV)/installed
	$(BIN)/python -m pip install -q "scanpy>=1.10" || echo "scanpy could not be installed: its tests skip"
	$(BIN)/python -m pytest tests paper/tests -m "(data or browser or r or scanpy) and not slow"

# Properties on thousands of tables, workers killed and fits interrupted at every stage: hours on two cores.
test-slow: $(VENV)/installed
	$(BIN)/python -m pytest tests paper/tests -m slow

# Builds and checks the R package; needs R with reticulate, testthat, knitr and rmarkdown.
test-r: $(VENV)/installed
	mkdir -p build/r
	cd build/r && RETICULATE_PYTHON=$(abspath $(BIN)/python) R CMD build ../../r
	cd build/r && RETICULATE_PYTHON=$(abspath $(BIN)/python) R CMD check --no-manual clusterforests_*.tar.gz

# The core's self-tests here and on other systems, emulated; Debian: see the top of tools/self_tests.py for what it needs.
test-machines: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[machines]"
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/self_tests.py --target all

# Writes the golden results anew: only when results are meant to change, with a line in CHANGELOG.md.
golden: $(VENV)/installed
	PYTHONPATH=. $(BIN)/python tests/contract/golden_cases.py

# Linters, formatters and types, as CI runs them.
lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/mypy

# The site in build/docs; runs the examples, warnings are errors. About a minute.
docs: $(VENV)/installed
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

# Measures the topics of TOPICS="speed scale ..." and writes their pages; without, says which there are.
bench: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[bench]"
	$(BIN)/python -m benchmarks $(TOPICS)

# The paper's tables and figures, an hour on two cores; needs $CLUSTERFORESTS_DATA or a network. Goes on where it was stopped.
reproduce: $(VENV)/installed
	$(BIN)/python -m paper

# Compiles the GPU's kernels, builds sdist and wheel into dist/ and tries each in an empty environment, and on LATER Pythons.
dist: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[kernels]"
	$(BIN)/python tools/compile_kernels.py
	$(BIN)/python tools/dist_check.py --out dist --other $(LATER)

# The C++ core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, then hostile calls: half an hour.
sanitize: $(VENV)/installed
	$(BIN)/python tools/sanitize.py address
	$(BIN)/python tools/sanitize.py thread

# Removes all that was built.
clean:
	rm -rf $(VENV) build out docs/api docs/gallery docs/sg_execution_times.rst

# What running needs. The package is built here and nowhere else. One core compiles while the other installs what the
# package needs; bytecode is written as modules are imported. NEEDS is the list of pyproject.toml, of which pip has no
# option to install it alone.
PIP := $(BIN)/python -m pip --disable-pip-version-check
NEEDS := import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*p["dependencies"], *p["optional-dependencies"]["plot"], sep="\n")
$(VENV)/run: $(SOURCES)
	@echo "Making an environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c '$(NEEDS)' > $(VENV)/needs.txt
	@rm -rf $(VENV)/wheel
	@echo "Installing NumPy, SciPy, scikit-learn and matplotlib, and meanwhile compiling the C++ core"
	@{ $(PIP) install -q --no-compile -r $(VENV)/needs.txt && echo "  [installed]"; } & needs=$$!; \
	{ $(PIP) wheel -v --no-deps -w $(VENV)/wheel . 2>&1; echo "exit $$?"; } | tee $(VENV)/build.log | sed -un 's/^ *\(\[[0-9]*\/[0-9]*\] [BL]\)/  \1/p'; \
	grep -qx "exit 0" $(VENV)/build.log || { tail -60 $(VENV)/build.log; kill $$needs; exit 1; }; \
	wait $$needs
	@$(PIP) install -q --no-compile --no-deps --force-reinstall $(VENV)/wheel/clusterforests-*.whl
	@touch $@

# What tests, linters and documentation need besides: the package is installed, so pip only adds what its extra names.
$(VENV)/installed: $(VENV)/run
	$(BIN)/python -m pip install -q --no-compile "clusterforests[dev]"
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib || true  # of all packages at once, on all cores
	touch $@
