#!/usr/bin/env bash
# `gitlab-mcp setup` and the Claude Code plugin with the clients themselves: each reads the configuration that setup wrote
# into a user's file, connects to the server, and reads its file again after --undo. Needs npm and 1.2 GB of disk.
#
#   tests/clients/setup/check.sh target/debug/gitlab-mcp
#
# The last line is `N passed, N failed`.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Clients are pinned here. None signs in: they list their servers, and connect to them.
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @anthropic-ai/claude-code@2.1.197 @google/gemini-cli@0.61.0 \
  @openai/codex@0.169.0 opencode-ai@1.18.33
mkdir -p bin home/.gemini home/.codex home/.config/opencode home/project
ln -s "$binary" bin/gitlab-mcp
export HOME=$work/home PATH=$work/bin:$work/node_modules/.bin:$PATH
unset XDG_CONFIG_HOME XDG_STATE_HOME CODEX_HOME CLAUDE_CONFIG_DIR
export DISABLE_AUTOUPDATER=1 OPENCODE_DISABLE_AUTOUPDATE=1 NO_COLOR=1

configurations=$root/tests/it/cli/configurations
cp "$configurations/claude-code.json" "$HOME/.claude.json"
cp "$configurations/gemini-cli.json" "$HOME/.gemini/settings.json"
cp "$configurations/codex.toml" "$HOME/.codex/config.toml"
cp "$configurations/opencode.json" "$HOME/.config/opencode/opencode.json"
printf '{"%s": "TRUST_FOLDER"}\n' "$HOME/project" >"$HOME/.gemini/trustedFolders.json"
cd "$HOME/project"

passed=0 failed=0
# Runs a client; its output has to match a pattern, or with `!` before it must not.
check() {
  local name=$1 pattern=$2 output
  shift 2
  output=$(timeout 60 "$@" 2>&1 | sed 's/\x1b\[[0-9;]*m//g') || true
  if { [ "${pattern#!}" = "$pattern" ] && grep -qE "$pattern" <<<"$output"; } ||
    { [ "${pattern#!}" != "$pattern" ] && ! grep -qE "${pattern#!}" <<<"$output"; }; then
    passed=$((passed + 1)) && echo "ok      $name"
  else
    failed=$((failed + 1)) && echo "FAILED  $name: not $pattern" && sed 's/^/        /' <<<"$output" | tail -n 30
  fi
}

clients=(--client claude-code --client gemini-cli --client codex --client opencode)
gitlab-mcp --sandbox setup "${clients[@]}" --write >setup.txt || { cat setup.txt && exit 1; }
check 'Claude Code connects' 'gitlab: .*Connected' claude mcp list
check 'Claude Code keeps the other server' 'notes: notes-mcp' claude mcp list
check 'Gemini CLI connects' 'gitlab: .*Connected' gemini mcp list
check 'Codex has it enabled' 'gitlab .*gitlab-mcp .*enabled' codex mcp list
check 'Codex keeps the other server' 'notes .*notes-mcp' codex mcp list
check 'opencode connects' '✓ gitlab' opencode mcp list
check 'opencode keeps the other server' 'notes' opencode mcp list
check 'doctor sees this program' 'Claude Code has it .* this program' gitlab-mcp --sandbox doctor

gitlab-mcp setup "${clients[@]}" --undo --write >setup.txt || { cat setup.txt && exit 1; }
# A client that crashes lists nothing either: its output has to be a list.
check_without() {
  check "$1 lists the rest" "$2" "${@:3}"
  check "$1 without it" '!gitlab' "${@:3}"
}
check_without 'Claude Code' 'notes: notes-mcp' claude mcp list
check_without 'Gemini CLI' 'No MCP servers configured' gemini mcp list
check_without 'Codex' 'notes .*notes-mcp' codex mcp list
check_without 'opencode' 'notes' opencode mcp list
check 'Codex: the file is as it was' '^$' diff "$configurations/codex.toml" "$HOME/.codex/config.toml"

plugin=$root/.release/claude-code
check 'Claude Code validates the plugin' 'Validation passed' claude plugin validate "$plugin"
check 'Claude Code adds the marketplace' 'Successfully added' claude plugin marketplace add "$plugin"
check 'Claude Code installs the plugin' 'Successfully installed' claude plugin install gitlab@gitlab-mcp
check 'Claude Code connects by the plugin' 'plugin:gitlab:gitlab: .*Connected' claude mcp list

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
