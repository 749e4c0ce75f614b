# shellcheck shell=bash
# Helpers for the scripts: source this after `set -euo pipefail`.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
  warn "$@"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANT
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# Runs in the background, where Ctrl-C does not reach it, so it also ends by itself when the script is gone.
show_elapsed() {
  local label=$1 start=$SECONDS
  sleep 2
  while kill -0 "$$" 2>/dev/null; do
    printf '\r\033[K%s%d s' "$label" "$((SECONDS - start))" >&2
    sleep 1
  done
}

# with_elapsed LABEL COMMAND...: shows the time so far if the command takes longer than 2 seconds, on a terminal only.
with_elapsed() {
  local label=$1 status=0 ticker
  shift
  if [[ ! -t 2 ]]; then
    "$@"
    return
  fi
  show_elapsed "$label" &
  ticker=$!
  "$@" || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  printf '\r\033[K' >&2
  return "$status"
}

run_logged() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null
}

# quietly LABEL COMMAND...: keeps the output back and shows it only if the command fails.
quietly() {
  local label=$1 log status=0
  shift
  say "$label"
  log=$(mktemp "$scratch/log.XXXXXX")
  with_elapsed "  " run_logged "$log" "$@" || status=$?
  if ((status != 0)); then
    cat "$log" >&2
  fi
  return "$status"
}
