#!/bin/sh
# Sees to it that browser tests have a Chromium: found, or installed as root on Debian.
# Never fails: without one those tests are skipped, and say why.
set -u
for name in ${CHROMIUM:-chromium chromium-browser google-chrome-stable google-chrome}; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "note: no Chromium found; browser tests will be skipped"
    exit 0
fi
echo "Installing Chromium for the browser tests ..."
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >"$log" 2>&1; then
    echo "note: Chromium could not be installed ($(tail -n 1 "$log")); browser tests will be skipped"
fi
rm -f "$log"
