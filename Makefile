# Two commands are all that is needed, on a fresh machine too:
#   make run    the desktop with the demonstration running (without a display: the whole way, headless)
#   make test   everything that continuous integration needs
# The rest: make lint types contracts translations check shape format agents agents-quick fuzz proofs attacks foreign audit engines libraries faults faults-long bench study study-people study-climb screenshots beside packages packages-test site clean

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
IDLE := chrt -i 0 nice -n 19
SETUP := packaging/setup
INPUTS := pyproject.toml $(SETUP)/venv.sh

export PYTHON LANG := C.UTF-8

.PHONY: engines libraries agents agents-quick beside help run test lint types contracts translations check shape format fuzz proofs attacks foreign audit faults faults-long bench study study-people study-climb packages package-deb package-run packages-test release server-package try-server-package pages site clean engine-stop

help:
	@sed -n 's/^# \?//p' Makefile | head -4

run: $(VENV)/.has-run
	@$(SETUP)/run.sh

test: $(VENV)/.has-test
	@$(SETUP)/test.sh $(TESTS)

$(VENV)/.has-run: $(INPUTS)
	@$(SETUP)/system.sh desktop
	@$(SETUP)/venv.sh "" $@

$(VENV)/.has-train: $(INPUTS)
	@$(SETUP)/venv.sh "[train]" $@

$(VENV)/.has-test: $(INPUTS)
	@$(SETUP)/system.sh desktop engine tests
	@$(SETUP)/venv.sh "[train,test]" $@

lint: $(VENV)/.has-test
	$(BIN)/ruff check .

types: $(VENV)/.has-test
	$(BIN)/mypy

contracts: $(VENV)/.has-test
	$(BIN)/lint-imports

translations: $(VENV)/.has-test
	$(BIN)/python packaging/translations.py --check

# How large the source is and how its parts hang together: make shape REVISIONS="v1 HEAD".
shape:
	@$(PYTHON) packaging/shape.py $(REVISIONS)

check: lint types contracts translations

format: $(VENV)/.has-test
	$(BIN)/ruff check --fix .

# The whole product under faults, from a seed (docs/reliability.md): a minute, or as long as it takes.
faults: $(VENV)/.has-test
	$(BIN)/python tests/faults/run.py --seed $(or $(SEED),1) --seconds $(or $(SECONDS),60)

faults-long: $(VENV)/.has-test
	$(BIN)/python tests/faults/run.py --every-boundary
	$(BIN)/python tests/faults/run.py --compare --seconds 8 --seed 5
	$(BIN)/python tests/faults/run.py --long --seconds 4500
	TIPHYS_CUTS=10000 $(BIN)/python -m pytest -q tests/core/store/test_power_loss.py --timeout 3600
	$(BIN)/python tests/faults/run.py --seed $(or $(SEED),1000) --runs 20 --seconds 300 --pause 0.04 --rate 60

# Every panel and dialog in both languages and both schemes, of a made-up session: build/screenshots.
screenshots: $(VENV)/.has-run
	$(BIN)/python packaging/pictures/take.py $(or $(OUT),build/screenshots)

# The window at the sizes of its drawings (docs/window.md), of a saved run: make beside RUN=run.jsonl DRAWN=folder.
beside: $(VENV)/.has-run
	$(BIN)/python packaging/pictures/beside.py $(or $(OUT),build/beside) --run $(RUN) $(if $(ALSO),--also $(ALSO)) $(if $(DRAWN),--drawn $(DRAWN))

# Real agents, from npm and PyPI, through the gateway and without a network afterwards (docs/agents.md): a quarter of an hour.
agents: $(VENV)/.has-test
	$(SETUP)/agents.sh build/agents $(AGENTS)
	PYTHONPATH=.:tests QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q tests/conformance

# The three that install and run quickest do their whole task once (a minute); without npm or its registry they are passed over.
agents-quick: $(VENV)/.has-test
	@timeout 600 $(SETUP)/agents.sh build/agents quick || echo "agents-quick: could not be installed here; passed over"
	env -u CI PYTHONPATH=.:tests QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q tests/conformance \
	  -k "test_it_works and (mini-swe or claude or codex)"

# The libraries that formats come with read real files beside our readers (docs/formats.md): from PyPI and npm, minutes.
libraries: $(VENV)/.has-test
	$(SETUP)/libraries.sh build/libraries
	PATH=$(CURDIR)/build/libraries/codex/node_modules/.bin:$$PATH PYTHONPATH=.:tests $(BIN)/python -m pytest -q \
	  tests/core/formats/test_own_libraries.py tests/core/formats/test_codex_itself.py

# axolotl's own trainer on our rows, and Liger's kernels by Triton's interpreter: from PyPI, minutes (docs/engines.md).
engines: $(VENV)/.has-test
	$(SETUP)/engines.sh build/engines
	TIPHYS_ENGINES=$(CURDIR)/build/engines PYTHONPATH=.:tests:build/engines/liger $(BIN)/python -m pytest -q tests/engines

bench: $(VENV)/.has-test
	$(BIN)/python tests/benchmarks/run.py

