# Two commands matter: `make demo` and `make test`. Both work on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
# Each of two workers takes half of the tests, in their order, so that most fixtures are made once; then it helps the other.
SIDE_BY_SIDE := -n 2 --dist worksteal
# Every family and verb, and what has kernels; without REGARD_TEST_GPU=1 tests run on the CPU alone.
ON_A_GPU := tests/gpu tests/gpu_kernels

.PHONY: setup demo test quick suite page test-browser test-gpu test-long check style types format bench screenshots docs release docker clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/regard demo --overwrite

# Tests start many processes of Python, which need not each compile what they import.
test quick test-browser test-gpu test-long: export PYTHONDONTWRITEBYTECODE =

# The first mypy of a checkout takes a minute of one core, so it does not keep the tests waiting.
# Where there is a GPU, the tests of what runs on it follow.
test: style
	$(MAKE) --no-print-directory --jobs 2 types suite page
	$(if $(wildcard /dev/nvidiactl),$(MAKE) --no-print-directory test-gpu)

# On two cores a third worker computes while another waits for a browser or for processes that it started.
suite: setup
	$(BIN)/python -m pytest -m 'not long' $(SIDE_BY_SIDE) -n 3

# Every family trained, saved and measured once, and the laws of the house: what to run while working.
quick: setup
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -k 'not test_promises or saved_folder' \
	  tests/test_layers.py tests/test_families.py tests/test_promises.py

# The scripts of the page, outside of a browser; where there is no node, a line says so.
page:
	tests/page/run

test-browser: setup
	REGARD_BROWSER=required $(BIN)/python -m pytest -m browser

test-gpu: setup
	REGARD_TEST_GPU=1 $(BIN)/python -m pytest $(ON_A_GPU) $(SIDE_BY_SIDE)

test-long: setup
	$(BIN)/python -m pytest -m long $(SIDE_BY_SIDE)

check: style types page

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python benchmarks/table.py

screenshots: setup
	test -d runs/demo || $(BIN)/regard demo
	$(BIN)/python docs/make_screenshots.py
	$(BIN)/python docs/make_screenshots.py --onefile

# All documents as a site that needs neither a server nor a network: open build/docs/site/index.html.
docs: setup
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python docs/site/build.py

# The same bytes from the same commit; then the wheel is tried in a fresh environment outside of the checkout.
release: setup
	$(BIN)/python .ci/release.py

docker:
	docker build --tag regard .

clean:
	rm -rf .venv node_modules build dist *.egg-info
