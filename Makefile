# memagent: `make chat` opens the assistant, `make test` runs every test. Both install what they need, once.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := PIP_ROOT_USER_ACTION=ignore $(PIP) install --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help chat test check model freeze clean

help:
	@echo 'make chat    install and open the assistant (an endpoint, a local server, or the embedded model)'
	@echo 'make test    install with the development tools and run all tests; ARGS="-k word" narrows them'
	@echo 'make check   formatting, lint, types, layers'
	@echo 'make model   fetch the embedded model now'
	@echo 'make clean   remove the virtual environment'

chat: .venv/installed
	@$(BIN)/python -m memagent chat $(ARGS)

test: .venv/installed-dev
	@$(BIN)/python -m pytest --numprocesses 4 $(ARGS)

check: .venv/installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports

model: .venv/installed
	@$(BIN)/python -m memagent model pull $(ARGS)

# Names without a local version ("torch==2.13.0", not "+cpu"), so that every index can serve them.
freeze: .venv/installed-dev
	@{ sed -n '/^#/p' constraints.txt; $(PIP) freeze --exclude-editable | sed 's/+[a-z0-9.]*$$//'; } > constraints.new
	@mv constraints.new constraints.txt

clean:
	@rm -rf .venv

# Set-up talks on the standard error and reads nothing, so that a piped conversation passes through untouched.
# A virtual environment that was left half made is made again.
.venv/ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null </dev/null || \
	  { echo "memagent needs Python 3.11 or newer as $(PYTHON); name another with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv >&2 </dev/null
	@touch .venv/ready

.venv/installed: .venv/ready pyproject.toml constraints.txt
	@echo 'memagent: installing into .venv (once; one to a few minutes) …' >&2
	@$(INSTALL) --editable . >&2 </dev/null
	@touch .venv/installed

.venv/installed-dev: .venv/ready pyproject.toml constraints.txt
	@echo 'memagent: installing with the development tools into .venv (once; one to a few minutes) …' >&2
	@$(INSTALL) --editable '.[dev]' >&2 </dev/null
	@touch .venv/installed-dev .venv/installed
