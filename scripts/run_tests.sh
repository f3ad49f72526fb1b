#!/usr/bin/env bash
# Runs the tests of a built preset and adds up their results: run_tests.sh PRESET [--filter GTEST_FILTER] [TEST ...].
# Without names, all tests that CTest knows. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
filter='*'
if [ "${1:-}" = --filter ]; then
  filter=$2
  shift 2
fi
tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
  mapfile -t tests < <(ctest --test-dir "build/$preset" -N 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p')
fi
limit=900  # seconds that one test program may take
passed=0
failed=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The thread sanitizer of GCC 12 stops at the address layout of newer kernels unless its randomisation is off.
launch=()
if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then launch=(setarch "$(uname -m)" -R); fi

show_failures() {  # what the failing tests printed
  awk '/^\[ RUN      \]/ { block = "" } { block = block $0 "\n" }
       /\[  FAILED  \] .* \([0-9]+ ms\)$/ { printf "%s", block; block = "" }' "$log"
}
run_program() {  # NAME: a GoogleTest program, which counts as many tests as it holds
  local code=0 ok=0 bad=() last begin=$SECONDS
  timeout -k 10 $limit "${launch[@]}" "build/$preset/bin/$1" --gtest_color=no --gtest_filter="$filter" >"$log" 2>&1 ||
    code=$?
  ok=$(grep -cE '\[       OK \] .* \([0-9]+ ms\)$' "$log")
  mapfile -t bad < <(sed -nE 's/^.*\[  FAILED  \] ([^ ,]+).* \([0-9]+ ms\)$/\1/p' "$log")
  [ ${#bad[@]} -eq 0 ] || show_failures
  if ! grep -qE '^\[==========\] .* ran\.' "$log"; then
    last=$(sed -nE 's/^\[ RUN      \] //p' "$log" | tail -n 1)
    tail -n 40 "$log"
    if [ $code -eq 124 ]; then echo "$1: no end after $limit s"; else echo "$1: ended with code $code"; fi
    bad+=("${last:-before the first test}")
  elif [ $code -ne 0 ] && [ ${#bad[@]} -eq 0 ]; then
    tail -n 40 "$log"
    bad+=("ended with code $code after its tests")
  fi
  grep -E '^mutation score' "$log" || true
  echo "$1: $ok passed, ${#bad[@]} failed, $((SECONDS - begin)) s"
  passed=$((passed + ok))
  [ ${#bad[@]} -eq 0 ] || failed+=("${bad[@]/#/$1: }")
}
run_other() {  # NAME: a test that only CTest knows how to start; it counts as one
  local begin=$SECONDS
  if ctest --test-dir "build/$preset" -R "^$1\$" --no-tests=error --timeout $limit --output-on-failure >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "$1: 1 passed, 0 failed, $((SECONDS - begin)) s"
  else
    cat "$log"
    failed+=("$1")
    echo "$1: 0 passed, 1 failed, $((SECONDS - begin)) s"
  fi
}

for name in "${tests[@]}"; do
  if [[ $name != test_* ]]; then
    run_other "$name"
  elif [ -x "build/$preset/bin/$name" ]; then
    run_program "$name"
  else
    failed+=("$name: not built")
  fi
done
[ ${#failed[@]} -eq 0 ] || printf 'FAILED %s\n' "${failed[@]}"
echo "$passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ] && [ $passed -gt 0 ]
