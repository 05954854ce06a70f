#!/usr/bin/env bash
# Sets up a real engine for the tests: llama.cpp's own OpenAI-compatible server on the CPU, with a
# tiny model of random weights in three quantizations (F16, Q8_0, Q4_0 of the same numbers).
#
#   tests/engines/setup.sh PREFIX
#
# Needs python3 >= 3.10 with venv, x86_64 Linux, glibc >= 2.28; about 40 s and 220 MB. A second
# call only checks its stamps. Then: INFERGATE_ENGINE=PREFIX cargo test --test real_engine -- --ignored
set -euo pipefail
prefix=${1:?usage: $0 PREFIX}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)

# The server lives in a Python extension; its wheel picks the CPU's instruction set at run time.
# It is a third party's build, so it is pinned by hash as well as by version.
engine='xllamacpp==2026.10.11549'
engine_sha='c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261'
tools='gguf==0.19.0'

stamp="$prefix/.installed-$(printf '%s %s %s' "$engine" "$engine_sha" "$tools" | sha256sum | cut -c1-16)"
if [ ! -e "$stamp" ]; then
  [ -x "$prefix/venv/bin/python" ] || python3 -m venv "$prefix/venv"
  printf '%s --hash=sha256:%s\n' "$engine" "$engine_sha" > "$prefix/requirements.txt"
  "$prefix/venv/bin/python" -m pip install -q --no-deps --only-binary :all: --require-hashes -r "$prefix/requirements.txt"
  "$prefix/venv/bin/python" -m pip install -q --only-binary :all: "$tools"
  touch "$stamp"
fi

stamp="$prefix/.models-$(sha256sum "$here/make_model.py" | cut -c1-16)"
if [ ! -e "$stamp" ]; then
  "$prefix/venv/bin/python" "$here/make_model.py" --out "$prefix/models" --name tiny --seed 1
  touch "$stamp"
fi

cp "$here/serve.py" "$prefix/serve.py"
"$prefix/venv/bin/python" -c 'import xllamacpp as x; print("engine: llama.cpp in xllamacpp", x.__version__)'
echo "start: $prefix/venv/bin/python $prefix/serve.py --model $prefix/models/tiny-f16.gguf --alias tiny"
