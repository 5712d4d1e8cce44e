"""Validates every GraphQL document that the program sends against GitLab's schema, with graphql-core. Run by check.sh.

    check.py target/debug/gitlab-mcp catalog 19.5=19.5/schema.graphql 18.6=18.6/schema.graphql

For each version, newest first, the program runs on a sandbox of that version, and dry runs of each GraphQL operation of the catalog
show the document with its variables: with the required parameters alone, and with all that the version has. Against the newest
schema, further calls give each choice of each parameter. A call to an operation that the version lacks must be refused.

An older schema lacks what came later. Three kinds of refusals are counted there and are no faults: selected fields and types,
which the program removes once an instance refuses them; choices without a version in the catalog; and arguments that the newest
schema marks as experiments, if the older one has no mark on any argument: its introspection left them out.

Exits with 1 if a document or a variable is refused that exceptions.toml does not name, or if an operation has no document.
"""

import gc
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from graphql import GraphQLError, GraphQLInputObjectType, GraphQLObjectType, build_schema, parse, validate
from graphql.execution.values import get_variable_values

HERE = Path(__file__).parent
PLACES = {"project": "acme/widget", "group": "acme"}
VALUES = {
    "integer": 1,
    "integer|string": 1,
    "number": 1.5,
    "boolean": True,
    "role": "developer",
    "date": "2026-01-31",
    "datetime": "2026-01-31T09:00:00Z",
    "file": {"filename": "a.txt", "content": "text"},
}
# Names that the sandbox has, for parameters that take no id.
NAMES = {"issuable": "acme/widget#1", "group": "acme", "user": "alice"}
# Parameters that exclude another one.
EXCLUDED = {"work_item.update": {"edits"}}

# Refusals of graphql-core.
SELECTION = re.compile(r"Cannot query field '(\w+)' on type '(?!Query'|Mutation')|Unknown type '\w+(?<!Input)'|must have a selection of")
CHOICE = re.compile(r"does not exist in '\w+' enum")
ARGUMENT = re.compile(r"Unknown argument '(?P<argument>\w+)' on field '(?P<type>\w+)\.(?P<field>\w+)'")
INPUT = re.compile(r"Expected value of type '(?P<type>\w+)!?' (?:not )?to include (?:unknown|required) field '(?P<argument>\w+)'")
REQUIRED = re.compile(r"Argument '[\w.]+\((?P<argument>\w+):\)' of type .* is required")
VARIABLE = re.compile(r"Variable '\$(?P<argument>\w+)' has invalid value")


def is_later(version, than):
    return version is not None and [*map(int, version.split("."))] > [*map(int, than.split("."))]


def operations(catalog):
    """Actions with their GraphQL operations. Alternates, duplicates in GitLab's interface, are never sent."""
    for path in sorted(catalog.glob("actions/*.jsonl")):
        for line in path.read_text().splitlines():
            if line.startswith("{"):
                action = json.loads(line)
                for operation in action["operations"]:
                    if "graphql" in operation and not operation.get("alternate"):
                        yield action, operation


def is_lacking(operation, version):
    """True if the version has the operation not yet or no longer. A parameter that it lacks is not required there."""
    until = operation.get("until")
    return is_later(operation.get("since"), version) or bool(until and not is_later(until, version))


def is_taken(param, scope, version):
    scopes = param.get("scopes")
    return (not scopes or scope in scopes) and not is_later(param.get("since"), version)


def offered(param, version):
    """The choices of a parameter that the version has."""
    since = param.get("enum_since", {})
    return [choice for choice in param.get("enum", []) if not is_later(since.get(choice), version)]


def value(param, scope, version, turn):
    """A value of the parameter's type: its choice of that turn, or all choices of a list."""
    kind = param.get("type", "string")
    base, many = kind.removesuffix("[]"), kind.endswith("[]")
    choices = offered(param, version)
    if choices:
        return choices if many else choices[turn % len(choices)]
    if base == "object":
        fields = [field for field in param.get("fields", []) if is_taken(field, scope, version)]
        one = {field["name"]: value(field, scope, version, turn) for field in fields}
    elif base == "string" and is_a_day(param["name"]):
        one = "2026-01-31"
    elif param.get("names") == "issuable" or base == "string":
        one = "1" if param["name"] == "iids" else NAMES.get(param.get("names"), "text")
    else:
        one = VALUES.get(base, "text")
    return [one] if many else one


