#!/usr/bin/env bash
# Calls python-gitlab's command line against a running sandbox: `command_line.sh GITLAB_COMMAND URL`. Prints each failure and a
# total.
set -uo pipefail
command=$1 url=$2 passed=0 failed=0

# Runs a command whose output must have a text.
expect() {
  local text=$1
  shift
  local output
  if output=$("$command" --server-url "$url" --private-token glpat-sandbox "$@" 2>&1) && grep -qF -- "$text" <<<"$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: no "%s" in %s\n' "$*" "$text" "$output"
  fi
}

expect 'username: sandbox' -v current-user get
expect 'path-with-namespace: acme/widget' -v project get --id acme/widget
expect 'name: Acme' -v group get --id acme
expect '"iid": 1' -o json project-issue get --project-id acme/widget --iid 1
expect 'title: From the command line' -v project-issue create --project-id acme/widget --title 'From the command line'
expect 'state: closed' -v project-issue update --project-id acme/widget --iid 46 --state-event close
expect 'iid: ' project-issue list --project-id acme/widget --state closed --get-all
expect 'source-branch: quiet-gears' -v project-merge-request get --project-id acme/widget --iid 5
expect 'name: bug' -v project-label list --project-id acme/widget --get-all
expect 'name: main' -v project-branch get --project-id acme/widget --name main
expect 'status: success' -v project-pipeline get --project-id acme/widget --id 301
expect 'value: 5W-30' -v project-variable get --project-id acme/widget --key OIL_GRADE

echo "python-gitlab-command-line: $passed passed, $failed failed"
[ "$failed" = 0 ]
