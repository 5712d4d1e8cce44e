#!/usr/bin/env bash
# The first minutes of a user with neither Rust nor a token: one command to run the program, one to sign in (against a
# scripted GitLab), one to set up a client, each with the time that it took. The home directory is empty, no variable of
# this environment is passed on, and uv takes the wheel from a folder in place of the registry.
#
#   tests/clients/first_minutes/check.sh BINARY         packs the wheel of the binary
#   tests/clients/first_minutes/check.sh FOLDER         takes the wheel in the folder, such as dist/
#
# Needs Python 3.11 and uv. The last line is `N passed, N failed`.
set -euo pipefail
given=$(realpath "${1:?the path of gitlab-mcp, or of a folder with its wheel}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
gitlab=
trap 'kill $gitlab 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

dist=$given
if [ -f "$given" ]; then
  dist=$work/dist
  strip -o gitlab-mcp "$given" 2>/dev/null || cp "$given" gitlab-mcp
  SOURCE_DATE_EPOCH=1700000000 python3 "$here/../../../.release/pack.py" binary "$(uname -m)-unknown-linux-musl" \
    gitlab-mcp --out "$dist" --level 1 >/dev/null
fi
uvx=$(command -v uvx) || { python3 -m venv python && python/bin/pip install --quiet uv==0.13.9 && uvx=$work/python/bin/uvx; }

mkdir -p home/.cursor tools
ln -s "$uvx" tools/uvx
ln -s "$(dirname "$(realpath "$uvx")")/uv" tools/uv
python3 "$here/gitlab.py" address &
gitlab=$!
for _ in $(seq 50); do [ -s address ] || sleep 0.1; done
address=$(cat address)

# A command of a user who has just these variables.
as_user() {
  env -i HOME="$work/home" PATH="$work/tools:/usr/bin:/bin" UV_OFFLINE=1 UV_NO_INDEX=1 UV_FIND_LINKS="$dist" GITLAB_URL="${url:-}" "$@"
}

passed=0 failed=0
# Runs a command whose output has to match a pattern, and shows its time.
check() {
  local name=$1 pattern=$2 start
  shift 2
  start=$(date +%s%N)
  as_user "$@" >output.txt 2>&1 || true
  local took=$((($(date +%s%N) - start) / 1000000))
  if grep -qE "$pattern" output.txt; then
    passed=$((passed + 1)) && echo "ok      $name: $took ms"
  else
    failed=$((failed + 1)) && echo "FAILED  $name: not $pattern" && sed 's/^/        /' output.txt | tail -n 30
  fi
}
program=(uvx --from gitlab-mcp-server gitlab-mcp)

if as_user sh -c 'command -v cargo rustc'; then echo 'Rust is on the PATH of the user' >&2 && exit 2; fi
url=sandbox check 'run: an action on the sandbox' 'sandbox' "${program[@]}" execute current_user.get
url=$address
check 'sign in' 'as alice' "${program[@]}" auth login --client-id my-app
check 'set up a client' 'Written' "${program[@]}" setup --client cursor --write
check 'the sign-in is used' 'alice' "${program[@]}" execute current_user.get

# What the client does with the configuration that was written.
cat >client.py <<'PY'
import json, os, subprocess
server = json.load(open(os.path.expanduser("~/.cursor/mcp.json")))["mcpServers"]["gitlab"]
messages = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "gitlab_execute_action", "arguments": {"action": "current_user.get"}}},
]
text = "".join(json.dumps(message) + "\n" for message in messages)
command = [server["command"], *server.get("args", [])]
done = subprocess.run(command, env={**os.environ, **server.get("env", {})}, input=text, text=True, capture_output=True)
print(done.stdout, done.stderr)
PY
check 'the client calls GitLab' '"username":"alice"' python3 client.py
if grep -rq granted-access-token home/.cursor; then failed=$((failed + 1)) && echo 'FAILED  the token is in the configuration'; else passed=$((passed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