# Does masking help? Records, judges, trains and rolls out, and writes its tables into docs/study.md (.zh.md): under three hours of
# two cores, and it goes on where it was. DESIGN=smollm2 does it with SmolLM2, WORKERS are processes that share the work.
study: $(VENV)/.has-test
	OMP_NUM_THREADS=$(or $(THREADS),1) PYTHONPATH=.:tests $(BIN)/python -m study.run $(or $(DESIGN),small) \
	  --workers $(or $(WORKERS),2) --out $(or $(OUT),build/study/$(or $(DESIGN),small)) --write docs/study.md

# Does it help to learn from people? A small policy, advised by true and imperfect advisers (docs/reinforcement.md): it goes on where it was cut;
# make study-people DESIGN=room2 MINUTES=60 OUT=FOLDER.
study-people: $(VENV)/.has-test
	cd tests && OMP_NUM_THREADS=$(or $(THREADS),1) PYTHONPATH=..:. $(IDLE) ../$(BIN)/python -m study.people $(abspath $(or $(OUT),build/study-people)) \
	  --design $(or $(DESIGN),room2) --minutes $(or $(MINUTES),100000)

# Does a small policy climb by the product's own commands: demonstrations, supervised training, reinforcement, held-out plays? A table
# and a curve; it goes on where it was cut; make study-climb DESIGN=textcraft OUT=FOLDER WORKERS=2 (seeds side by side).
study-climb: $(VENV)/.has-test
	OMP_NUM_THREADS=$(or $(THREADS),1) PYTHONPATH=.:tests $(BIN)/python -m study.climb $(or $(DESIGN),babyai) \
	  $(or $(OUT),build/study-climb/$(or $(DESIGN),babyai)) --at-once $(or $(WORKERS),1)

# Thousands of damaged inputs for every decoder, and extreme events in every panel of the window (minutes);
# make fuzz EXAMPLES=20000 SESSIONS=2000 for a night.
fuzz: $(VENV)/.has-test
	TIPHYS_FUZZ_EXAMPLES=$(or $(EXAMPLES),2000) QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q --timeout 0 \
	  tests/attacks/test_fuzz_decoders.py tests/attacks/test_names_and_growth.py tests/attacks/test_prompt_injection.py
	TIPHYS_FUZZ_SESSIONS=$(or $(SESSIONS),200) QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q --timeout 0 \
	  tests/app/window/test_extreme_events.py

# What tests draw by chance, all of it; `make test` tries a part of it with every change (tests/support/proofs.py).
proofs: $(VENV)/.has-test
	TIPHYS_PROOFS=1 QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q --timeout 3600 \
	  $$(grep -rlw --include='test_*.py' 'support.proofs' tests)

# Every threat of SECURITY.md, and what got through.
attacks: $(VENV)/.has-test
	$(BIN)/python tests/attacks/table.py

# Everything foreign that the tests try (files, events, task folders, …), counted: docs/reliability.md.
foreign: $(VENV)/.has-test
	$(BIN)/python tests/attacks/foreign.py $(if $(INTO),--into $(INTO))

# Known vulnerabilities of everything that the installer takes in; needs the network.
audit: $(VENV)/.has-test
	$(PYTHON) -m venv build/audit && build/audit/bin/pip install --quiet pip-audit
	build/audit/bin/pip-audit --disable-pip --require-hashes -r packaging/locks/train.txt

# For lab machines (docs/packages.md), into dist/: the desktop as a .deb with its own Python, the same as a .run for one person,
# and the server's .deb.
packages: server-package
	@packaging/desktop/packages.sh

package-deb:
	@packaging/desktop/packages.sh deb

package-run:
	@packaging/desktop/packages.sh run

# Each of them in bare systems of Debian 12 and 13, from the installation to the purge (root only): make packages-test TRIAL=--short.
packages-test:
	@packaging/setup/system.sh desktop packages
	@$(PYTHON) -B packaging/desktop/trial.py $(TRIAL)

# dist/tiphys-server_VERSION_amd64.deb; try-server-package: in bare roots of SUITE (root and mmdebstrap; minutes), the second
# of which runs systemd, with an agent at work through restarts and an upgrade.
server-package:
	@$(PYTHON) -B packaging/server/build.py dist

try-server-package: server-package
	packaging/server/try.sh dist/tiphys-server_*_amd64.deb $(or $(SUITE),bookworm)
	packaging/server/try-systemd.sh dist/tiphys-server_*_amd64.deb $(or $(SUITE),bookworm)

# The pages and files that are made of the source: docs/server-settings.md and errors.md (.zh.md each), protocol.schema.json,
# packaging/server/server.toml.
pages: $(VENV)/.has-test
	$(BIN)/python packaging/server_settings.py
	$(BIN)/python packaging/errors_page.py
	$(BIN)/python packaging/protocol_schema.py

# The manual as a site that is read without a network, in English and Chinese: dist/site/index.html.
site:
	@$(PYTHON) -B packaging/site/build.py

# All of a release at once, into dist/: make release VERSION=1.2.3 (the changelog names it).
release:
	@packaging/release.sh $(VERSION)

engine-stop:
	@$(SETUP)/engine.sh stop

clean: engine-stop
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
