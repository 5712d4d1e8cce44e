"""Makes catalog/senses.txt: a vector for each word of the catalog's texts, such that the texts of one action lie near
one another, and those of others far.

    pip install torch sentence-transformers
    python3 tools/senses/train.py                    # the teacher comes from Hugging Face
    python3 tools/senses/train.py --teacher FOLDER   # or lies in a folder

It reads catalog/actions and catalog/language.toml, and nothing else: neither GitLab's documents nor any of the requests
that the finder is measured with. It takes about five minutes on two cores. The seed is fixed; on another machine, or
with another version of torch, a few numbers come out one higher or lower.

How: a word begins with what the teacher says of it alone, in the 64 directions in which the catalog's texts differ most.
A text is the sum of its words' vectors. Then, 15 times over all texts, each has to find another text of its own action
among some 5,000 texts, with a fifth of its words taken away; and how alike two texts are shall stay what the teacher
says, which weighs less. What was tried beside it stands in docs/benchmarks/README.md.
"""

import argparse
import json
import os
import re
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch.nn import functional

from words import Words

ROOT = Path(__file__).resolve().parents[2]
TEACHER = "sentence-transformers/all-MiniLM-L6-v2"

SEED = 0
DIMENSIONS = 64
EPOCHS = 15
BATCH = 768
LEARNING_RATE = 3e-3
# Of a text's words, so many are left out while it is looked for.
DROPPED = 0.2
# How many texts of any action, and of its own, a text is compared with.
OTHERS, MATES = 2500, 5
TEMPERATURE = 0.07
# What the teacher's likenesses weigh beside finding one's own action.
TEACHER_WEIGHT = 1.0
# No word tells more than one in e^8 texts has.
RAREST = 8.0

