#!/usr/bin/env bash
# Runs the tests of ccan's own list, container_of, check_type and build_assert against the headers here. Those
# tests are not part of this project: the first argument names a checkout of ccan that holds them.
set -euo pipefail

if (($# < 1)); then
  echo "Usage: upstream_tests.sh CCAN_CHECKOUT [COMPILER_OPTION...]" >&2
  exit 2
fi
ccan=$1
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
include=$here/../../ccan_compat/include
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Upstream's test library and its tests, without the headers that are to be replaced.
mkdir -p "$scratch/ccan/list"
cp -r "$ccan/ccan/tap" "$ccan/ccan/compiler" "$scratch/ccan"
cp -r "$ccan/ccan/list/test" "$scratch/ccan/list"
cp "$ccan/ccan/list/test/helper.h" "$scratch"
: >"$scratch/config.h"

compile_strictly() { "${CXX:-g++}" -std=c++20 -x c++ -I"$include" -I"$scratch" "$@"; }
compile() { compile_strictly -fpermissive -w "$@"; }

cd "$scratch"
compile -c ccan/tap/tap.c -o tap.o "$@"
compile -c ccan/list/test/helper.c -o helper.o "$@"

failed=0
fail() {
  echo "FAILED $1: $2"
  failed=1
}

# Upstream's tests do not all say by their exit status whether they passed.
run_test() {
  compile -x none test.o helper.o tap.o -o program "$@" >output 2>&1 || return
  ./program >output 2>&1 || return
  ! grep -q '^not ok' output
}

for test in "$ccan"/ccan/{list,container_of,check_type,build_assert}/test/{run,compile_ok}*.c; do
  [[ -e $test ]] || continue
  name=${test#"$ccan"/ccan/}
  cp "$test" "$scratch/"
  if ! compile -c "$(basename "$test")" -o test.o "$@" 2>compiler.log; then
    cat compiler.log
    fail "$name" "does not compile"
  elif ! run_test "$@"; then
    cat output
    fail "$name" "does not pass"
  else
    echo "passed $name ($(grep -c '^ok' output || true) checks)"
  fi
done

# The misuse is behind a macro: without it the file compiles, with it the file must not.
for test in "$ccan"/ccan/{container_of,check_type,build_assert}/test/compile_fail*.c; do
  name=${test#"$ccan"/ccan/}
  if ! compile_strictly -DHAVE_TYPEOF=1 -fsyntax-only "$test" "$@" 2>compiler.log; then
    cat compiler.log
    fail "$name" "does not compile without FAIL"
  elif compile_strictly -DHAVE_TYPEOF=1 -DFAIL -fsyntax-only "$test" "$@" 2>/dev/null; then
    fail "$name" "compiles with FAIL"
  else
    echo "passed $name"
  fi
done
exit "$failed"
