#!/usr/bin/env bash
# In the place of ralph-loop's ralph.sh: put this file where yours is, beside prd.json and CODEX.md, and keep the rest.
# It runs `carson`, which must be on PATH, or be named by CARSON_BIN. docs/MIGRATING.md says what differs.
set -euo pipefail

entry="${BASH_SOURCE[0]}"
dir="$(cd -- "$(dirname -- "$entry")" && pwd)"
carson="${CARSON_BIN:-carson}"

if ! command -v -- "$carson" >/dev/null 2>&1; then
  printf '[ralph][ERROR] %s is not on PATH: install Carson, or name its binary with CARSON_BIN\n' "$carson" >&2
  exit 127
fi
exec "$carson" stories run "$dir/prd.json" --compat ralph -- "$@"
