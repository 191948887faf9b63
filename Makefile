# make run    set up and open the dashboard          make test    set up and run the tests of every change
# make check  the fast tests and linters             make verify  the tests that take too long for that
# make clean  remove what the others made
# make docs   the documentation, for `dpviz docs` and for the wheel
SHELL := /bin/bash
.DEFAULT_GOAL := run
.PHONY: run test check verify docs clean

VENV := .venv
PY := $(VENV)/bin/python
# --no-cache-dir: nothing is written outside this folder.
# `make test CONSTRAINTS=.ci/oldest.txt PYTHON=python3.11`, in a clone without .venv, takes the versions and the Python named.
CONSTRAINTS ?=
INSTALL := $(PY) -m pip --quiet --disable-pip-version-check --no-input --no-cache-dir install $(addprefix -c ,$(CONSTRAINTS))
# As many test processes as there are processors (nproc alone obeys OMP_NUM_THREADS), four at most: each may have a browser and a server.
JOBS ?= $(shell n=$$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n : 4)))
# Compiled files are kept, whatever the environment says: to compile 600 files anew takes each process ten seconds and more.
export PYTHONDONTWRITEBYTECODE :=
# A test that hangs fails, with what every thread is doing, and the others go on; the longest takes a few minutes.
PYTEST = $(PY) -m pytest -q -n $(JOBS) --no-loadscope-reorder --timeout 900

run: $(VENV)/.run
	$(PY) -m dpviz app

test: $(VENV)/.test
	@.ci/programs $(PY)
	@browser=$$(.ci/browser $(PY)) || [ "$(CI)" != true ] || exit 1; \
	DPVIZ_BROWSER="$$browser" $(PYTEST) -m "not verify" $(ARGS)

# What takes too long for every change: before a release, every night, and after anything that touches privacy.
verify: $(VENV)/.test
	@.ci/programs $(PY)
	@browser=$$(.ci/browser $(PY)) || [ "$(CI)" != true ] || exit 1; \
	DPVIZ_BROWSER="$$browser" $(PYTEST) -m verify $(ARGS)

# The types are checked beside the tests and said last; whichever fails, the target fails.
check: $(VENV)/.test
	$(PY) -m ruff check .
	@$(PY) -m mypy >$(VENV)/.types 2>&1 & mypy=$$!; trap 'kill $$mypy 2>/dev/null' EXIT; \
	$(PYTEST) -m "not slow and not browser and not verify" --hypothesis-profile fast $(ARGS); tests=$$?; \
	wait $$mypy; types=$$?; cat $(VENV)/.types; exit $$((tests | types))

docs: $(VENV)/.test
	$(PY) docs/build.py

clean:
	rm -rf $(VENV) dpviz/manual *.egg-info build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.run: requirements.txt pyproject.toml | $(PY)
	@echo "Installing dpviz and what it needs into $(VENV) (once, a few minutes)."
	$(INSTALL) -r requirements.txt -e .
	@touch $@

$(VENV)/.test: $(VENV)/.run
	@echo "Installing what the tests need into $(VENV) (once)."
	$(INSTALL) -e '.[test]'
	@touch $@

# A Python that is new enough and can make environments; where there is none, the line that installs it.
$(PY):
	@lacks="python3 python3-venv"; what="dpviz needs Python 3.11 or newer."; \
	for name in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  if $$name -c 'import ensurepip, venv' 2>/dev/null; then exec $$name -m venv --clear $(VENV); fi; \
	  lacks=$$($$name -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  what="Python is here, its venv module is not."; \
	done; \
	case "$$lacks" in *.*) ;; *) if python3 -c '' 2>/dev/null; then lacks="python3.11 python3.11-venv"; fi;; esac; \
	echo "$$what Install it, then run make again:" >&2; \
	if command -v apt-get >/dev/null; then echo "  sudo apt-get install $$lacks" >&2; \
	elif command -v dnf >/dev/null; then echo "  sudo dnf install python3.12" >&2; \
	elif command -v brew >/dev/null; then echo "  brew install python@3.12" >&2; \
	else printf '  %s\n' "Debian, Ubuntu:  sudo apt-get install $$lacks" "Fedora:          sudo dnf install python3.12" \
	  "macOS:           brew install python@3.12" >&2; fi; exit 1
