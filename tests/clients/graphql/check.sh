#!/usr/bin/env bash
# The GraphQL documents that the program sends against GitLab's schemas, judged by graphql-core: the head of check.py says how.
# Needs Python 3.11.
#
#   tests/clients/graphql/check.sh target/debug/gitlab-mcp 19.5=19.5/schema.graphql 18.6=18.6/schema.graphql
#
# Each schema has its GitLab version before it, the catalog's first. The last line is the total of operations: `N passed, N failed`.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
shift
[ $# -gt 0 ] || { echo "no schema, such as 19.5=19.5/schema.graphql" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The package is pinned here.
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check graphql-core==3.3.2

"$work/python/bin/python" "$here/check.py" "$binary" "$here/../../../catalog" "$@"
