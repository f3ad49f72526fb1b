#!/usr/bin/env bash
# Runs test programs and adds up their results: run_tests.sh PRESET [--filter GTEST_FILTER] [PROGRAM ...]. Without
# programs, all of that preset and the package test. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
filter='*'
if [ "${1:-}" = --filter ]; then
  filter=$2
  shift 2
fi
programs=("$@")
all=no
if [ ${#programs[@]} -eq 0 ]; then
  all=yes
  programs=()
  for f in build/"$preset"/bin/test_*; do [ -x "$f" ] && programs+=("$(basename "$f")"); done
fi
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for p in "${programs[@]}"; do
  begin=$SECONDS
  if [ ! -x build/"$preset"/bin/"$p" ]; then
    echo "FAILED $p: not built"
    failed=$((failed + 1))
    continue
  fi
  build/"$preset"/bin/"$p" --gtest_brief=1 --gtest_filter="$filter" >"$log" 2>&1
  code=$?
  ok=$(grep -oE '^\[  PASSED  \] [0-9]+' "$log" | grep -oE '[0-9]+$' || true)
  bad=$(grep -oE '^ *[0-9]+ FAILED TEST' "$log" | grep -oE '[0-9]+' || true)
  ok=${ok:-0}
  bad=${bad:-0}
  if [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then
    echo "FAILED $p: ended with code $code"
    tail -n 40 "$log"
    bad=1
  elif [ "$bad" -gt 0 ]; then
    cat "$log"
  fi
  grep -E '^(mutation score|slow)' "$log" || true
  echo "$p: $ok passed, $bad failed, $((SECONDS - begin)) s"
  passed=$((passed + ok))
  failed=$((failed + bad))
done
if [ $all = yes ]; then
  begin=$SECONDS
  if tests/package/run.sh build/"$preset" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "package: 1 passed, 0 failed, $((SECONDS - begin)) s"
  else
    failed=$((failed + 1))
    cat "$log"
    echo "FAILED package"
  fi
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
