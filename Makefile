# Each target does its own set-up on a bare machine with Python 3.11 or newer, and says what it does.
.PHONY: help setup demo check test slow search test-consumers test-wheel test-minimums lint bench trials docs site screenshots pictures clean
.DEFAULT_GOAL := help
# A test run starts some fifty processes; without bytecode on disk each of them compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# Three processes for two cores: a test that drives a browser or writes to the disk waits a part of its time.
# DuckDB's planner asks for small pieces of memory all the time: 3 % of the processor if glibc keeps more of them.
PYTEST = OMP_NUM_THREADS=1 GLIBC_TUNABLES=glibc.malloc.tcache_count=1000 .venv/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# A Chromium is installed beside lint and the first compilation, which use one core each.
TOOLS = { .ci/browser && .ci/node; }
# Beside the tests: mypy takes a process of its own most of the time that they take.
WITH_LINT = .ci/lint & lint=$$!; $(1); tests=$$?; wait $$lint && exit $$tests

help:    ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24

setup:   ## make .venv with goldgrade, its tests and its demo
	@.ci/setup

demo: setup   ## build the demo project and open it in the browser (Ctrl-C ends it)
	@.venv/bin/goldgrade init --demo data/demo
	@.venv/bin/goldgrade --project data/demo/goldgrade.duckdb app --browser

check: setup   ## lint, types, and the tests that need no browser, no embedding model and not half a second each
	@echo "check: ruff, mypy, and pytest in three processes"
	@$(call WITH_LINT,.ci/compile; $(PYTEST) -m "not (browser or dense or slow)" --hypothesis-profile check)

test: setup   ## lint, types, and all tests
	@echo "test: ruff, mypy, and pytest, a file at a time in each of three processes"
	@$(call WITH_LINT,$(TOOLS) & tools=$$!; .ci/compile; wait $$tools && $(PYTEST) --hypothesis-profile full)

slow: setup   ## list the tests of `make check` that take more than half a second each
	@$(PYTEST) -m "not (browser or dense or slow)" --junitxml build/tests.xml
	@.venv/bin/python -m tests.support.slow build/tests.xml

search: setup   ## the property tests with more and other examples than `make test` has, and axe in dark, too
	@.ci/browser
	@$(PYTEST) --hypothesis-profile search \
	  $$(grep -rlE 'from hypothesis import|passes_in_light' tests --include='test_*.py')

test-consumers:   ## read exports back with beir, mteb, ranx and others, in .venv-consumers
	@.ci/setup consumers
	@echo "test-consumers: warnings are those of other people's code, and not looked at"
	@.venv-consumers/bin/python -m pytest tests/consumers -W ignore -o filterwarnings=

lint: setup   ## ruff, oxlint, import-linter and mypy
	@.ci/lint

bench: setup   ## run the benchmarks; each prints a ratio
	@for name in $(basename $(notdir $(wildcard benchmarks/bench_*.py))); do \
	  echo "bench: $$name"; .venv/bin/python -m benchmarks.$$name || exit 1; done

trials: setup   ## kills, torn writes, full disks and starved sign-ins, some hundred times each (half an hour)
	@.venv/bin/python -m tests.trials

docs: setup   ## write docs/commands.md and the tables of docs/architecture.md from the code
	@.venv/bin/python -m docs.make_commands
	@.venv/bin/python -m docs.make_architecture

site:    ## build the documentation as a site, which the app serves at Help
	@.ci/setup site
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --quiet --strict --clean -f .ci/mkdocs.yml
	@echo "site: app/manual/site/index.html; goldgrade app has it at Help"

screenshots: setup   ## take the pictures in docs/screenshots/
	@.ci/browser
	@.venv/bin/python -m docs.make_screenshots

pictures: setup   ## take every page empty, at work and done, wide, dark and narrow, in build/pictures/
	@.ci/browser
	@.venv/bin/python -m docs.make_every_picture --to build/pictures --keep build/projects

clean:   ## remove .venv and caches (projects under data/ stay)
	rm -rf .venv .venv-consumers .venv-minimums .venv-site app/manual/site build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

test-wheel:   ## build the wheel, and try it in a clean environment of each Python from 3.11 to 3.13 that is here
	@.ci/wheel

test-minimums: setup   ## the quick tests with the lowest versions that pyproject.toml admits, in .venv-minimums
	@.ci/minimums
