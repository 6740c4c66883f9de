# Everything a contributor runs. Needs Python 3.11 or newer, make and a package registry; nothing else.
# Works with GNU make 3.81, which macOS ships. Another Python: make PYTHON=python3.12 test

BIN := .venv/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test check format bench coverage openapi clean runtime tools

help:
	@echo 'make run       set up, start relayd in .run, deliver the example events, remember a decision'
	@echo 'make test      set up and run all tests          (ARGS="-k outbox" picks some)'
	@echo 'make check     format, lint, types, import contracts'
	@echo 'make format    rewrite the code as the formatter wants it'
	@echo 'make bench     measure the numbers relayd promises to hold'
	@echo 'make coverage  run all tests and show the lines and branches they missed'
	@echo 'make openapi   write docs/openapi.json anew from the routes'
	@echo 'make clean     remove everything these commands made: .venv, .run, caches, reports'

run: runtime
	@RELAY_HOME=.run $(BIN)/python docs/examples/run.py

test: tools
	@$(BIN)/python -m pytest $(ARGS)

check: tools
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python -m pyright
	@$(BIN)/lint-imports

format: tools
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: runtime
	@$(BIN)/python -m tests.bench $(ARGS)

coverage: tools
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --show-missing --skip-covered

openapi: tools
	@$(BIN)/python -m tests.contract.openapi

clean:
	@if [ -d .run ] && [ -x $(BIN)/relayctl ]; then RELAY_HOME=.run RELAY_AUTOSTART=0 $(BIN)/relayctl daemon stop >/dev/null || true; fi
	rm -rf .venv .run build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

runtime:
	@.ci/venv run

tools:
	@.ci/venv dev
