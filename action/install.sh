#!/usr/bin/env bash
# Downloads one release, holds it against the checksum that stands beside this script, and puts it on the
# PATH. Whoever pins the action by commit has so pinned the binary too.
set -euo pipefail

fail() {
  echo "::error title=infergate::$1"
  exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
version=$INPUT_VERSION
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || fail 'the input version takes a release like 0.1.0, or none'
case $RUNNER_OS/$RUNNER_ARCH in
  Linux/X64) target=x86_64-unknown-linux-musl ;;
  Linux/ARM64) target=aarch64-unknown-linux-musl ;;
  macOS/ARM64) target=aarch64-apple-darwin ;;
  macOS/X64) target=x86_64-apple-darwin ;;
  *) fail "there is no release for $RUNNER_OS/$RUNNER_ARCH; build infergate and give the version none" ;;
esac
archive=infergate-$version-$target.tar.gz
sum=$(awk -v name="$archive" '$2 == name { print $1 }' "$here/checksums.txt")
[[ $sum =~ ^[0-9a-f]{64}$ ]] || fail "this action knows no checksum of $archive; use a newer commit of it, or another version"

# With the checksum in its name, a kept binary is that of this checksum and of no other.
home=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/infergate/$version-${sum:0:16}
if [[ ! -x $home/infergate ]]; then
  # Only for tests and mirrors of closed networks; the checksum holds whatever comes.
  from=${INFERGATE_MIRROR:-$GITHUB_SERVER_URL/${GITHUB_ACTION_REPOSITORY:-$GITHUB_REPOSITORY}/releases/download}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  protocols='=https'
  case $from in http://127.0.0.1:*) protocols='=http' ;; esac
  header=() # bash 3.2, which macOS has, knows no empty list under -u
  [[ -n ${INPUT_TOKEN:-} && $from == "$GITHUB_SERVER_URL"/* ]] && header=(--header "Authorization: Bearer $INPUT_TOKEN")
  curl -fsSL --proto "$protocols" --retry 3 --max-time 300 ${header[@]+"${header[@]}"} -o "$work/$archive" "$from/v$version/$archive" ||
    fail "cannot download $archive from $from"
  if command -v sha256sum >/dev/null; then
    found=$(sha256sum "$work/$archive")
  else
    found=$(shasum -a 256 "$work/$archive")
  fi
  [[ ${found%% *} = "$sum" ]] || fail "$archive has the checksum ${found%% *}, and not $sum that this action knows; it was not unpacked"
  mkdir -p "$home"
  tar -xzf "$work/$archive" -C "$home" infergate
fi
echo "$home" >>"$GITHUB_PATH"
"$home/infergate" --version
