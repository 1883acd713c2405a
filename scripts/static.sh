#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds static tools, in build/ for this machine's architecture and by a cross build for another one,
# and prints the folder whose bin/ has them.
#
#   static.sh ARCHITECTURE [TARGET ...]     x86_64 or aarch64; default: fact-static-tools
set -euo pipefail
architecture=${1:?usage: static.sh ARCHITECTURE [TARGET ...]}
shift
[ $# -gt 0 ] || set -- fact-static-tools
cd "$(dirname "$0")/.."
if [ "$architecture" = "$(uname -m)" ]; then
  scripts/build.sh "$@" >&2
  echo build/static
else
  scripts/cross/build.sh "$architecture" "$@" >&2
  echo "build-$architecture/static"
fi
