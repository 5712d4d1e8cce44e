"""The texts that the encoder is trained with: what the catalog says of its actions, and catalog/requests."""

import hashlib
import json
import math
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The first part of the names of topics that have nothing to do with GitLab.
TOPIC = "nothing."
# Of the requests by kind, one in so many is kept out of training to fit the reranker with; of the others, too.
SPARE_BY_KIND, SPARE = 10, 60
# From this Jaccard similarity of two texts' words on, one is a near-duplicate of the other.
NEAR = 0.6
# The weight of a catalog's own text and of a request by kind, beside that of another request.
OWN, BY_KIND = 2.0, 3.0


@dataclass
class Text:
    text: str
    # The id of the action that it asks for, or a topic.
    wanted: str
    weight: float
    # Its tokens: lower-case words and placeholders of entities.
    tokens: list


def actions():
    """The actions that are ranked: all but twins, which others stand for."""
    for path in sorted((ROOT / "catalog/actions").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            if line.startswith("{") and not (action := json.loads(line)).get("twin"):
                yield action


def own_texts(action):
    """Its summary, its id and aliases as words, and its phrases."""
    names = [re.sub("[._]", " ", name) for name in [action["action"], *action.get("aliases", [])]]
    return [action["summary"], *names, *action.get("phrases", [])]


def requests():
    """What people say, with the action or topic that is wanted."""
    for path in sorted((ROOT / "catalog/requests").glob("*.txt")):
        wanted = None
        for line in path.read_text().splitlines():
            if line.startswith("@"):
                wanted = line[1:]
            elif line:
                yield wanted, line


def requests_by_kind():
    """The same of the requests whose kind is noted."""
    for path in sorted((ROOT / "catalog/requests/kinds").glob("*.tsv")):
        for line in path.read_text().splitlines():
            wanted, _, text = line.split("\t")
            yield wanted, text


def measured(others):
    """The requests that the finder is measured with, and the first column of other files."""
    for path in others:
        for line in Path(path).read_text().splitlines():
            yield line.split("\t")[0]
    for path in sorted((ROOT / "tests/eval").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield json.loads(line)["request"]


def is_spare(text, share):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % share == 0


def load(others=()):
    """The texts to train with, and those kept to fit the reranker with. Near-duplicates of what the finder is measured
    with are in neither."""
    classes = {action["action"] for action in actions()}
    texts = [
        Text(text, action["action"], OWN, []) for action in actions() for text in own_texts(action)
    ]
    spare = []
    sources = [(requests(), SPARE, 1.0), (requests_by_kind(), SPARE_BY_KIND, BY_KIND)]
    for source, share, weight in sources:
        for wanted, text in source:
            is_topic = wanted.startswith(TOPIC)
            if not is_topic and wanted not in classes:
                continue
            kept = not is_topic and is_spare(text, share)
            (spare if kept else texts).append(Text(text, wanted, weight, []))
    held = list(measured(others))
    tokens = tokenize([text.text for text in texts + spare] + held)
    for text, words in zip(texts + spare, tokens):
        text.tokens = words
    is_near = near_duplicates(tokens[len(texts) + len(spare) :])
    own = sum(1 for action in actions() for _ in own_texts(action))
    kept = texts[:own] + [text for text in texts[own:] if not is_near(text.tokens)]
    return kept, [text for text in spare if not is_near(text.tokens)]


def near_duplicates(held):
    """Whether a text's tokens are nearly those of one that is held out. Two bags of such a similarity share one of the
    rarest tokens of either, so that only those are looked up (prefix filtering)."""
    bags = [frozenset(tokens) for tokens in held]
    having = defaultdict(set)
    for number, bag in enumerate(bags):
        for token in bag:
            having[token].add(number)

    def is_near(tokens):
        bag = frozenset(tokens)
        rarest = sorted(bag, key=lambda token: (len(having.get(token, ())), token))
        prefix = rarest[: len(bag) - math.ceil(NEAR * len(bag)) + 1]
        numbers = set().union(*(having.get(token, ()) for token in prefix))
        return any(len(bag & bags[number]) >= NEAR * len(bag | bags[number]) for number in numbers)

    return is_near


def tokenize(texts):
    """The encoder's input for each text, as the finder makes it."""
    command = ["cargo", "run", "--quiet", "--locked", "--features", "dev", "--bin", "catalog_gen", "--", "tokens"]
    lines = [re.sub(r"\s+", " ", text) for text in texts]
    done = subprocess.run(command, cwd=ROOT, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    tokens = [line.split() for line in done.stdout.split("\n")[:-1]]
    assert len(tokens) == len(texts), "a text has a line break"
    return tokens
