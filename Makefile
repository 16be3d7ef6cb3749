# Each target installs its dependencies; if they are present this takes about a second.
# BAG=<rosbag2>     the recording that `make demo` replays
# PYTHON=<python>   the interpreter to set up with, where that is not python3; it is remembered
# PYTHONS=<pythons> the interpreters of `make test-pythons`, in place of all that are found
# QUICK=1           `make bench` in some minutes, not half an hour; `make lives` in 10, not 3 hours
# FULL=1            `make bench` with 1M memories, 5M events, a year of 1M: some hours
# SIZES=5000000     `make bench` with stores of so many memories alone: 5M take 1.5 hours and 15 GB
# ROUNDS=100 HOURS=1 SEED=7 PART=cuts `make torture`: how much, until when, what again, one part
# TESTS=<arguments> passed on to pytest, in place of the whole test directory
export PYTHON PYTHONS
run := scripts/env

.DEFAULT_GOAL := help
.PHONY: help build test test-long coverage test-pythons lint demo bench lives torture quality conformance interfaces clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
	@sed -nE 's/^# ([A-Z]+=.*)/  \1/p' Makefile

build: ## Install packages, build interfaces, prepare the embedding model.
	@scripts/setup

lint: build
	$(run) ruff check
	$(run) ruff format --check
# A sourced ROS keeps its own numpy, Python 3.10 gets no newer one than 2.2: both are typed differently.
	@if grep -q wheels "$${ROBOT_MEMORY_BUILD:-.}/.venv/mode" && \
	  $(run) python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then echo '$(run) mypy' && $(run) mypy; \
	else echo 'SKIPPED mypy: types are checked on Python 3.11 and later, where no ROS is sourced'; fi

test: lint ## Run linters, type checks and all tests.
	$(run) $(if $(TESTS),pytest $(TESTS),scripts/run-tests)

test-long: build ## Run all the tests with many more examples, rounds and combinations.
	ROBOT_MEMORY_TEST_LONG=1 $(run) scripts/run-tests $(TESTS)

coverage: build ## Measure what the tests run of the package, processes included; at least 95 %.
	rm -rf .coverage && mkdir .coverage
	$(run) coverage run -m pytest -p xdist.plugin -n 3 --dist loadfile --no-loadscope-reorder $(TESTS)
	$(run) coverage combine -q && $(run) coverage report

test-pythons: ## Run `make test` on every Python 3.10 to 3.14 that is installed.
	@TESTS='$(TESTS)' scripts/test-pythons

demo: build ## Start the node, replay a recording, learn and recall; BAG=<rosbag2> for your own.
	@$(run) python scripts/demo.py $(if $(BAG),--bag "$(abspath $(BAG))")

bench: build ## Measure speed, size and quality, compared with a peer; QUICK=1, FULL=1 or SIZES=.
	@$(run) python bench/run.py $(if $(SIZES),--only scale --without-peer --sizes $(SIZES),$(if $(QUICK),--quick,$(if $(FULL),--full)))

lives: build ## Let memories learn two skills through simulated lives; QUICK=1, or 3 hours.
	@$(run) python bench/lives/run.py $(if $(QUICK),--quick)

quality: build ## Measure retrieval quality on recorded data sets and on a robot data set.
	@$(run) python bench/retrieval/measure.py

torture: build ## Kill writers, cut power, fail disks, flip bits; print what was lost.
	@$(run) python torture/break_stores.py $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(HOURS),--hours $(HOURS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(PART),--part $(PART))

conformance: build ## Run the official MCP conformance suites; the first run installs them.
	@$(run) python scripts/conformance.py

interfaces: build ## Generate msg/, srv/, config/ and reference pages, and build them.
	$(run) python -m robot_memory.ros.interfaces
	@scripts/setup
	$(run) python -m robot_memory.ros.type_hashes

clean: ## Remove all that was made here.
	rm -rf bench/.cache .coverage .venv .venv-node .venv-lives .venv-peer .pythons build install log .mypy_cache .pytest_cache .ruff_cache .hypothesis
