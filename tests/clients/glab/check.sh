#!/usr/bin/env bash
# The sandbox through glab, GitLab's own command line: the commands that people use most, in a clone of acme/widget.
# Needs glab 1.53 (fetch.sh has it), git and curl.
#
#   tests/clients/glab/check.sh target/debug/gitlab-mcp "$(tests/clients/glab/fetch.sh FOLDER)"
#
# The last line is the total of all: `N passed, N failed`.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
glab=$(realpath "${2:?the path of glab}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

. "$here/../serve_sandbox.sh"
serve server

# glab compares the remote of the clone without its port: the host is named without it, too.
mkdir -p home/.config/glab-cli clone
cat >home/.config/glab-cli/config.yml <<END
check_update: false
host: 127.0.0.1
hosts:
  127.0.0.1:
    api_protocol: http
    api_host: ${url#http://}
    token: glpat-sandbox
END
chmod 600 home/.config/glab-cli/config.yml
cd clone
git init --quiet --initial-branch main
git remote add origin "$url/acme/widget.git"

passed=0 failed=0

# Runs a command whose output must have a text.
expect() {
  local text=$1
  shift
  local output
  if output=$(env -i PATH="$PATH" HOME="$work/home" NO_PROMPT=1 NO_COLOR=1 timeout 30 "$glab" "$@" 2>&1 </dev/null) &&
    grep -qF -- "$text" <<<"$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'glab %s: no "%s" in %s\n' "$*" "$text" "$output"
  fi
}

expect '"username":"sandbox"' api user
expect '"iid":5' api projects/:id/merge_requests/5
expect '# Widget' repo view
expect 'priority::high (#cc0033)' label list

expect 'Showing 30 open issues in acme/widget' issue list
expect '#9	acme/widget#9	Crash when turned by two people at once	(bug, priority::high)' issue list --label bug
expect 'title:	The gear squeaks at full speed' issue view 1
expect "$url/acme/widget/-/issues/46" issue create --title 'Made with glab' --description 'It turns.' --label bug --yes
expect "$url/acme/widget/-/issues/46#note_" issue note 46 --message 'Seen with glab'
expect 'Seen with glab' issue view 46 --comments
expect 'Closed issue #46' issue close 46
expect '#46	acme/widget#46	Made with glab	(bug)' issue list --closed

expect '!5	acme/widget!5	Quieter gears	(main) ← (quiet-gears)' mr list
expect 'reviewers:	sandbox, carol' mr view 5
expect '+/// A wheel with teeth, and oil between them.' mr diff 5
expect "$url/acme/widget/-/merge_requests/13" mr create --source-branch belts --target-branch main --title 'Belts' \
  --description 'In place of gears.' --yes
expect 'Approved' mr approve 8
expect 'Merged!' mr merge 8 --auto-merge=false --yes
expect 'state:	merged' mr view 8
expect '!8	acme/widget!8	Rename the spring' mr list --merged

expect '(failed) • #305	(#5)	main' ci list
expect 'Pipeline state: failed' ci status --branch main
expect 'assertion `left == right` failed' ci trace 6
expect 'Widget 1.0	v1.0.0' release list

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
