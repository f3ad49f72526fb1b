#!/usr/bin/env bash
# Times Unisono on the items of benchmarks/peers/README.md: bench.sh [--peers] [--only ITEM]... [--threads N] [--rounds N]
# [--seconds S] [--json FILE]. With --peers, JAX and PyTorch do the same work in turn in the same rounds, and ratios of
# medians are printed. --json writes all figures as an array of lines.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=0 threads=2 rounds=3 seconds=1 json='' only=()
while [ $# -gt 0 ]; do
  case $1 in
    --peers) peers=1 ;;
    --only) only+=(--only "$2") && shift ;;
    --threads) threads=$2 && shift ;;
    --rounds) rounds=$2 && shift ;;
    --seconds) seconds=$2 && shift ;;
    --json) json=$2 && shift ;;
    *) sed -n '2,4s/^# //p' "$0" && exit 2 ;;
  esac
  shift
done
scripts/setup.sh
cmake --preset release -DUNISONO_BENCHMARKS=ON >/dev/null
cmake --build --preset release --target unisono_bench -- --quiet
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
cores=$(taskset -cp $$ | sed 's/.*: //')
first=$(awk -v n="$threads" -F, '{ for (i = 1; i <= NF && n > 0; ++i) { split($i, r, "-"); last = r[2] == "" ? r[1] : r[2];
  for (c = r[1]; c <= last && n > 0; ++c) { out = out sep c; sep = ","; --n } } print out }' <<<"$cores")
common=("${only[@]}" --threads "$threads" --seconds "$seconds")
if [ $peers = 1 ]; then
  dpkg-query -W python3-venv >/dev/null 2>&1 || command -v python3 >/dev/null ||
    { echo "--peers needs python3 with venv" >&2 && exit 1; }
  python=$(PEERS_VENV=${PEERS_VENV:-build/peers} benchmarks/peers/setup.sh)
fi
for ((round = 1; round <= rounds; ++round)); do
  echo "round $round of $rounds" >&2
  taskset -c "$first" build/release/bin/unisono_bench "${common[@]}" >>"$lines"
  [ $peers = 1 ] || continue
  for peer in jax torch; do
    "$python" "benchmarks/peers/${peer}_bench.py" "${common[@]}" 2>/dev/null | grep '^{' >>"$lines" || true
  done
done
[ -z "$json" ] || { echo "[" && sed '$!s/$/,/' "$lines" && echo "]"; } >"$json"

echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $threads threads, medians of $rounds rounds"
awk '
  function field(name, text) {
    text = $0
    if (!sub(".*\"" name "\": *\"?", "", text)) return ""
    sub(/["},].*/, "", text)
    return text
  }
  function middle(list, n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] + 0 : (v[n / 2] + v[n / 2 + 1]) / 2
  }
  function ratio(a, b) { return a != "" && b != "" ? sprintf("%.2f", middle(a) / middle(b)) : "-" }
  function shown(a) { return a != "" ? sprintf("%.4g", middle(a)) : "-" }
  {
    item = field("bench")
    impl = field("impl")
    sub(/ .*/, "", impl)
    sub(/^pytorch$/, "torch", impl)
    if (!(item in unit)) order[++count] = item
    unit[item] = field("metric")
    if (field("median") != "") got[item, impl] = got[item, impl] " " field("median")
  }
  END {
    printf "%-28s %4s %10s %10s %10s %8s %8s\n", "item", "", "unisono", "jax", "torch", "/jax", "/torch"
    for (i = 1; i <= count; ++i) {
      k = order[i]
      if ((k, "unisono") in got)
        printf "%-28s %4s %10s %10s %10s %8s %8s\n", k, unit[k], shown(got[k, "unisono"]), shown(got[k, "jax"]),
          shown(got[k, "torch"]), ratio(got[k, "unisono"], got[k, "jax"]), ratio(got[k, "unisono"], got[k, "torch"])
    }
  }' "$lines"
