"""Sends every REST example to Prism, which checks it against GitLab's OpenAPI document.

    npm install @stoplight/prism-cli@5.16.0      # anywhere; its prism has to be on the PATH
    pip install pyyaml
    python3 tests/clients/prism/check.py         # needs GITLAB_API_FILES and the programs in target/debug

Exits with 1 if Prism refuses an example that exceptions.toml does not name, or accepts one that it names.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import yaml

HERE = Path(__file__).parent
BUILT = HERE.parents[2] / "target/debug"
PORT = 4010
FAKE = {"Private-Token": "t", "Authorization": "Bearer t", "Job-Token": "t", "Deploy-Token": "t"}


def document_path():
    """GitLab's document of the version that the catalog describes, which may be in a folder named after it."""
    files = Path(os.environ["GITLAB_API_FILES"])
    source = tomllib.loads((HERE.parents[2] / "catalog/SOURCE.toml").read_text())
    of_version = files / source["openapi"]["gitlab_version"] / "openapi.yaml"
    return of_version if of_version.exists() else files / "openapi.yaml"


def prepared(source, target):
    """The document as GitLab means it: `oneOf` read as `anyOf`, JSON wherever it names a form alone, no body where no
    field of it is required, and nothing but success as an answer. What the catalog keeps of older documents is added."""
    document = yaml.load(source.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def walk(value):
        if isinstance(value, dict):
            if "oneOf" in value:
                value["anyOf"] = value.pop("oneOf")
            value = list(value.values())
        for part in value if isinstance(value, list) else ():
            walk(part)

    walk(document)
    answer = {"200": {"description": "ok", "content": {"application/json": {"schema": {}, "example": {}}}}}
    add_kept(document)
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"] = answer
                relax_body(operation.get("requestBody"), document)
    document["servers"] = [{"url": "/"}]
    target.write_text(json.dumps(document, default=str))


def add_kept(document):
    """Adds the operations of the catalog that only older documents have: paths with `:id`, no responses."""
    kept = json.loads((HERE.parents[2] / "catalog/kept/openapi.json").read_text())
    for path, operations in kept["paths"].items():
        template = "/api/v4" + re.sub(r":(\w+)", r"{\1}", path)
        for method, operation in operations.items():
            for parameter in operation.get("parameters", []):
                if f"{{{parameter['name']}}}" in template:
                    parameter["in"] = "path"
            document["paths"].setdefault(template, {}).setdefault(method, {**operation, "responses": {}})


def relax_body(body, document):
    """Grape parses a body by its type, whichever type the document names, and takes none for an empty one."""
    if not body:
        return
    forms = body.get("content", {})
    if forms:
        forms.setdefault("application/json", next(iter(forms.values())))
    schema = forms.get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rsplit("/", 1)[-1]
    schema = document.get("components", {}).get("schemas", {}).get(name, schema)
    body["required"] = bool(schema.get("required"))


class Server:
    """The program on its sandbox, which resolves the names of an example and shows the request."""

    def __init__(self):
        command = [BUILT / "gitlab-mcp", "--sandbox", "--audit", "off"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sent = 0
        client = {"name": "prism-check", "version": "1"}
        self.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, method, params):
        self.sent += 1
        self.write({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.sent:
                return answer

    def request(self, example):
        arguments = {**example, "dry_run": True}
        answer = self.call("tools/call", {"name": "gitlab_execute_action", "arguments": arguments})
        return answer["result"]["structuredContent"].get("request")


def refusal(request):
    """What Prism says against a request, or None."""
    query = "&".join(urllib.parse.quote(pair, safe="=&[]") for pair in request.get("query", []))
    url = f"http://127.0.0.1:{PORT}{request['path']}" + (f"?{query}" if query else "")
    body = json.dumps(request["body"]).encode() if "body" in request else None
    headers = {**FAKE, **({"Content-Type": "application/json"} if body else {})}
    try:
        urllib.request.urlopen(urllib.request.Request(url, body, headers, method=request["method"])).close()
        return None
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode(errors='replace')[:900]}"


def main():
    exceptions = {}
    for reason, actions in tomllib.loads((HERE / "exceptions.toml").read_text()).items():
        exceptions.update({action: reason for action in actions})
    folder = Path(tempfile.mkdtemp())
    prepared(document_path(), folder / "openapi.json")
    command = [shutil.which("prism") or "prism", "mock", "--errors", "-p", str(PORT), folder / "openapi.json"]
    prism = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for_prism()
        examples = subprocess.check_output([BUILT / "catalog_gen", "examples"], text=True).splitlines()
        return check([json.loads(line) for line in examples], exceptions)
    finally:
        prism.terminate()


def wait_for_prism():
    for _ in range(120):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/").close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
    sys.exit("Prism does not start")


def check(examples, exceptions):
    server = Server()
    accepted, faults, left_out = 0, [], {"GraphQL": 0, "files": 0, "no request on the sandbox": 0}
    for example in examples:
        action, request = example["action"], server.request(example)
        if request is None:
            left_out["no request on the sandbox"] += 1
        elif request["path"].endswith("/api/graphql"):
            left_out["GraphQL"] += 1
        elif {"parts", "file", "bytes"} & request.keys():
            left_out["files"] += 1
        else:
            said = refusal(request)
            accepted += said is None
            if said and action not in exceptions:
                faults.append(f"{action}: {said}")
            if not said and action in exceptions:
                faults.append(f"{action} is accepted: take it out of exceptions.toml")
    print(f"{accepted} examples accepted, {len(exceptions)} exceptions, left out: {left_out}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
