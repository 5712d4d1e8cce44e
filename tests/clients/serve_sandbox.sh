# Functions of the checks that need a sandbox over HTTP. Sourced by them, with `binary`, `work` and the array `servers` set.

# Starts a server with a sandbox, whose log is NAME.log, and sets `url` to the sandbox's, which is the origin of every
# `web_url`.
serve() {
  : >"$work/$1.log"
  "$binary" serve --sandbox --http 127.0.0.1:0 --auth none 2>"$work/$1.log" &
  servers+=($!)
  for _ in $(seq 100); do
    if address=$(grep -o 'listening address=.*' "$work/$1.log"); then
      url=$(curl --silent --fail "http://${address#*=}/mcp" --header 'Content-Type: application/json' \
        --header 'Accept: application/json, text/event-stream' --data '{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
          "params": {"name": "gitlab_execute_action", "arguments": {"action": "current_user.get"}}}' |
        grep -o '"web_url":"http://127.0.0.1:[0-9]*' | cut -d '"' -f 4)
      return
    fi
    sleep 0.1
  done
  cat "$work/$1.log" && return 1
}
