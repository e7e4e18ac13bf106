# make help says what there is. Nothing is needed but make and Python 3.11 or newer.
PRESET ?=
CONFIG ?=
FROM ?=
CORES ?= all
ARGS ?=
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OVERLAYS = $(addprefix --preset ,$(PRESET)) $(addprefix --configfile ,$(CONFIG))
ORIGIN = $(addprefix --from ,$(FROM))
RUN = $(BIN)/biaslab run --cores $(CORES) $(OVERLAYS) $(ARGS)
# Modules are compiled when they are first imported: to compile all at once takes as long as to install them.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Those of speed that need nothing: context_vectors.py, learning_curve.py, overestimate.py and paired_subsets.py want the folder of a finished run, two others the authors' networks.
OTHERS := $(addprefix benchmarks/,bench_%.py context_vectors.py learning_curve.py overestimate.py paired_subsets.py)
BENCHMARKS := $(filter-out $(OTHERS),$(sort $(wildcard benchmarks/*.py)))
BIASLAB_MIRROR ?= $(wildcard ../shared/data)
MIRROR := $(addprefix BIASLAB_MIRROR=,$(BIASLAB_MIRROR))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help reproduce test test-all test-search report crate lint docs bench clean clean-results

help:
	@echo 'make reproduce      run the workflow; goes on where the last run ended'
	@echo '                    PRESET=NAME      a preset of workflow/presets (simplewiki, nyt, attribution, hate-speech, stormfront, fairness-text, smoke)'
	@echo '                    CONFIG=FILE      your own settings, laid over config.yaml and the preset'
	@echo '                    FROM=CRATE       another run to go on from, e.g. FROM=run.zip; ARGS="--recheck 5" for a spot check'
	@echo '                    CORES=N          cores to use, all by default'
	@echo '                    ARGS="..."       further options of Snakemake, e.g. ARGS=-n for a dry run'
	@echo 'make report         build/report.html: every table and figure of the last run, with its provenance'
	@echo 'make crate          build/crate.zip: the last run as a Workflow Run Crate, to archive or to compare'
	@echo 'make test           run the tests, with the whole workflow on a small corpus'
	@echo 'make test-all       run them and those that take long: kills, a full disk, an installed package, every command of the docs'
	@echo 'make test-search    try random examples in the property-based tests: TIMES=20 as many as make test does'
	@echo 'make lint           check the style of code and prose'
	@echo 'make docs           build/docs/index.html: the documentation as a site'
	@echo 'make bench          measure what is claimed about speed; BIASLAB_MIRROR=FOLDER with registered data'
	@echo 'make clean          delete caches, compiled kernels and builds'
	@echo 'make clean-results  delete results/ and what Snakemake knows about it'

# What is taken from another run needs no extras; where a step does, the run says so before it begins.
reproduce: $(READY) $(wildcard $(VENV)/.neural)
	@for extra in $(if $(FROM),,$$($(BIN)/biaslab extras $(OVERLAYS) -- $(ARGS) 2> /dev/null)); do \
	    $(MAKE) --no-print-directory $(VENV)/.$$extra; done
	@$(RUN) $(ORIGIN)

report: $(READY)
	@mkdir -p build
	@$(RUN) --report build/report.html

crate: $(READY)
	$(BIN)/biaslab audit crate results --out build/crate.zip

test: MARKED := -m 'not slow'
test test-all: $(READY)
	@$(MAKE) --no-print-directory $(VENV)/.neural
	$(BIN)/python -m pytest $(MARKED) --numprocesses=auto --dist=loadfile --no-loadscope-reorder

test-search: TIMES ?= 20
test-search: $(READY)
	BIASLAB_SEARCH=$(TIMES) $(BIN)/python -m pytest -m hypothesis --numprocesses=auto --dist=loadfile tests/unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/mypy $$($(BIN)/python docs/api.py)
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md config.yaml docs src workflow
	$(BIN)/python docs/prose.py

docs: $(READY)
	@$(MAKE) --no-print-directory $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'The documentation is in build/docs/index.html.'

bench: $(READY)
	@for script in $(BENCHMARKS); do $(MIRROR) $(BIN)/python $$script || exit; done

clean:
	-@[ ! -x $(BIN)/biaslab ] || $(BIN)/biaslab cache clear
	rm -rf build .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

clean-results:
	find results -mindepth 1 ! -path results/README.md -delete
	rm -rf .snakemake

# The environment. A set-up that was interrupted leaves no mark, and starts over.
$(VENV)/.requirements: requirements.lock
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo 'biaslab needs Python 3.11 or newer; name one: make $(MAKECMDGOALS) PYTHON=...' >&2; exit 2; }
	@echo 'Setting up $(VENV) from requirements.lock (once, a few minutes) ...'
	@"$(PYTHON)" -m venv --clear $(VENV)
	@$(PIP) --require-hashes --requirement requirements.lock
	@touch $@

$(READY): $(VENV)/.requirements pyproject.toml
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# torch's CPU build and what reads texts with it. Where it cannot be had, all else goes on without.
$(VENV)/.neural: requirements-neural.lock | $(READY)
	@echo 'Installing requirements-neural.lock: torch (CPU) and transformers (once, 1 GB, a few minutes) ...'
	@if envs/neural.sh $(BIN)/python; then touch $@; fi

$(VENV)/.docs: requirements-docs.lock | $(READY)
	@echo 'Installing requirements-docs.lock: mkdocs (once, some seconds) ...'
	@$(PIP) --require-hashes --requirement requirements-docs.lock
	@touch $@
