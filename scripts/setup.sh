#!/usr/bin/env bash
# Installs the Debian packages that are missing; does nothing, and needs no network, when all are there.
set -euo pipefail

packages=(g++ cmake ninja-build ccache lld pkg-config git clang-format
  libopenblas-dev llvm-19-dev libzstd-dev zlib1g-dev libcli11-dev dataset-fashion-mnist
  libgtest-dev libgmock-dev nlohmann-json3-dev)

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

give_up() {
  echo "$1 Run:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
  exit 1
}
root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null || give_up "Packages are missing, and installing them needs root."
  root=(sudo -n)
fi
echo "installing ${missing[*]}"
for attempt in 1 2 3; do
  if "${root[@]}" apt-get update -qq &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
    exit 0
  fi
  echo "apt-get failed (attempt $attempt of 3)" >&2
  [ "$attempt" -eq 3 ] || sleep 5
done
give_up "The packages could not be installed."
