# One command each; CONTRIBUTING.md says when to use which.

# A Python of at least 3.11; found by itself if not given.
PYTHON ?=
BIN := .venv/bin
LOCKS := requirements/base.txt requirements/dev.txt
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links
# Workers of the test run; 0 runs in one process.
JOBS ?= 3
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help .venv dev demo test test-sqlite test-postgres chromium crashtest fuzz bench loadtest lint fmt types contracts lock

help: ## What there is
	@sed -n 's/^\([.a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 22

.venv: ## The environment to run in
	@PYTHON="$(PYTHON)" sh requirements/install.sh base

dev: ## The environment to develop in
	@PYTHON="$(PYTHON)" sh requirements/install.sh dev

demo: .venv ## The product with sample agents, on this machine alone
	@exec $(BIN)/python manage.py demo $(ARGS)

test: dev chromium ## The whole suite, on SQLite and then on PostgreSQL
	@sh tests/run.sh sqlite postgres -- -n $(JOBS) $(ARGS)

test-sqlite: dev ## The suite on SQLite only
	@sh tests/run.sh sqlite -- -n $(JOBS) $(ARGS)

test-postgres: dev ## The suite on PostgreSQL only
	@sh tests/run.sh postgres -- -n $(JOBS) $(ARGS)

chromium:
	@sh tests/chromium.sh

crashtest: dev ## kill -9 of every process and at every point, 500 times
	@$(BIN)/python -m tests.crashes.matrix $(ARGS)

fuzz: dev ## New random histories of runs, for ten minutes
	@$(BIN)/python -m tests.model $(ARGS)

bench: dev ## What a step costs, and how many runs one worker holds
	@$(BIN)/python -m tests.bench.overhead $(ARGS)
	@$(BIN)/python -m tests.bench.concurrency $(ARGS)

loadtest: dev ## Fifty people at the desk while five hundred runs advance, five minutes
	@$(BIN)/python -m tests.bench.load $(ARGS)

lint: dev ## Style and mistakes
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

fmt: dev ## Put the code into its one shape
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

types: dev ## mypy, strict
	@$(BIN)/mypy

contracts: dev ## Who may import whom
	@$(BIN)/lint-imports

lock: dev ## New requirements/*.txt from *.in
	@$(BIN)/pip install --quiet uv
	@cd requirements && ../$(COMPILE) $(ARGS) --output-file base.txt base.in
	@cd requirements && ../$(COMPILE) $(ARGS) --constraint base.txt --output-file dev.txt dev.in
