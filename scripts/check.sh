#!/usr/bin/env bash
# Static checks: include direction, file length, self-contained public headers, their cost, format, paths.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
report() {  # NAME OFFENDERS
  if [ -z "$2" ]; then
    echo "ok $1"
  else
    echo "FAILED $1"
    echo "$2" | head -n 20
    status=1
  fi
}

sources() { git ls-files -- '*.cpp' '*.hpp'; }

include_direction() {
  awk '
    BEGIN {
      n = split("base ir runtime core interp ops", order, " ")
      for (i = 1; i <= n; ++i) rank[order[i]] = i
      rank["spmd"] = 7; rank["backend/reference"] = 7; rank["backend/native"] = 7; rank["api"] = 8
      rank["nn"] = 9; rank["optim"] = 9; rank["data"] = 9; rank["train"] = 9
    }
    function folder(path) {
      if (path ~ /^backend\//) { split(path, p, "/"); return p[1] "/" p[2] }
      split(path, p, "/"); return p[1]
    }
    /^#include "/ {
      file = FILENAME; sub(/^src\//, "", file)
      target = $2; gsub(/"/, "", target)
      from = folder(file); to = folder(target)
      if (!(to in rank) || (to != from && rank[to] >= rank[from])) print FILENAME ": includes " target
    }' $(git ls-files -- 'src/*.cpp' 'src/*.hpp')
  grep -HnE '^#include "|^#include <(CLI|nlohmann|llvm|cblas|zlib)' $(git ls-files -- 'include/*.hpp') || true
}
report "include direction" "$(include_direction)"
report "600 lines at most" "$(sources | xargs wc -l | awk '$2 != "total" && $1 > 600 {print $2 ": " $1}')"
report "headers that stay out of public headers" \
  "$(grep -nE '^#include <(chrono|filesystem|ranges|iostream|algorithm|functional)>' $(git ls-files -- 'include/*.hpp') || true)"

self_contained() {
  for h in $(git ls-files -- 'include/unisono/*.hpp'); do
    g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Iinclude -include "$h" -x c++ /dev/null 2>&1 |
      grep -m1 -E 'error' | sed "s|^|$h: |"
  done
}
report "public headers compile alone" "$(self_contained)"

header_cost() {  # median of three, user seconds
  cost() {
    for _ in 1 2 3; do
      { TIMEFORMAT=%U; time echo "$1" | g++ -std=c++20 -O0 -Iinclude -x c++ -c - -o /dev/null; } 2>&1
    done | sort -n | sed -n 2p
  }
  empty=$(cost "")
  full=$(cost "#include <unisono/unisono.hpp>")
  awk -v a="$empty" -v b="$full" 'BEGIN { printf "header cost: %.2f s over an empty file\n", b - a > "/dev/stderr"
    if (b - a > 1.0) printf "<unisono/unisono.hpp> adds %.2f s, at most 1.0 s\n", b - a }'
}
report "header cost" "$(header_cost)"
report "format" "$(sources | grep -v 'include/unisono/detail/reflect_ladder' | xargs clang-format --dry-run -Werror 2>&1 | grep -E 'error' | cut -d: -f1 | sort -u)"
report "no paths of one machine" "$(git grep -nIE '(/wor[k]/|/roo[t]/|/hom[e]/)' || true)"
exit $status
