#!/usr/bin/env bash
# The packages of .release, made from a binary and run as their users run them: the wheel by uvx, the npm packages by
# npx, the bundle unpacked, the image by buildah where it is installed. Manifests are validated by the tools of their
# formats. Needs Python 3.11, npm and Linux.
#
#   tests/clients/packages/check.sh target/debug/gitlab-mcp
#
# MCP_REGISTRY_SCHEMA names the registry's own schema of server.json, if it is at hand. The last line is `N passed, N failed`.
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

case $(uname -m) in
  x86_64) target=x86_64-unknown-linux-musl platform=linux-x64 ;;
  aarch64) target=aarch64-unknown-linux-musl platform=linux-arm64 ;;
  *) echo "no platform for $(uname -m)" >&2 && exit 2 ;;
esac

passed=0 failed=0
# Runs a check and shows its output if it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/output.txt" 2>&1; then
    passed=$((passed + 1)) && echo "ok      $name"
  else
    failed=$((failed + 1)) && echo "FAILED  $name" && sed 's/^/        /' "$work/output.txt" | tail -n 30
  fi
}

# True if a command is an MCP server that answers a call of a tool from the sandbox.
serves() {
  printf '%s\n' \
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}}' \
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}' \
    '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "gitlab_execute_action", "arguments": {"action": "current_user.get"}}}' |
    "$@" >served.txt 2>served.log || { cat served.log && return 1; }
  grep -q '"username":"sandbox"' served.txt || { cat served.txt served.log && return 1; }
}

# Tools are pinned here.
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 check-jsonschema==0.39.0 \
  'cyclonedx-python-lib[json-validation]==11.12.0'
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @anthropic-ai/mcpb@2.1.2
export PATH="$work/python/bin:$work/node_modules/.bin:$PATH"

# Debug information would only be compressed.
strip -o gitlab-mcp "$binary" 2>/dev/null || cp "$binary" gitlab-mcp
export SOURCE_DATE_EPOCH=1700000000
pack() {
  "$root/.release/pack.py" binary "$target" gitlab-mcp --out "$1" --level 1 && "$root/.release/pack.py" finish --out "$1" --level 1
}
check 'packs every channel' pack dist
pack again >/dev/null 2>&1
check 'packs the same bytes again' cmp dist/SHA256SUMS again/SHA256SUMS
rm -r again
checksums() { (cd dist && sha256sum --quiet --check SHA256SUMS); }
check 'checksums' checksums

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
of_this_version() { [ "$("$@" --version)" = "gitlab-mcp $version" ]; }

mkdir archive && tar -xzf "dist/gitlab-mcp-$version-$target.tar.gz" -C archive
check 'archive: runs' of_this_version "archive/gitlab-mcp-$version-$target/gitlab-mcp"

