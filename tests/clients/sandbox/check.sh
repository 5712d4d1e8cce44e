#!/usr/bin/env bash
# The sandbox against clients of GitLab that others wrote: python-gitlab with its command line, and gitbeaker, each on a sandbox
# of its own.
# Needs Python 3, npm, Node 20 or newer, and curl.
#
#   tests/clients/sandbox/check.sh target/debug/gitlab-mcp
#
# The last line is the total of all: `N passed, N failed`.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

# Packages are pinned here.
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check python-gitlab==8.6.0
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @gitbeaker/rest@43.8.0
cp "$here/gitbeaker.mjs" .

. "$here/../serve_sandbox.sh"

serve python
python/bin/python "$here/python_gitlab.py" "$url" | tee results.txt || true
serve resources
python/bin/python "$here/python_gitlab_resources.py" "$url" | tee -a results.txt || true
serve command-line
"$here/command_line.sh" python/bin/gitlab "$url" | tee -a results.txt || true
serve gitbeaker
node gitbeaker.mjs "$url" | tee -a results.txt || true

# A client that ended before its total counts as failed.
[ "$(grep -c ' passed, ' results.txt)" = 4 ] || { echo "a client did not finish" && exit 1; }
awk '/ passed, / { passed += $2; failed += $4 } END { print passed " passed, " failed " failed"; exit failed > 0 }' results.txt
