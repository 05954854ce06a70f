#!/usr/bin/env bash
# Sets up what draws the charts of a comment in the tests: Mermaid, which GitHub uses.
#
#   tests/browser/setup.sh PREFIX
#
# Needs npm; about 30 s and 200 MB. A second call only checks its stamp. Then:
# INFERGATE_CHROMIUM=/usr/bin/chromium INFERGATE_MERMAID=PREFIX cargo test --test browser -- --ignored charts
set -euo pipefail
prefix=${1:?usage: $0 PREFIX}
version=11.17.2
mkdir -p "$prefix"
if [ ! -e "$prefix/.mermaid-$version" ]; then
  npm install --silent --no-fund --no-audit --prefix "$prefix" "mermaid@$version"
  touch "$prefix/.mermaid-$version"
fi
echo "mermaid $version"
