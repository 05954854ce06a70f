#!/bin/sh
# Any CI: one command, files to keep, an exit code.
#
#   sh gate.sh SPEC [BASE]
#
# BASE is the branch or commit whose baselines and tolerances count, where this is a change that wants to get in.
set -u
spec=${1:?a spec}
out=${OUT:-infergate-out}
if [ $# -gt 1 ]; then
  base=$(git merge-base HEAD "$2") || exit 2
  infergate ab "$spec" --out "$out" --base "$base"
else
  infergate ab "$spec" --out "$out"
fi
code=$?
case $code in
  0) echo 'inference: within its limits' ;;
  1) echo 'inference: a regression' ;;
  2) echo 'inference: the spec or the command is wrong' ;;
  3) echo 'inference: could not be decided, which is no pass' ;;
  *) echo 'inference: nothing valid was measured' ;;
esac
# report.md, report.json, junit.xml and metrics.txt of this session, for whatever shows them.
ls "$out"/*/report.md 2>/dev/null
exit "$code"