def is_a_day(name):
    """GitLab's inputs write some days as strings, which are checked by their names."""
    return name.removesuffix("Fixed").lower().endswith("date")


def turns(param, version):
    """Number of calls that give each choice once."""
    own = 1 if param.get("type", "string").endswith("[]") else len(offered(param, version) or [0])
    return max([own, *(turns(field, version) for field in param.get("fields", []))])


def parameters(action, operation, version, turn):
    """All parameters of the operation, with the choices of that turn; without a turn, the required ones."""
    scope, given = operation["scope"], {}
    for param in action.get("params", []):
        name = param["name"]
        if param.get("in") == "selector":
            if scope in param.get("enum", []):
                given[name] = scope
        elif is_taken(param, scope, version) and name not in EXCLUDED.get(action["action"], ()):
            if param.get("required") or turn is not None:
                place = PLACES.get(scope, "acme") if name == "fullPath" else None
                given.setdefault(name, place or value(param, scope, version, turn or 0))
    return given


def calls(catalog, version, with_choices):
    """Each operation with the parameters of its calls, none twice."""
    for action, operation in operations(catalog):
        own = [param for param in action.get("params", []) if is_taken(param, operation["scope"], version)]
        count = max([1, *(turns(param, version) for param in own)]) if with_choices else 1
        different = []
        for turn in [None, *range(count)]:
            given = parameters(action, operation, version, turn)
            if given not in different and (turn is None or not is_lacking(operation, version)):
                different.append(given)
                yield action, operation, given


