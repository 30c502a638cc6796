# `make repro` and `make test` do all the set-up themselves; Python >= 3.11 and make are all they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONUNBUFFERED := 1
# more threads than cores: those that wait must not keep a core busy
export OMP_WAIT_POLICY := PASSIVE

.PHONY: help setup repro video text figures tables test test-fast lint format bench clean-store

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: $(VENV)/installed  ## the virtual environment with the pinned dependencies

$(VENV)/installed: requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 setup"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	# torch first: with it in place nothing later pulls in another build
	$(VENV)/bin/pip install --quiet --disable-pip-version-check $(shell grep '^torch==' requirements.txt)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-dev.txt
	touch $@

repro: setup  ## run the pipeline on params.yaml's profile (demo: generated data, CPU, minutes)
	dvc repro code
	@$(MAKE) --no-print-directory --jobs 2 video text
	dvc repro --single-item collect
	@$(MAKE) --no-print-directory --jobs 2 figures tables
	dvc repro
	@echo "Figures and tables: figures/index.html"

# `dvc repro` runs one stage after another; these halves of the DAG share nothing that runs in them. Single items, since
# a stage that both halves check would be busy for one of them; each waits for the other's lock on dvc.lock.
video: setup
	dvc --wait-for-lock repro --single-item download preprocess_video train_video evaluate_video \
		train_infeasible evaluate_infeasible evaluate_reference

text: setup
	dvc --wait-for-lock repro --single-item download_text preprocess_text train_text evaluate_text \
		train_ablation evaluate_ablation download_lm preprocess_lm train_lm evaluate_lm

figures: setup
	dvc --wait-for-lock repro --single-item figure figure_completions

tables: setup
	dvc --wait-for-lock repro --single-item table scorecard plots plots_page

test: setup  ## all tests
	pytest -q -n 2

test-fast: setup  ## the tests that take seconds
	pytest -q -n 2 -m "not slow"

lint: setup  ## style and format
	ruff check .
	ruff format --check .

format: setup  ## mend style and format
	ruff check --fix .
	ruff format .

bench: setup  ## cost of the constraints, and of stacks against single runs, as ratios of one run
	PYTHONPATH=src python -m tests.bench_steps
	PYTHONPATH=src python -m tests.bench_text
	PYTHONPATH=src python -m tests.bench_lm

clean-store:  ## forget finished cells and checkpoints (they are only a cache)
	rm -rf .cells
