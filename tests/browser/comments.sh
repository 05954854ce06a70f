#!/usr/bin/env bash
# Comments as a reviewer sees them: the snapshots of the tests through GitHub's own Markdown renderer (cmark-gfm)
# into Chromium, with screenshots at two widths, and what can be told without eyes checked.
#
#   INFERGATE_CHROMIUM=/usr/bin/chromium tests/browser/comments.sh PREFIX
#
# PREFIX gets a virtual environment and the screenshots. Needs python3 with venv, and for those in Chinese a font that
# has it (fonts-wqy-microhei); under half a minute.
set -euo pipefail
prefix=${1:?usage: $0 PREFIX}
: "${INFERGATE_CHROMIUM:?names a Chromium}"
version=2025.10.22
mkdir -p "$prefix"
if [ ! -e "$prefix/.cmarkgfm-$version" ]; then
  python3 -m venv "$prefix/venv"
  "$prefix/venv/bin/pip" install --quiet "cmarkgfm==$version"
  touch "$prefix/.cmarkgfm-$version"
fi
"$prefix/venv/bin/python" "$(dirname "$0")/comments.py" "$INFERGATE_CHROMIUM" "$prefix/screenshots"
