#!/usr/bin/env bash
# Completes words in bash, zsh and fish with the script that `gitlab-mcp completions` prints for each.
# Usage: check.sh path/to/gitlab-mcp
set -euo pipefail
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/gitlab-mcp"
export PATH="$work/bin:$PATH" HOME="$work"

# Each line: what is typed up to the tab, a colon, words that must be offered, and with ! those that must not.
cases='gitlab-mcp aut:auth
gitlab-mcp auth log:login logout
gitlab-mcp auth :login status !--allowed-paths
gitlab-mcp execute issue.list st:state= !--confirm
gitlab-mcp execute issue.list state=:opened closed
gitlab-mcp execute issue.list state=o:opened !closed
gitlab-mcp execute issue.list confidential=:true false
gitlab-mcp execute issue.lis:issue.list issue.list_participants
gitlab-mcp execute issue.list --view :compact full
gitlab-mcp setup --client claude:claude-code claude-desktop
gitlab-mcp serve --tool-surface :dynamic individual
gitlab-mcp --confirm-by :person model'

offered_by_bash() {
  bash --norc -c '
    source <(gitlab-mcp completions bash)
    # Readline takes = for a word of its own, and completes what is behind it.
    read -ra COMP_WORDS <<<"${1//=/ = }"
    [[ $1 == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
    word=${COMP_WORDS[COMP_CWORD]}
    $(complete -p gitlab-mcp | sed "s/.*-F \([^ ]*\).*/\1/") gitlab-mcp "${word#=}" x
    printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

# An interactive zsh on a terminal of its own: what it shows after the tab.
offered_by_zsh() {
  zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "stty -echo columns 200; PS1=; setopt no_beep list_ambiguous
      source <(gitlab-mcp completions zsh); zstyle \":completion:*\" menu no; bindkey \"^I\" list-choices; print -r -- ready-$((1+1))"
    zpty -r -m shell line "*ready-2*"
    zpty -w -n shell "$1"$'"'\t'"'
    sleep 1
    zpty -w -n shell $'"'\C-u'"'"print -r -- do\"\"ne"$'"'\n'"'
    zpty -r -m shell line "*done*" && print -r -- "$line"
    zpty -d shell' zsh "$1" | sed 's/\x1b\[[0-9;?]*[a-zA-Z]/\n/g' | tr -d '\r'
}

offered_by_fish() {
  fish --no-config -c 'gitlab-mcp completions fish | source; complete -C "$argv[1]"' "$1"
}

for shell in bash zsh fish; do
  command -v "$shell" >/dev/null || { echo "$shell is not installed" >&2; exit 1; }
  while IFS=: read -r typed expected; do
    offered=$("offered_by_$shell" "$typed")
    for word in $expected; do
      # Some shells show the name before the value.
      pattern="(^|[[:space:]]|[a-z_]=)${word#!}([[:space:]]|$)"
      wanted=yes found=yes
      [[ $word == !* ]] && wanted=no
      grep -qE -- "$pattern" <<<"$offered" || found=no
      [[ $wanted == "$found" ]] || {
        printf '%s: `%s` with %s (offered: %s):\n%s\n' "$shell" "$typed" "$word" "$found" "$offered" >&2
        exit 1
      }
    done
  done <<<"$cases"
  echo "$shell completes"
done
