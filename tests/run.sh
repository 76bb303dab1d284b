#!/bin/sh
# Runs the suite once per database; goes on after a failure, says it at the end.
# Usage: sh tests/run.sh sqlite postgres -- [arguments of pytest]
set -u
# What is compiled once need not be compiled by each of hundreds of processes.
unset PYTHONDONTWRITEBYTECODE
databases=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    databases="$databases $1"
    shift
done
[ $# -gt 0 ] && shift

failed=
for database in $databases; do
    echo "Tests on $database"
    # By files: the browser tests of a module share an installation. Not reordered:
    # files with few tests, which are the slow ones, would come last.
    .venv/bin/python -m pytest --db "$database" --dist loadfile --no-loadscope-reorder "$@" ||
        failed="$failed $database"
done
[ -z "$failed" ] || { echo "error: tests failed on$failed" >&2; exit 1; }
