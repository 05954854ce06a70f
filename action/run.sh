#!/usr/bin/env bash
# The action's main step: its inputs, as variables INPUT_*, to one call of infergate. Inputs are data:
# none is ever read by a shell.
set -uo pipefail

fail() {
  echo "::error title=infergate::$1"
  exit 2
}

# Appends the lines of $1 that hold anything to the list `call`.
lines() {
  local line
  while IFS= read -r line; do
    line=${line%$'\r'}
    [[ $line =~ ^[[:space:]]*$ ]] || call+=("$line")
  done <<<"$1"
}

command -v infergate >/dev/null || fail 'infergate is not on the PATH; install it first, or name a version'
[[ $INPUT_PUBLISH =~ ^(true|false)$ ]] || fail 'the input publish takes true or false'
[[ $INPUT_REQUIRE_PUBLISH =~ ^(true|false)$ ]] || fail 'the input require-publish takes true or false'

call=("$INPUT_COMMAND")
lines "$INPUT_SPEC"
case $INPUT_COMMAND in
  gate | ab)
    if [[ $INPUT_PUBLISH = true ]]; then
      call+=(--publish github)
      [[ -z $INPUT_KEY ]] || call+=("--publish-key=$INPUT_KEY")
      [[ $INPUT_REQUIRE_PUBLISH = false ]] || call+=(--require-publish)
    fi
    ;;
  publish)
    [[ -z $INPUT_KEY ]] || call+=("--key=$INPUT_KEY")
    [[ $INPUT_REQUIRE_PUBLISH = false ]] || call+=(--require-publish)
    ;;
  run | check | doctor | calibrate | compare | report | baseline) ;;
  *) fail 'the input command takes gate, ab, run, check, doctor, calibrate, compare, report, publish or baseline' ;;
esac
lines "$INPUT_ARGS"

infergate "${call[@]}"
code=$?
printf 'exit-code=%s\n' "$code" >>"$GITHUB_OUTPUT"
exit "$code"
