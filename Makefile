PYTHON ?= python3
BIN := .venv/bin
NEWEST := .venv-sphinx
EDITION ?= public
LANGUAGE ?= en
# Tests wait for graders, kernels and browsers as long as they compute.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2)))
# A file's tests stay together and share what they set up. The long files come first
# by their folders' names; by numbers of tests, some of them would come last and alone.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder
PYTHONS := benchmarks/results/pythons.json

.DEFAULT_GOAL := help
.PHONY: help setup course test test-fast test-slow test-sphinx style test-python notebooks book book-sphinx pictures \
  grade model bench format clean

help:  ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup:  ## make .venv with everything in it
	@$(PYTHON) autograder/commands/set_up.py

course:  ## notebooks, book, graded sample class: then look where it says
	@began=$$(date +%s) && $(PYTHON) autograder/commands/set_up.py --began $$began && \
	  $(BIN)/course all --began $$began

test: setup style  ## what a change is likely to break (target: 12 minutes on two cores)
	@$(PYTEST) -m "not slow"

test-fast: WORKERS = auto
test-fast: setup style  ## style and unit tests (target: 2 minutes)
	@$(PYTEST) -m "not slow and not integration"

test-slow: setup  ## the rest: every attack, every page, clusters, large classes, no sandbox
	@$(PYTEST) -m slow

# `book/build.py` has no Jupyter Book in this environment, and so builds with Sphinx.
test-sphinx: private BIN = $(NEWEST)/bin
test-sphinx: $(NEWEST)/installed  ## the book's tests with that build, in both languages
	@$(PYTEST) tests/book/test_*.py tests/book/live/test_live_book.py -m "slow or integration"

.venv/installed: setup
	@:

# What it does not install itself, such as PyTorch, it finds in .venv.
$(NEWEST)/installed: .venv/installed
	@$(BIN)/python -m venv --clear --upgrade-deps $(NEWEST)
	@$(NEWEST)/bin/python -m pip install -q --no-compile --group book-sphinx
	@cd $(NEWEST)/lib/python3*/site-packages && printf 'import site; site.addsitedir("%s")\n' \
	  $(CURDIR)/.venv/lib/python3*/site-packages >course.pth
	@touch $@

style:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

test-python:  ## after setup: run all answers on PYTHON=/path/to/python3.13
	@$(BIN)/python tests/instructor/on_python.py $(PYTHON) --record $(PYTHONS)

notebooks: setup  ## masters -> answer notebooks -> assignments with their kits
	@$(BIN)/course notebooks

book: setup  ## build the book (EDITION=instructor with answers, LANGUAGE=ko in Korean)
	@$(BIN)/course book --edition $(EDITION) --language $(LANGUAGE)

book-sphinx: $(NEWEST)/installed  ## build it with the newest Sphinx in its place, without Jupyter Book
	@$(NEWEST)/bin/python book/build.py --edition $(EDITION) --language $(LANGUAGE)

pictures: setup  ## take the pictures of the instructor's guide
	@cd book && ../$(BIN)/python -m guide_pictures

grade: setup  ## grade what lies in submitted/
	@$(BIN)/course grade

model: setup  ## train and write the small model that the course ships
	@$(BIN)/python -m transformer train --epochs 8 --out runs/tiny
	@$(BIN)/python -m transformer.shipped_model.make runs/tiny

bench: setup  ## measure the speeds that the book shows (DATA=DIR RUN=DIR: see there)
	@$(BIN)/python benchmarks/bench.py $(if $(DATA),--data-dir $(DATA)) $(if $(RUN),--run $(RUN))

format: setup  ## put the code in order
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:  ## remove what was built; .venv and the gradebook stay
	rm -rf build book/_build
