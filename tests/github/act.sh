#!/usr/bin/env bash
# Runs the action's test by act, a runner of workflows without GitHub, from the wheel that .ci/linters.txt pins.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${INFERGATE_LINTERS:-$PWD/target/linters}
[ -x "$tools/bin/act" ] || bash .ci/workflows
INFERGATE_ACT=$tools/bin/act cargo test --locked --test it github::action -- --ignored
