# Each target does its own set-up on a bare machine with Python 3.11 or newer, and says what it does.
.PHONY: help setup demo test test-consumers lint bench docs screenshots clean
.DEFAULT_GOAL := help

help:    ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

setup:   ## make .venv with goldset, its tests and its demo
	@.ci/setup

demo: setup   ## build the demo project and open it in the browser (Ctrl-C ends it)
	@.venv/bin/goldset demo

test: setup   ## lint, type-check and run all tests
	@.ci/browser
	@$(MAKE) --no-print-directory lint
	@echo "test: running pytest, a file at a time in each of two processes"
	@OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-consumers:   ## read exports back with beir, mteb, ranx and others, in .venv-consumers
	@.ci/setup consumers
	@echo "test-consumers: warnings are those of other people's code, and not looked at"
	@.venv-consumers/bin/python -m pytest tests/consumers -W ignore -o filterwarnings=

lint: setup   ## ruff and mypy
	@echo "lint: ruff and mypy"
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --quiet --check .
	@.venv/bin/mypy

bench: setup   ## run the benchmarks; each prints a ratio
	@for script in benchmarks/bench_*.py; do echo "bench: $$script"; .venv/bin/python $$script || exit 1; done

docs: setup   ## write docs/commands.md anew from the commands' own help
	@.venv/bin/python docs/make_commands.py

screenshots: setup   ## take the pictures in docs/screenshots/ anew
	@.ci/browser
	@.venv/bin/python docs/make_screenshots.py

clean:   ## remove .venv and caches (projects under data/ stay)
	rm -rf .venv .venv-consumers build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
