#!/usr/bin/env bash
# Static checks: include direction, file length, public headers, their cost, format, paths. The last line is
# "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0
failed=0
report() {  # NAME OFFENDERS
  if [ -z "$2" ]; then
    echo "ok $1"
    passed=$((passed + 1))
  else
    echo "FAILED $1: $(wc -l <<<"$2")"
    head -n 20 <<<"$2"
    failed=$((failed + 1))
  fi
}
mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
  xargs -r ls -d 2>/dev/null)
mapfile -t public < <(printf '%s\n' "${sources[@]}" | grep '^include/')
mapfile -t internal < <(printf '%s\n' "${sources[@]}" | grep '^src/')

include_direction() {
  awk '
    BEGIN {
      n = split("jit base|ir|runtime|core|interp|ops|spmd backend/reference backend/codegen|backend/native backend/pjrt|api|" \
                "nn optim ckpt data train", layers, "|")
      for (i = 1; i <= n; ++i) {
        m = split(layers[i], folders, " ")
        for (k = 1; k <= m; ++k) rank[folders[k]] = i
      }
    }
    function folder(path, part) {
      split(path, part, "/")
      return part[1] == "backend" ? part[1] "/" part[2] : part[1]
    }
    /^#include "/ {
      split($0, quoted, "\"")
      from = folder(substr(FILENAME, 5))
      to = folder(quoted[2])
      if (!(to in rank) || (to != from && rank[to] >= rank[from])) print FILENAME ": includes " quoted[2]
    }' "${internal[@]}"
}
report "include direction" "$(include_direction)"
report "public headers include only themselves and the standard library" \
  "$(grep -nE '^#include ("|<[^>]*(/|\.h>))' "${public[@]}" | grep -v '<unisono/')"
report "headers that stay out of public headers" \
  "$(grep -nE '^#include <(chrono|filesystem|ranges|iostream|algorithm|functional)>' "${public[@]}")"
report "600 lines at most" "$(wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }')"

self_contained() {
  printf '%s\n' "${public[@]}" | xargs -P "$(nproc)" -I{} sh -c '
    g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Iinclude -include {} -x c++ /dev/null >/dev/null 2>&1 || echo {}'
}
report "public headers compile alone" "$(self_contained)"

least_cost() {  # SOURCE: user seconds of compiling it, the least of five: other load only adds
  for _ in 1 2 3 4 5; do
    { TIMEFORMAT=%U; time echo "$1" | g++ -std=c++20 -O0 -Iinclude -x c++ -c - -o /dev/null; } 2>&1 | tail -n 1
  done | sort -n | head -n 1
}
added=$(awk -v empty="$(least_cost "")" -v full="$(least_cost "#include <unisono/unisono.hpp>")" \
  'BEGIN { printf "%.2f", full - empty }')
report "<unisono/unisono.hpp> adds at most 1.0 s ($added s)" "$(awk -v s="$added" 'BEGIN { if (s > 1.0) print s " s" }')"

if command -v clang-format >/dev/null; then
  report "format (clang-format -i FILE)" \
    "$(clang-format --dry-run -Werror "${sources[@]}" 2>&1 |
      sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error:.*/\1/p' | sort -u)"
fi
report "no paths of one machine" "$(git grep --untracked -nIE '(/wor[k]/|/roo[t]/|/hom[e]/)')"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
