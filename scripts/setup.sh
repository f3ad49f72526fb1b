#!/usr/bin/env bash
# Installs the Debian packages that are missing; does nothing, and needs no network, when all are there.
set -euo pipefail

packages=(g++ cmake ninja-build ccache lld pkg-config git
  libopenblas-dev zlib1g-dev libcli11-dev dataset-fashion-mnist
  libgtest-dev libgmock-dev nlohmann-json3-dev clang-format)

missing=()
for p in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

run=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
    echo "These packages are missing and there is no right to install them. Run:"
    echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}"
    exit 1
  fi
  run=(sudo)
fi
echo "installing ${missing[*]}"
for attempt in 1 2 3; do
  if "${run[@]}" apt-get update -qq &&
    "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
    exit 0
  fi
  echo "apt-get failed (attempt $attempt)"
  sleep 5
done
echo "The packages could not be installed. Run:"
echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}"
exit 1