HEADER = """\
# The senses of the catalog's words: a word, then its vector, a signed byte in hexadecimal for each of {dimensions} directions.
# Made by tools/senses/train.py, which says how; made again whenever many of the catalog's words are new to it.
# It began with vectors of all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), which is under
# the Apache License 2.0, and was trained on the texts of catalog/actions.
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--teacher", default=TEACHER)
    arguments.add_argument("--out", type=Path, default=ROOT / "catalog/senses.txt")
    asked = arguments.parse_args()
    torch.manual_seed(SEED)
    texts = Texts(ROOT)
    print(f"{len(texts.lines)} texts of {texts.actions} actions, {len(texts.words)} words")
    teacher = SentenceTransformer(asked.teacher)
    said = encode(teacher, texts.lines)
    alone = encode(teacher, texts.surfaces)
    torch.set_num_threads(1)
    vectors = train(texts, said, start(texts, said, alone))
    write(asked.out, texts.words, vectors)


class Texts:
    """The texts of the actions that are ranked, in numbers: the summary, the words of the id, the phrases."""

    def __init__(self, root):
        words = Words(tomllib.loads((root / "catalog/language.toml").read_text()))
        ranked = [action for action in read(root / "catalog/actions") if not action.get("twin")]
        self.actions = len(ranked)
        self.lines, owners = [], []
        for number, action in enumerate(ranked):
            name = re.sub("[._]", " ", action["action"])
            for line in [action["summary"], name, *action.get("phrases", [])]:
                self.lines.append(line)
                owners.append(number)
        self.owners = torch.tensor(owners)
        forms = {}
        for line in self.lines:
            for surface, stem in words.surfaces(line):
                forms.setdefault(stem, Counter())[surface] += 1
        self.words = sorted(forms)
        # The form that the teacher is asked about.
        self.surfaces = [forms[stem].most_common(1)[0][0] for stem in self.words]
        numbers = {stem: number for number, stem in enumerate(self.words)}
        bags = [[numbers[stem] for stem in words.stems(line)] for line in self.lines]
        self.counts = Counter(word for bag in bags for word in set(bag))
        # A row a text; what is no word of it is the number after the last word.
        self.bags = torch.full((len(bags), max(map(len, bags))), len(self.words))
        for row, bag in enumerate(bags):
            self.bags[row, : len(bag)] = torch.tensor(bag, dtype=torch.long)
        self.mates = [torch.nonzero(self.owners == number)[:, 0] for number in range(len(ranked))]


def read(folder):
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def encode(teacher, texts):
    return torch.tensor(teacher.encode(texts, batch_size=256, normalize_embeddings=True, show_progress_bar=True))


def start(texts, said, alone):
    """What the teacher says of each word, in fewer directions, and more of a word the fewer texts have it."""
    mean = said.mean(0)
    _, _, directions = np.linalg.svd((said - mean)[::4].numpy(), full_matrices=False)
    told = [np.log((len(texts.lines) + 1) / (texts.counts[word] + 1)) for word in range(len(texts.words))]
    told = torch.tensor(np.clip(np.minimum(told, RAREST) / RAREST, 0.05, 1), dtype=torch.float32)
    return (alone - mean) @ torch.tensor(directions[:DIMENSIONS].T.copy()) * told[:, None]


def embed(vectors, bags, dropped=0.0):
    """The direction of each text; `vectors` ends with one for what is no word."""
    nothing = len(vectors) - 1
    present = bags != nothing
    if dropped:
        kept = present & (torch.rand(bags.shape) > dropped)
        present = torch.where(kept.any(1, keepdim=True), kept, present)
    bags = torch.where(present, bags, nothing)
    return functional.normalize(functional.embedding_bag(bags, vectors, mode="sum", padding_idx=nothing), dim=-1)


def train(texts, said, vectors):
    vectors = torch.nn.Parameter(vectors)
    optimiser = torch.optim.Adam([vectors], lr=LEARNING_RATE)
    nothing = torch.zeros(1, DIMENSIONS)
    count = len(texts.lines)
    steps, step = EPOCHS * (count // BATCH), 0
    for epoch in range(EPOCHS):
        order = torch.randperm(count)
        for begin in range(0, count - BATCH + 1, BATCH):
            step += 1
            optimiser.param_groups[0]["lr"] = LEARNING_RATE * max(0.05, 1 - step / steps)
            chosen = order[begin : begin + BATCH]
            table = torch.cat([vectors, nothing])
            found = embed(table, texts.bags[chosen], DROPPED)
            loss = finding(table, texts, chosen, found) + TEACHER_WEIGHT * likeness(said[chosen], found)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"epoch {epoch + 1} of {EPOCHS}: {float(loss.detach()):.3f}", flush=True)
    return vectors.detach()


def finding(table, texts, chosen, found):
    """How hard it is to find a text's action by its other texts."""
    owners = texts.owners[chosen]
    mates = [of[torch.randint(len(of), (MATES,))] for of in (texts.mates[owner] for owner in owners.tolist())]
    others = torch.randint(len(texts.lines), (OTHERS,))
    offered = torch.cat([chosen, others, *mates]).unique()
    alike = found @ embed(table, texts.bags[offered]).T / TEMPERATURE
    itself = (torch.arange(len(chosen)), torch.searchsorted(offered, chosen))
    alike = alike.index_put(itself, torch.tensor(-1e4))
    same = owners[:, None] == texts.owners[offered][None, :]
    same[itself] = False
    findable = same.any(1)
    right = torch.logsumexp(alike.masked_fill(~same, -1e4), 1)
    return (torch.logsumexp(alike, 1) - right)[findable].mean()


def likeness(said, found):
    """How far the likenesses of half the texts are from the teacher's."""
    half = len(found) // 2
    return ((found[:half] @ found[:half].T - said[:half] @ said[:half].T) ** 2).mean()


def write(path, words, vectors):
    """Signed bytes; the longest component of all is 127."""
    scaled = torch.round(vectors * (127 / vectors.abs().max())).to(torch.int8).numpy()
    rows = [f"{word} {row.tobytes().hex()}" for word, row in zip(words, scaled)]
    written = path.with_suffix(".new")
    written.write_text(HEADER.format(dimensions=DIMENSIONS) + "\n".join(rows) + "\n")
    os.replace(written, path)


if __name__ == "__main__":
    main()
