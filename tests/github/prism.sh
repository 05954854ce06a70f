#!/usr/bin/env bash
# The tests of publishing once more, with prism between the client and the stand-in for GitHub.
#
#   bash tests/github/prism.sh [FOLDER]
#
# FOLDER keeps the npm package (475 MB with what it needs); it is installed where it is not there yet.
# Faults are left out, for prism has ways of its own with connections that end in the middle, and so is a
# path before the API's, which no description has.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-$PWD/target/prism}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ ! -x "$folder/node_modules/.bin/prism" ]; then
  npm install --prefix "$folder" --no-fund --no-audit @stoplight/prism-cli@5.16.0
fi
export INFERGATE_PRISM=$folder/node_modules/.bin/prism
cargo test --locked --test it -- github::checks github::comments github::elsewhere github::gate github::heads \
  --skip below_its_own_path --skip a_batch_that_arrived
