#!/usr/bin/env bash
# Sets everything up, builds all tests and runs them. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
if ! { scripts/setup.sh && cmake --preset dev >/dev/null && cmake --build --preset dev -- -k 0; }; then
  echo "FAILED build"
  echo "0 passed, 1 failed"
  exit 1
fi
exec scripts/run_tests.sh dev
