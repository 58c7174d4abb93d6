#!/bin/sh
# Run a command of this repository in its own environment:
#   ./bb brainbench run      measure a memory (makes .venv on first use)
#   ./bb test                every check: format, lint, types, layers, tests
#   ./bb check               the same without the slow tests
# The environment is made again only when requirements.lock or a package's pyproject.toml changed.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0" || echo "$0")")" && pwd)
venv="$root/.venv"
bin="$venv/bin"

find_python() {
    for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        [ -n "$name" ] || continue
        command -v "$name" >/dev/null 2>&1 || continue
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        command -v "$name"
        return 0
    done
    echo "bb: no Python 3.11 or newer found. Install one, or name it: PYTHON=/path/to/python3.11 ./bb ..." >&2
    return 2
}

wanted() {
    cat "$root/requirements.lock" "$root/brainbench/pyproject.toml" "$root/wellkept/pyproject.toml" | cksum
}

install() {
    python=$(find_python)
    echo "bb: making $venv with $("$python" -V) (once, about a minute)" >&2
    rm -f "$venv/installed"
    "$python" -m venv --clear "$venv"
    "$bin/python" -m pip install -qq --disable-pip-version-check --require-hashes -r "$root/requirements.lock"
    "$bin/python" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation \
        -e "$root/wellkept" -e "$root/brainbench"
    wanted > "$venv/installed"
}

ready() { [ -f "$venv/installed" ] && [ "$(wanted)" = "$(cat "$venv/installed")" ]; }

if ! ready; then
    lock="$root/.venv.lock"
    until mkdir "$lock" 2>/dev/null; do
        echo "bb: another ./bb is installing; waiting (if none is, remove $lock)" >&2
        sleep 2
    done
    trap 'rmdir "$lock" 2>/dev/null || :' EXIT
    trap 'exit 130' INT TERM
    ready || install
    rmdir "$lock" 2>/dev/null || :
    trap - EXIT INT TERM
fi

check() {
    cd "$root"
    "$bin/ruff" format --check .
    "$bin/ruff" check .
    "$bin/mypy"
    "$bin/lint-imports"
}

case "${1:-}" in
    test)  shift; check; exec "$bin/python" -m pytest -n auto --dist loadgroup "$@" ;;
    check) shift; check; exec "$bin/python" -m pytest -n auto --dist loadgroup -m "not slow" "$@" ;;
    "")    sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *)     command=$1; shift
           if [ -x "$bin/$command" ]; then exec "$bin/$command" "$@"; fi
           PATH="$bin:$PATH"; export PATH
           if command -v "$command" >/dev/null 2>&1; then exec "$command" "$@"; fi
           echo "bb: no command $command; try: ./bb brainbench --help, ./bb wellkept --help, ./bb test" >&2
           exit 2 ;;
esac
