#!/usr/bin/env bash
# Sets everything up, builds all tests and runs them. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset dev >/dev/null
cmake --build --preset dev -- -j "${UNISONO_JOBS:-$(nproc)}"
exec scripts/run_tests.sh dev
