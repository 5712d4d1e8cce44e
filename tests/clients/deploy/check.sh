#!/usr/bin/env bash
# What docs/guides/deploy.md leaves to other programs: the Kubernetes manifests against the schemas of Kubernetes and the
# metrics through Prometheus' own parser (both need pip), and nginx in front of the server (needs nginx and openssl; without
# them it says so).
#
#   tests/clients/deploy/check.sh target/debug/gitlab-mcp
set -euo pipefail
binary=$(realpath "${1:?the path of gitlab-mcp}")
guide=$(cd "$(dirname "$0")/../../.." && pwd)/docs/guides/deploy.md
work=$(mktemp -d)
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

# Prints the fenced blocks of a language.
blocks() {
  awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } /^```$/ { inside = 0 } inside' "$guide"
}

# An old version, and the newest whose schemas the package has.
pip install --quiet --root-user-action=ignore --disable-pip-version-check --target "$work/python" kubernetes-validate==1.37.0 \
  prometheus-client==0.26.0
blocks yaml >manifests.yaml
for version in 1.30 1.37; do
  PYTHONPATH="$work/python" python3 -m kubernetes_validate --strict --version "$version" manifests.yaml >validated.txt 2>&1 || {
    cat validated.txt
    exit 1
  }
  echo "manifests, Kubernetes $version: $(grep -c '^kind:' manifests.yaml) passed, 0 failed"
done

"$binary" serve --sandbox --http 127.0.0.1:0 --metrics 127.0.0.1:0 --auth token --public-url https://mcp.example.com \
  2>server.log &
processes+=($!)
for _ in $(seq 100); do
  server=$(grep -o 'listening address=.*' server.log | cut -d= -f2) && break
  sleep 0.1
done
metrics=$(grep -o '/metrics address=.*' server.log | cut -d= -f2)

execute='{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "gitlab_execute_action", "arguments": '
message=(-H 'PRIVATE-TOKEN: glpat-sandbox' -H 'Content-Type: application/json'
  -H 'Accept: application/json, text/event-stream')
curl -s "http://$server/mcp" "${message[@]}" -d "$execute"'{"action": "current_user.get"}}}' >answer.txt
curl -s "http://$metrics/metrics" >metrics.txt
PYTHONPATH="$work/python" python3 - metrics.txt <<'END'
import sys
from prometheus_client.parser import text_string_to_metric_families

families = {family.name: family for family in text_string_to_metric_families(open(sys.argv[1]).read())}
calls = families["gitlab_mcp_calls"].samples
assert [sample.labels["action"] for sample in calls] == ["current_user.get"], calls
for family in families.values():
    assert family.type != "unknown" and family.documentation, family
histogram = families["gitlab_mcp_call_duration_seconds"]
counts = [sample.value for sample in histogram.samples if sample.name.endswith("_bucket")]
assert counts == sorted(counts) and counts[-1] == 1, counts
print(f"metrics: {len(families)} families parsed")
END

if ! command -v nginx >/dev/null || ! command -v openssl >/dev/null; then
  echo "nginx: not checked, because this machine has no nginx or no openssl"
  exit 0
fi

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=mcp.example.com -addext subjectAltName=DNS:mcp.example.com \
  -keyout tls.key -out tls.crt 2>/dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
{
  printf 'daemon off;\nmaster_process off;\npid %s/nginx.pid;\nerror_log %s/error.log;\n' "$work" "$work"
  printf 'events {}\nhttp {\naccess_log off;\n'
  for kind in client_body proxy fastcgi uwsgi scgi; do printf '%s_temp_path %s/%s;\n' "$kind" "$work" "$kind"; done
  blocks nginx | sed -e "s|listen 443 ssl|listen 127.0.0.1:$port ssl|" -e "s|/etc/nginx/tls|$work/tls|" \
    -e "s|http://127.0.0.1:8080|http://$server|"
  printf '}\n'
} >nginx.conf
nginx -p "$work" -c "$work/nginx.conf" 2>>error.log &
processes+=($!)

# A request through the proxy; prints the status, and leaves the body in answer.txt.
request() {
  curl -s --cacert tls.crt --connect-to "mcp.example.com:443:127.0.0.1:$port" --retry 20 --retry-connrefused \
    --retry-delay 1 -o answer.txt -w '%{http_code}' "https://mcp.example.com$1" "${@:2}"
}
call() {
  request /mcp "${message[@]}" -d "$1"
}
expect() {
  [ "$1" = "$2" ] || { echo "nginx, $3: $2 instead of $1" && cat answer.txt error.log server.log && exit 1; }
}
expect 200 "$(call "$execute"'{"action": "current_user.get"}}}')" 'a call'
grep -q sandbox answer.txt || { cat answer.txt && exit 1; }
expect 401 "$(request /mcp -X POST)" 'no token'
expect 404 "$(request /metrics)" 'metrics'
expect 404 "$(request /health)" 'health'
# The limit of the proxy is that of the server: a body of that size, which is no message, gets the server's answer.
head -c 6291456 /dev/zero | tr '\0' ' ' >large.txt
expect 400 "$(call @large.txt)" 'a large body'
printf ' ' >>large.txt
expect 413 "$(call @large.txt)" 'a body that is too large'
echo "nginx: 6 passed, 0 failed"
