# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two commands: `make demo` shows FACT at work, `make check` tests it. Both install and
# build what is missing first, and do nothing twice.

PYTHON := .venv/bin/python
export PYTHONPATH := $(CURDIR)/python

.PHONY: help demo check check-full setup build tools wheel site check-gpu pack-gpu clean

help:
	@echo "make demo       compile a small GPT block, run it, compare it with PyTorch"
	@echo "make check      the tests; the last line is 'N passed, N failed, N skipped'"
	@echo "make check-full the long tests too: other CPUs, fuzzers, faults, a local model"
	@echo "make setup      only install what is missing"
	@echo "make build      only build, into build/"
	@echo "make tools      static tools, for machines without LLVM, into build/static"
	@echo "make wheel      a wheel that has them, into out/wheels; ARCH=\"x86_64 aarch64\" for others"
	@echo "make site       the documentation as HTML, into build/site"
	@echo "make pack-gpu   what a GPU machine needs, into out/gpu"
	@echo "make check-gpu  on a GPU machine: kernels against references and PyTorch"
	@echo "make clean      remove build/ and out/"

demo: setup
	@scripts/build.sh fact-compile fact-tune
	@$(PYTHON) -m fact demo

check:
	@scripts/check.sh

check-full:
	@scripts/check.sh --full

setup:
	@scripts/setup.sh

build: setup
	@scripts/build.sh

tools: setup
	@scripts/build.sh fact-static-tools

wheel: setup
	@scripts/wheel.sh $(ARCH)

site: setup
	@$(PYTHON) docs/site/build.py

pack-gpu: build
	@scripts/pack-gpu.sh

check-gpu:
	@scripts/check-gpu.sh

clean:
	rm -rf build build-* out
