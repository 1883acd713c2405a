#!/usr/bin/env bash
# Sets up, builds, and runs every test. The last line is always `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.."
if ! scripts/setup.sh || ! scripts/build.sh; then
  echo "check: setting up or building failed; see above"
  echo "0 passed, 1 failed"
  exit 1
fi
exec .venv/bin/python scripts/check.py "$@"
