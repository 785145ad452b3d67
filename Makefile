# Two commands do everything on a fresh machine with Python 3.11 or later: `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check unit browser frameworks clients collector format bench screenshots clean

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# Tests that run at once; those of one file follow each other, and so share what they made once.
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

help: ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	@echo "Installing into $(VENV); this takes about a minute"
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

setup: $(READY) ## make .venv with everything in it

demo: $(READY) ## agents that loop, live, with the dashboard on them
	$(BIN)/otel-processor demo$(if $(PORT), --port $(PORT))

test: check unit browser ## everything that must hold: style, types, layers, tests (those in Chromium where it is installed)

check: $(READY) ## style, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY) ## all tests but those in a browser and with the clients of others
	$(BIN)/python -m pytest -q -m 'not browser and not clients' -n $(WORKERS) --dist loadfile

browser: $(READY) ## the journeys in a real Chromium
	$(BIN)/python -m pytest -q -m browser

# Frameworks that get on with each other share a venv; the group in pyproject.toml, the versions and the venv have one name.
# uv takes a quarter of the time that pip takes for so many packages.
.venv-%/.ready: pyproject.toml constraints-%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet uv
	.venv-$*/bin/uv pip install --quiet --python .venv-$* --constraint constraints-$*.txt --editable . --group $*
	@touch $@

frameworks: .venv-frameworks/.ready .venv-crewai/.ready ## the adapters against the real frameworks, with fake models
	.venv-frameworks/bin/python -m pytest -q -m frameworks -W default --disable-warnings tests/frameworks
	.venv-crewai/bin/python -m pytest -q -m frameworks -W default --disable-warnings tests/frameworks/test_crewai.py

# Without npm the tests that need it say so.
.clients/.ready: tests/clients/package.json
	mkdir -p .clients
	cp $< .clients/
	if command -v npm >/dev/null; then npm install --prefix .clients --no-package-lock --no-audit --no-fund --ignore-scripts --silent; fi
	@touch $@

clients: .venv-clients/.ready .clients/.ready ## SDKs and forwarders of others, which send to the service
	.venv-clients/bin/python -m pytest -q -m clients tests/clients

collector: $(READY) ## a real Collector in front of the service, built where there is Go
	bash tests/collector/run.sh

format: $(READY) ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## what it costs the agent
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/dialects.py

screenshots: $(READY) ## remake the README's pictures from runs of the demo
	PYTHONPATH=. $(BIN)/python docs/screenshots/take.py

clean: ## remove what was built
	rm -rf $(VENV) .venv-frameworks .venv-crewai .venv-clients .clients build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
