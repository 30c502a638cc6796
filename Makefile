# `make repro` and `make test` do all the set-up themselves; Python 3.11 to 3.14, make and git are all they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONUNBUFFERED := 1
# bytecode is kept: without it each worker of the tests compiles the project anew, for 9 s
export PYTHONDONTWRITEBYTECODE :=
# more threads than cores: those that wait must not keep a core busy
export OMP_WAIT_POLICY := PASSIVE
# packages of another Python do not come before those of the environment
export PYTHONPATH :=
# DVC runs the stages in this shell and not in the user's, and asks for a user's name also where there is none
export SHELL
export LOGNAME ?= $(shell id -u)

.PHONY: help setup repro whole-lock models video texts studies drawings collected beyond drawn denoise complete test test-all lint format publish evidence programme estimate bench check-store prune-store clean-store faults audit

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: $(VENV)/installed  ## the virtual environment with the pinned dependencies
	@# in an archive without git's history all works but experiments
	@test -e .git || dvc config --quiet --local core.no_scm true

$(VENV)/installed: requirements.txt requirements-dev.txt constraints.txt
	@$(PYTHON) -c 'import sys; now = sys.version_info[:3]; sys.exit(not (3, 11) <= now < (3, 15) or now == (3, 14, 1))' \
		|| { echo "Python 3.11 to 3.14 is needed (and not 3.14.1); name one: make PYTHON=python3.12 setup"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	# torch first: with it in place nothing later pulls in another build
	$(VENV)/bin/pip install --quiet --disable-pip-version-check \
		$(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(shell grep '^torch==' requirements.txt)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-dev.txt
	$(VENV)/bin/python -m stages.plots_page  # what every `dvc plots` is drawn in, also before the first run
	$(VENV)/bin/python -m compileall -q src stages  # once, and not by every process that runs first
	touch $@

# two stages side by side fill a CPU's cores; on a GPU each would want the whole card
JOBS ?= $(if $(shell grep -q '^device: *cpu' params.yaml || nvidia-smi -L 2> /dev/null | grep '^GPU'),1,2)

repro: setup whole-lock  ## run the pipeline on params.yaml's profile (demo: generated data, CPU, minutes)
	@python -m stages.sources
	@told=; for phase in models studies drawings; do \
		began=$$SECONDS; echo "== $$phase"; \
		$(MAKE) --no-print-directory --jobs $(JOBS) $$phase || exit 1; \
		told="$$told$$phase $$((SECONDS - began)) s, "; \
	done; \
	dvc repro && echo "== $${told}in all $$SECONDS s: figures/index.html"

whole-lock: setup  # what a DVC that was ended left half-written keeps the next one from reading it
	@python -m stages.whole_lock

# `dvc repro` runs one stage after another; what stands here side by side shares nothing that runs in it. Single items,
# since a stage that both sides check would be busy for one of them; each waits for the other's lock on dvc.lock.
ITEMS := dvc --wait-for-lock repro --single-item

models: video texts

video: setup
	@$(ITEMS) download_video preprocess_video train_video evaluate_video

texts: setup
	@$(ITEMS) download_text preprocess_text download_lm preprocess_lm train_text train_lm evaluate_text evaluate_lm

studies: setup
	@$(ITEMS) train_studies evaluate_studies evaluate_transfer

drawings: beyond drawn

collected: setup
	@$(ITEMS) collect

beyond: collected
	@$(ITEMS) figures@beyond

drawn: collected
	@$(ITEMS) figures@video figures@text figures@lm scorecard plots plots_page

# what stands on make's command line is in the environment, so a prompt may hold any signs; make reads $$ as $
denoise: setup  ## FILE=clip.avi [CELL=data/runs/...] [NOISE=0.2]: a trained model on a video or a folder of frames
	@python -m stages.denoise "$$FILE" "$$CELL" "$$NOISE"

complete: setup  ## PROMPT="..." [CELL=data/runs/...]: what a trained language model answers
	@python -m stages.complete "$$PROMPT" "$$CELL"

test: setup  ## the tests, but for those that take two seconds or more
	pytest -q -n 2 --dist worksteal -m "not slow"

test-all: setup  ## all tests
	pytest -q -n 2 --dist worksteal

lint: setup  ## style and format
	ruff check .
	ruff format --check .

format: setup  ## mend style and format
	ruff check --fix .
	ruff format .

publish: setup  ## the last run's pictures to data/evidence, which the README shows
	python -m stages.publish

evidence: setup  ## a finished run on real data to data/evidence, with its report and verdicts
	python -m stages.evidence

programme: setup  ## what the published verdicts rest on, and what it costs here; RUN=all, or names of parts: run it again
	python -m stages.programme $(RUN)

estimate: setup  ## what the profile in use costs in time, memory and disk, from a few timed steps
	python -m stages.estimate

bench: setup  ## cost of the constraints, and of stacks against single runs, as ratios of one run
	@for part in rate feeding steps precision video text lm cluster; do \
		began=$$SECONDS; \
		PYTHONPATH=src python -m tests.bench.$$part || exit 1; \
		echo "== $$part: $$((SECONDS - began)) s"; \
	done; \
	PYTHONPATH=src python -m tests.bench.table

check-store: setup  ## look at every cell, score and checkpoint; what is damaged is set aside
	python -m stages.check_store

prune-store: setup  ## forget cells and scores that no params.yaml of any branch or experiment asks for
	python -m stages.prune_store

faults: setup  ## bad input, damage and interruptions, case by case (14 minutes; goes on where it was stopped)
	PYTHONPATH=src python -m tests.faults.campaign

audit: setup  ## known faults of the pinned packages (needs a network)
	@python -c 'import pip_audit' 2> /dev/null || { echo "pip-audit is not there: $(VENV)/bin/pip install pip-audit"; exit 1; }
	pip-audit --requirement requirements.txt --requirement requirements-dev.txt --requirement requirements-ray.txt --requirement requirements-gpu.txt

clean-store:  ## forget finished cells and checkpoints (they are only a cache)
	test ! -e .cells || find -H .cells -mindepth 1 -delete  # a link to another disk stays one