export UV_CACHE_DIR="$work/uv"
wheel=$(echo dist/*.whl)
check 'wheel: uvx runs it' of_this_version uvx --offline --from "$wheel" gitlab-mcp
check 'wheel: uvx serves MCP' serves uvx --offline --from "$wheel" gitlab-mcp --sandbox
pip_installs() { python/bin/pip install --quiet --no-index "$wheel" && of_this_version python/bin/gitlab-mcp; }
check 'wheel: pip installs it' pip_installs

npm_packages=(-p "$work/dist/gitlab-mcp-$version.tgz" -p "$work/dist/gitlab-mcp-$platform-$version.tgz")
export npm_config_cache="$work/npm" npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
npm_notices() {
  local package
  for package in "dist/gitlab-mcp-$version.tgz" "dist/gitlab-mcp-$platform-$version.tgz"; do
    tar -xzOf "$package" package/LICENSE | cmp - "$root/LICENSE" || return 1
    tar -xzOf "$package" package/NOTICE | cmp - "$root/catalog/learned/NOTICE" || return 1
  done
}
check 'npm: LICENSE and NOTICE are in each package' npm_notices
check 'npm: npx runs it' of_this_version npx --yes --omit=optional "${npm_packages[@]}" gitlab-mcp
check 'npm: npx serves MCP' serves npx --yes --omit=optional "${npm_packages[@]}" gitlab-mcp --sandbox
without_platform() {
  mkdir -p lone && tar -xzf "dist/gitlab-mcp-$version.tgz" -C lone
  ! node lone/package/bin/cli.js --version 2>lone/error.txt && grep -q "gitlab-mcp-$platform is not installed" lone/error.txt
}
check 'npm: says which package is missing' without_platform

for manifest in "$root"/.release/mcpb/*/manifest.json; do
  check "bundle: manifest of $(basename "$(dirname "$manifest")")" mcpb validate "$manifest"
done
mcpb unpack "dist/gitlab-mcp-$version-$platform.mcpb" bundle >/dev/null
# The command and variables of the manifest, as the client fills them in.
cat >bundle.py <<'PY'
import json, os, sys
config = json.load(open("bundle/manifest.json"))
values = {f"user_config.{key}": str(entry.get("default", "")).lower() for key, entry in config["user_config"].items()}
values |= {"__dirname": os.path.abspath("bundle"), "user_config.gitlab_token": "glpat-sandbox"}
def fill(text):
    for key, value in values.items():
        text = text.replace("${%s}" % key, value)
    assert "${" not in text, text
    return text
server = config["server"]["mcp_config"]
environment = {key: fill(value) for key, value in server["env"].items()}
command = [fill(server["command"]), *map(fill, server["args"]), "--sandbox"]
os.execve(command[0], command, environment)
PY
check 'bundle: unpacked, serves MCP' serves python3 bundle.py
secret() { python3 -c 'import json; c = json.load(open("bundle/manifest.json"))["user_config"]; assert c["gitlab_token"]["sensitive"]'; }
check 'bundle: the token is sensitive' secret

check 'server.json: our schema' check-jsonschema --schemafile "$here/server.schema.json" dist/server.json
if [ -n "${MCP_REGISTRY_SCHEMA:-}" ]; then
  check 'server.json: the schema of the registry' check-jsonschema --schemafile "$MCP_REGISTRY_SCHEMA" dist/server.json
fi
same_name() {
  python3 - "$work/dist" "$root" <<'PY'
import json, pathlib, sys, zipfile
dist, root = map(pathlib.Path, sys.argv[1:])
name = json.loads((dist / "server.json").read_text())["name"]
assert json.loads((root / ".release/npm/main/package.json").read_text())["mcpName"] == name
wheel = zipfile.ZipFile(next(dist.glob("*.whl")))
metadata = next(entry for entry in wheel.namelist() if entry.endswith("METADATA"))
assert f"mcp-name: {name}\n" in wheel.read(metadata).decode()
assert f'io.modelcontextprotocol.server.name="{name}"' in (root / ".release/container/Containerfile").read_text()
PY
}
check 'server.json: every package names the server' same_name

check 'CI: the schema of GitLab' check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci \
  --regex-variant nonunicode "$root/.gitlab-ci.yml"
bill() {
  "$root/.release/sbom.py" "$target" >sbom.json && LOCK=$root/Cargo.lock python/bin/python - <<'PY'
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
import json
text = open("sbom.json").read()
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
assert error is None, error
components = json.loads(text)["components"]
names = {component["name"] for component in components}
import os, tomllib
locked = {(p["name"], p["version"]) for p in tomllib.load(open(os.environ["LOCK"], "rb"))["package"]}
unlocked = [c["name"] for c in components if (c["name"], c["version"]) not in locked]
assert components and not unlocked, unlocked
assert {"tokio", "reqwest", "rustls"} <= names and not {"insta", "wiremock", "cynic-parser"} & names
PY
}
check 'SBOM: CycloneDX 1.5, of the crates in the lock file' bill
if command -v ruby >/dev/null; then
  check 'formula: syntax' ruby -c dist/gitlab-mcp.rb
fi

# A crate may have ten mebibytes.
crates() {
  cargo package --workspace --no-verify --allow-dirty --locked --target-dir crates --manifest-path "$root/Cargo.toml" &&
    [ -z "$(find crates/package -maxdepth 1 -name '*.crate' -size +10485760c)" ] &&
    [ "$(find crates/package -maxdepth 1 -name '*.crate' | wc -l)" = 6 ]
}
check 'crates: below the size limit' crates

image_notices() {
  cmp dist/container/LICENSE "$root/LICENSE" && cmp dist/container/NOTICE "$root/catalog/learned/NOTICE" &&
    grep -qx 'COPY LICENSE NOTICE /licenses/' dist/container/Containerfile
}
check 'image: LICENSE and NOTICE are in its context' image_notices

# The image needs a static binary.
if command -v buildah >/dev/null && ! readelf --program-headers gitlab-mcp | grep -q INTERP; then
  image() {
    local storage=(--root "$work/images" --runroot "$work/run" --storage-driver vfs)
    buildah "${storage[@]}" build --isolation chroot --format docker --tag check dist/container &&
      buildah "${storage[@]}" inspect --type image check >image.json &&
      grep -q '"/gitlab-mcp",' image.json && grep -q '"User": "65532:65532"' image.json && grep -q Healthcheck image.json
  }
  check 'image: builds' image

  # The files of the image as a root directory, as its user, with nothing else of this machine.
  image_serves() {
    local storage=(--root "$work/images" --runroot "$work/run" --storage-driver vfs) container folder server status=0
    container=$(buildah "${storage[@]}" from --pull-never check) && folder=$(buildah "${storage[@]}" mount "$container") || return 1
    local run=(env -i SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt GITLAB_MCP_HTTP=127.0.0.1:8981 GITLAB_MCP_AUTH=token
      GITLAB_URL=sandbox "$(command -v chroot)" --userspec=65532:65532 "$folder" /gitlab-mcp)
    "${run[@]}" serve &
    server=$!
    timeout 20 sh -c 'until "$@" health; do sleep 0.2; done' - "${run[@]}" || status=1
    kill "$server"
    buildah "${storage[@]}" umount "$container"
    return $status
  }
  if [ "$(id -u)" = 0 ]; then check 'image: serves, and is healthy' image_serves; fi
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
