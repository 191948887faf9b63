# make run    set up and open the dashboard          make test    set up and run every test
# make check  the fast tests and linters, < 2 min    make clean   remove what the others made
SHELL := /bin/bash
.DEFAULT_GOAL := run
.PHONY: run test check clean

VENV := .venv
PY := $(VENV)/bin/python
# --no-cache-dir: nothing is written outside this folder.
PIP := $(PY) -m pip --quiet --disable-pip-version-check --no-input --no-cache-dir
JOBS ?= 2
export PYTHONDONTWRITEBYTECODE ?=

run: $(VENV)/.run
	$(PY) -m streamlit run app.py

test: $(VENV)/.test
	@browser=$$(.ci/browser $(PY)) || [ "$(CI)" != true ] || exit 1; \
	DPVIZ_BROWSER="$$browser" $(PY) -m pytest -q -n $(JOBS) --dist loadgroup $(ARGS)

check: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest -q -n $(JOBS) --dist loadgroup -m "not slow and not browser" $(ARGS)

clean:
	rm -rf $(VENV) *.egg-info build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(VENV)/.run: requirements.txt pyproject.toml | $(PY)
	@echo "Installing dpviz and what it needs into $(VENV) (once, a few minutes)."
	$(PIP) install -r requirements.txt -e .
	@touch $@

$(VENV)/.test: $(VENV)/.run
	@echo "Installing what the tests need into $(VENV) (once)."
	$(PIP) install -e '.[test]'
	@touch $@

# A Python that is new enough and can make environments; where there is none, the line that installs it.
$(PY):
	@for name in python3.13 python3.12 python3.11 python3; do \
	  command -v $$name >/dev/null 2>&1 || continue; \
	  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue; \
	  if $$name -c 'import ensurepip, venv' 2>/dev/null; then exec $$name -m venv --clear $(VENV); fi; \
	  lacks=$$($$name -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	done; \
	if [ -n "$$lacks" ]; then echo "Python is here, its venv module is not. Install it, then run make again:"; \
	else echo "dpviz needs Python 3.11 or newer. Install it, then run make again:"; fi; \
	if command -v apt-get >/dev/null; then echo "  sudo apt-get install python3 $${lacks:-python3-venv}"; \
	elif command -v dnf >/dev/null; then echo "  sudo dnf install python3.12"; \
	elif command -v brew >/dev/null; then echo "  brew install python@3.12"; \
	else echo "  Debian, Ubuntu:  sudo apt-get install python3 python3-venv"; \
	echo "  Fedora:          sudo dnf install python3.12"; echo "  macOS:           brew install python@3.12"; fi; exit 1
