#!/usr/bin/env bash
# Fetches glab 1.53, GitLab's own command line, as Debian 13 packages it, unpacks it into a folder and prints its path. Nothing is
# installed: the package lists are the folder's own.
# Needs Debian's apt-get, with a mirror of Debian among its sources.
#
#   tests/clients/glab/fetch.sh FOLDER
set -euo pipefail
folder=$(realpath "${1:?a folder}")
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | grep -v security | sort -u | head -n 1)
[ -n "$mirror" ]
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$folder/sources.list"
options=(-qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$folder/lists"
  -o Dir::Cache="$folder/cache" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
  -o APT::Sandbox::User=root)
cd "$folder"
apt-get "${options[@]}" update >&2
apt-get "${options[@]}" download 'glab=1.53.*' >&2
dpkg-deb --extract glab_*.deb glab
glab/usr/bin/glab version >&2
echo "$folder/glab/usr/bin/glab"
