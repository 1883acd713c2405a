#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up, builds, and runs the tests. The last line is always `N passed, N failed, N skipped`.
#
#   check.sh [--full] [SUITE ...]     --full: the long tests too, and what they need
set -uo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in
  -h | --help) sed -n '4,6s/^# \{0,1\}//p' scripts/check.sh && exit ;;
esac
setup=() targets=(all fact-static-tools)
if [ "${1:-}" = --full ]; then
  setup=(--full) targets+=(fact-fuzzers)
fi
if ! scripts/setup.sh "${setup[@]}" || ! scripts/build.sh "${targets[@]}"; then
  echo "check: setting up or building failed; see above"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
exec .venv/bin/python scripts/check.py "$@"