class Server:
    """The program on a sandbox of a version."""

    def __init__(self, binary, version):
        command = [binary, "--sandbox", "--sandbox-version", version, "--audit", "off"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        client = {"name": "graphql-check", "version": "1"}
        self.write(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.read()
        self.process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def write(self, number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            if "id" in answer and "method" not in answer:
                return answer
        sys.exit("the server ended")

    def dry_runs(self, calls, ahead=16):
        """Yields each call with its answer. Calls are sent ahead, so that the server works while an answer is judged."""
        open_calls = {}

        def one():
            answer = self.read()
            return *open_calls.pop(answer["id"]), answer["result"].get("structuredContent") or answer["result"]

        for number, (action, operation, params) in enumerate(calls):
            open_calls[number] = action, operation
            arguments = {"action": action["action"], "params": params, "dry_run": True}
            self.write(number, "tools/call", {"name": "gitlab_execute_action", "arguments": arguments})
            if len(open_calls) == ahead:
                yield one()
        while open_calls:
            yield one()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def sent(answer):
    """The document and the variables of a request."""
    request = answer["request"]
    if "body" in request:
        return request["body"]["query"], request["body"]["variables"]
    # Files are separate parts; the server puts them in place of the nulls.
    body = json.loads(request["parts"][0]["value"].replace("null", '"file"'))
    return body["query"], body["variables"]


class Judge:
    """A schema and the documents that it has judged."""

    def __init__(self, path):
        self.schema = build_schema(path.read_text(), assume_valid=True, assume_valid_sdl=True)
        self.documents = {}
        self.variables = set()
        self.has_experiments = any(arg.deprecation_reason for arg in self.arguments())

    def arguments(self):
        for kind in self.schema.type_map.values():
            if isinstance(kind, GraphQLInputObjectType):
                yield from kind.fields.values()
            elif isinstance(kind, GraphQLObjectType):
                for field in kind.fields.values():
                    yield from field.args.values()

    def argument(self, refusal):
        """The argument or input field of a refusal, if this schema has it."""
        match = ARGUMENT.search(refusal) or INPUT.search(refusal)
        kind = self.schema.type_map.get(match["type"]) if match else None
        if isinstance(kind, GraphQLInputObjectType):
            return kind.fields.get(match["argument"])
        field = kind.fields.get(match["field"]) if kind else None
        return field.args.get(match["argument"]) if field else None

    def refusals(self, document, variables):
        """The errors of a document, or of its variables; none of what was judged before."""
        if document not in self.documents:
            try:
                parsed = parse(document, no_location=True)
                errors = validate(self.schema, parsed, hide_suggestions=True)
            except GraphQLError as error:
                parsed, errors = None, [error]
            self.documents[document] = None if errors else parsed
            if errors:
                return [error.message for error in errors]
        parsed = self.documents[document]
        key = document, json.dumps(variables)
        if parsed is None or key in self.variables:
            return []
        self.variables.add(key)
        declared = parsed.definitions[0].variable_definitions or ()
        values = get_variable_values(self.schema, declared, variables, hide_suggestions=True)
        return [error.message for error in values] if isinstance(values, list) else []


def kind_of(refusal, judge, newest):
    """The kind of a refusal that an older schema explains, or None."""
    if judge is newest:
        return None
    argument = newest.argument(refusal)
    if SELECTION.search(refusal):
        return "selected fields"
    if CHOICE.search(refusal):
        return "choices"
    if argument and argument.deprecation_reason and not judge.has_experiments:
        return "experimental arguments"
    return None


def subject(action, refusal):
    """What exceptions.toml names: an action with the refused argument."""
    match = ARGUMENT.search(refusal) or INPUT.search(refusal) or REQUIRED.search(refusal) or VARIABLE.search(refusal)
    return f"{action} {match['argument']}" if match else action


def check(binary, catalog, version, judge, newest, excepted):
    server = Server(binary, version)
    documents, reached, lacking, explained = 0, set(), set(), {}
    faults, used = Counter(), set()
    for action, operation, answer in server.dry_runs(calls(catalog, version, judge is newest)):
        name, scope = action["action"], operation["scope"]
        wanted = f"{operation['graphql']['kind']} {operation['graphql']['field']}"
        if is_lacking(operation, version):
            lacking.add((name, wanted, scope))
            if answer.get("operation") == wanted:
                faults[f"{name}: `{wanted}` is sent, but {version} lacks it"] += 1
        elif answer.get("operation") != wanted or "request" not in answer:
            faults[f"{name}: no document of `{wanted}` ({scope}): {json.dumps(answer)[:300]}"] += 1
        else:
            reached.add((name, wanted, scope))
            documents += 1
            for refusal in judge.refusals(*sent(answer)):
                kind = kind_of(refusal, judge, newest)
                if kind:
                    explained.setdefault(kind, set()).add(name)
                elif subject(name, refusal) in excepted:
                    used.add(subject(name, refusal))
                else:
                    faults[f"{name}: {refusal[:300]}"] += 1
    server.stop()
    print(f"GitLab {version}: {len(reached)} operations, {documents} calls, {len(judge.documents)} different documents")
    print(f"  {len(lacking)} operations that it lacks are not sent, {len(used)} exceptions")
    for unused in sorted(excepted - used):
        print(f"  {unused} is accepted: take it out of exceptions.toml")
    for kind, actions in sorted(explained.items()):
        print(f"  {kind} that it lacks: {len(actions)} actions")
    for fault, count in sorted(faults.items()):
        print(f"REFUSED {fault}" + (f" ({count} calls)" if count > 1 else ""))
    return len(reached), len({fault.split(":")[0] for fault in faults})


def main():
    binary, catalog, *schemas = sys.argv[1:]
    # Millions of objects that stay: looking for garbage among them takes half of the time.
    gc.disable()
    exceptions = tomllib.loads((HERE / "exceptions.toml").read_text())
    passed, failed, newest = 0, 0, None
    for version, path in (schema.split("=", 1) for schema in schemas):
        judge = Judge(Path(path))
        newest = newest or judge
        excepted = {subject for subjects in exceptions.get(version, {}).values() for subject in subjects}
        reached, refused = check(binary, Path(catalog), version, judge, newest, excepted)
        passed, failed = passed + reached - min(refused, reached), failed + refused
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
