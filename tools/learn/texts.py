"""The texts that the finder learns by: what the catalog says of its actions, and catalog/requests. Each is turned into
stems by the finder itself (examples/stems.rs), so that it learns by what it will hear."""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def ranked():
    """The actions that the finder ranks: all but twins, which others stand for."""
    paths = sorted((ROOT / "catalog/actions").glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text().splitlines() if line.startswith("{")]
    return [action for action in map(json.loads, lines) if not action.get("twin")]


# The names begin so of topics in catalog/requests that have nothing to do with GitLab.
NOTHING = "nothing."


def requests():
    """What people say, by the id of the action that they want, or the topic that no action is for."""
    said, action = {}, None
    for path in sorted((ROOT / "catalog/requests").glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("@"):
                action = said.setdefault(line[1:], [])
            elif line:
                action.append(line)
    return said


def names(action):
    """Its id and aliases as words."""
    return [re.sub("[._]", " ", name) for name in [action["action"], *action.get("aliases", [])]]


def stems(texts):
    """The stems of each text, and the kinds of what it names, such as <file>."""
    command = ["cargo", "run", "--quiet", "--release", "--locked", "--example", "stems"]
    heard = subprocess.run(
        command, cwd=ROOT, input="\n".join(texts) + "\n", capture_output=True, text=True, check=True
    )
    lines = heard.stdout.splitlines()
    assert len(lines) == len(texts), "a text has a line break"
    return [line.split() for line in lines]
