#!/usr/bin/env bash
# Sets up what reads the archive and its exports in the tests, each independent of this program:
# DuckDB, and the OpenMetrics parser of Prometheus's own client.
#
#   tests/duckdb/setup.sh PREFIX
#
# Needs python3 with venv; about 10 s and 60 MB. A second call only checks its stamp. Then:
# INFERGATE_DUCKDB=PREFIX cargo test --test it duckdb -- --ignored
set -euo pipefail
prefix=${1:?usage: $0 PREFIX}
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
tools='duckdb==2.0.1 prometheus-client==0.26.0'
stamp="$prefix/.installed-$(printf '%s' "$tools" | sha256sum | cut -c1-16)"
if [ ! -e "$stamp" ]; then
  [ -x "$prefix/venv/bin/python" ] || python3 -m venv "$prefix/venv"
  # shellcheck disable=SC2086 # two words
  "$prefix/venv/bin/python" -m pip install -q --no-deps --only-binary :all: $tools
  touch "$stamp"
fi
"$prefix/venv/bin/python" -c 'import duckdb; print("duckdb", duckdb.__version__)'
