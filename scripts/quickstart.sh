#!/usr/bin/env bash
# Sets everything up, builds the Fashion-MNIST example and runs it. Arguments go to the example.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target fashion_mnist
exec build/release/bin/fashion_mnist "$@"
