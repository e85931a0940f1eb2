# The front door: every target wraps a CMake preset. `make help` lists them.
PRESET ?= release
JOBS ?= $(shell nproc)
PACKAGES = build-essential cmake ninja-build libopenblas-openmp-dev libfmt-dev doctest-dev libcli11-dev nlohmann-json3-dev libbenchmark-dev zlib1g-dev
TEST_PACKAGES = chromium python3-numpy texlive-latex-base
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)
BUILD = build/$(PRESET)
PYTHON ?= python3
BENCH ?=

.PHONY: help demo test deps configure build bench docs format lint asan tsan reference install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## install what is missing, build, and watch a transformer learn to read dates
	$(BUILD)/bin/gradus train dates

test: PACKAGES += $(TEST_PACKAGES)
test: build ## install what is missing, build, and run all tests
	ctest --preset $(PRESET)

deps: ## install the packages that are missing (Debian or Ubuntu)
	@missing=""; for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  command -v apt-get >/dev/null || { echo "gradus: this is not Debian or Ubuntu; install the equivalents of:$$missing"; exit 1; }; \
	  echo "gradus: installing$$missing"; \
	  $(SUDO) apt-get update -q && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi

configure: deps
	@cmake --preset $(PRESET) $(CMAKE_ARGS)

build: configure ## compile everything (PRESET=release, dev, asan, tsan or reference)
	cmake --build --preset $(PRESET) --parallel $(JOBS)

bench: build ## time everything, beside PyTorch where PYTHON has it, and write docs/performance.md
	$(PYTHON) bench/report.py --gradus $(BUILD)/bin/gradus-bench $(BENCH)

docs: build ## write the op reference, docs/ops.md, from the registry
	mkdir -p docs && $(BUILD)/bin/gradus ops --markdown > docs/ops.md

format: ## lay out all sources with clang-format
	@command -v clang-format >/dev/null || $(SUDO) apt-get install -y -q clang-format
	git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

lint: ## check layout, and compile with Clang's warnings
	@command -v clang-format >/dev/null || $(SUDO) apt-get install -y -q clang-format
	@command -v clang++ >/dev/null || $(SUDO) apt-get install -y -q clang
	git ls-files '*.hpp' '*.cpp' | xargs clang-format --dry-run -Werror
	cmake -S . -B build/clang -G Ninja -DCMAKE_CXX_COMPILER=clang++ && cmake --build build/clang --parallel $(JOBS)

asan: ## all tests under the address and undefined-behaviour sanitizers
	$(MAKE) test PRESET=asan

tsan: ## all tests under the thread sanitizer
	$(MAKE) test PRESET=tsan

reference: ## all tests with every fused kernel run as its composition
	$(MAKE) test PRESET=reference

install: build ## install to PREFIX (default /usr/local), one library for each x86-64 level
	cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

clean: ## remove build/
	rm -rf build
