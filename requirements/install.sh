#!/bin/sh
# Makes .venv and installs what base.txt or dev.txt locks; quick if nothing changed.
# Usage: [PYTHON=python3.12] sh requirements/install.sh base|dev
set -u
kind=$1
lock=requirements/$kind.txt
stamp=.venv/.installed-$kind
log=.venv/install.log

fail() {
    echo "error: $1" >&2
    exit 1
}

# The one that was asked for, else the first that is new enough.
python=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    found=$(${PYTHON:-python3} --version 2>/dev/null) || found="no usable ${PYTHON:-python3}"
    fail "agentops needs Python 3.11 or newer; found: $found. Say PYTHON=/path/to/python if there is another."
fi

# A whole environment for these very locks is left as it is.
if [ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null; then
    cmp -s "$lock" "$stamp" && exit 0
    # What dev.txt installs holds everything of base.txt.
    [ "$kind" = base ] && cmp -s requirements/dev.txt .venv/.installed-dev && exit 0
else
    rm -rf .venv
    if ! said=$("$python" -m venv .venv 2>&1); then
        rm -rf .venv
        case $said in
        *ensurepip*) fail "$python cannot make .venv: its venv module is missing (on Debian: apt-get install python3-venv)." ;;
        *) fail "$python cannot make .venv: $(echo "$said" | tail -n 1)" ;;
        esac
    fi
fi

echo "Installing the $kind requirements into .venv ..."
rm -f "$stamp"
if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
    --require-hashes -r "$lock" >"$log" 2>&1; then
    why=$(grep -E '^ *ERROR:' "$log" | head -n 1 | sed 's/^ *ERROR: *//')
    fail "the requirements could not be installed (is the package index reachable?): ${why:-see $log} (all of it is in $log)"
fi
cp "$lock" "$stamp"
