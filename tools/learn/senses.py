"""Makes catalog/senses.txt: a vector for each word, one for each action, and units that listen to each word between its
neighbours, such that a request, which is the sum of its words' vectors and of what the units add, points to the action
that it asks for.

    pip install torch sentence-transformers
    python3 tools/learn/senses.py                    # the teacher comes from Hugging Face
    python3 tools/learn/senses.py --teacher FOLDER   # or lies in a folder

It reads catalog/actions and catalog/requests, and nothing else: neither GitLab's documents nor any of the requests that
the finder is measured with. It takes about ten minutes on two cores. The seed is fixed; on another machine, or with
another version of torch, a few numbers come out one higher or lower.

How: a word begins with what the teacher says of it alone, in the directions in which the texts differ most. An action
begins where its texts lie; the units begin by chance and add nothing. Then, 15 times over all texts, each has to choose
its own action among all, with a fifth of its words taken away; the catalog's own texts count twice. At the end the space
is turned so that the first components tell most, and each component is written in four bits. What was tried beside it stands in docs/benchmarks/README.md.
"""

import argparse
import os
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch.nn import functional

from texts import NOTHING, ROOT, names, ranked, requests, stems

TEACHER = "sentence-transformers/all-MiniLM-L6-v2"

SEED = 0
DIMENSIONS = 128
# So many units listen to each word, to the one before it and to the one behind it.
UNITS = 64
HEARD = 3
# No text is longer, in words.
LONGEST = 40
EPOCHS = 15
BATCH = 512
LEARNING_RATE = 5e-3
# Of a text's words, so many are left out while its action is chosen.
DROPPED = 0.2
# How much alike is near, and how much of the choice is left open.
TEMPERATURE = 0.08
OPEN = 0.1
# What a text of the catalog's own counts beside a request: there are fewer, and each says the thing itself.
OWN = 2.0
# In so many texts at least has a word to stand.
LEAST = 5
# No word tells more than one in e^8 texts has.
RAREST = 8.0
# Every so many texts is shown to the teacher, to tell in which directions they differ.
SHOWN = 4

# A scale in one byte, as src/search/senses.rs has it, and the largest component.
SCALE_LEAST, SCALE_STEP = 0.001, 1.05
LARGEST = 7
# How much of the largest component of a vector is kept; what is beyond is cut off, where that loses less.
CUTS = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]

HEADER = """\
# Where the words of requests and the actions lie: a name, the scale of its vector as a byte, and a digit for each of
# {dimensions} components, from -7 to 7, all in hexadecimal. <file> and its like are kinds of what a request names. Of each of
# {units} units, +before, +own and +after are what it listens for in a word's neighbours and in the word itself, and +adds
# what it then adds. Before them all, what one step of each component is worth: of words, actions, what units listen for
# and what they add.
# Made by tools/learn/senses.py, which says how; made again whenever many of the catalog's texts or requests change.
# It began with vectors of all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), which is under
# the Apache License 2.0, and was trained on catalog/actions and catalog/requests.
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--teacher", default=TEACHER)
    arguments.add_argument("--out", type=Path, default=ROOT / "catalog/senses.txt")
    arguments.add_argument("--spare", type=int, help="teach all requests of actions but every so many, for --cases")
    arguments.add_argument("--cases", type=Path, help="where those are written, as gitlab-mcp eval reads them")
    asked = arguments.parse_args()
    torch.manual_seed(SEED)
    texts = Texts(asked.spare)
    print(f"{len(texts.lines)} texts of {len(texts.actions)} actions, {len(texts.words)} words", flush=True)
    teacher = SentenceTransformer(asked.teacher)
    write(asked.out, texts, train(texts, start(texts, teacher)))
    if asked.cases:
        asked.cases.write_text("".join(f"{line}\t{action}\n" for line, action in texts.spared))


class Texts:
    """All texts in numbers, each with the number of its action."""

    def __init__(self, spared):
        said = requests()
        known = {action["action"]: [action["summary"], *names(action), *action.get("phrases", [])] for action in ranked()}
        topics = sorted(name for name in said if name.startswith(NOTHING))
        self.actions = [*known, *topics]
        self.lines, self.spared, owners, worth = [], [], [], []
        for number, action in enumerate(self.actions):
            is_spared = lambda at: spared and (at + number) % spared == 0 and action in known
            asked = list(enumerate(said.get(action, [])))
            self.spared += [(line, action) for at, line in asked if is_spared(at)]
            own, taught = known.get(action, []), [line for at, line in asked if not is_spared(at)]
            self.lines += own + taught
            owners += [number] * len(own + taught)
            worth += [OWN] * len(own) + [1.0] * len(taught)
        self.owners, self.worth = torch.tensor(owners), torch.tensor(worth)
        bags = [bag[:LONGEST] for bag in stems(self.lines)]
        self.counts = Counter(word for bag in bags for word in set(bag))
        self.words = sorted(word for word, count in self.counts.items() if count >= LEAST)
        numbers = {word: number for number, word in enumerate(self.words)}
        # A row a text; what is no word of it is the number after the last word.
        self.bags = torch.full((len(bags), max(map(len, bags))), len(self.words))
        for row, bag in enumerate(bags):
            known = [numbers[word] for word in bag if word in numbers]
            self.bags[row, : len(known)] = torch.tensor(known, dtype=torch.long)


def start(texts, teacher):
    """What the teacher says of each word, in fewer directions, and more of a word the fewer texts have it."""
    encode = lambda lines: teacher.encode(lines, batch_size=256, normalize_embeddings=True)
    said = encode(texts.lines[::SHOWN])
    alone = encode([word.strip("<>").replace("_", " ") for word in texts.words])
    mean = said.mean(0)
    _, _, directions = np.linalg.svd(said - mean, full_matrices=False)
    told = [np.log(len(texts.lines) / texts.counts[word]) for word in texts.words]
    told = np.clip(np.array(told) / RAREST, 0.05, 1)
    return torch.tensor((alone - mean) @ directions[:DIMENSIONS].T * told[:, None], dtype=torch.float32)


class Model:
    """What is learnt: the words' vectors, the actions', what units listen for in a word and its neighbours, and add."""

    def __init__(self, words, actions):
        listens = torch.randn(HEARD * DIMENSIONS, UNITS) * 1.5 / np.sqrt(HEARD * DIMENSIONS)
        parts = words, functional.normalize(actions, dim=-1), listens, torch.zeros(UNITS, DIMENSIONS)
        self.words, self.actions, self.listens, self.adds = map(torch.nn.Parameter, parts)

    def parts(self):
        return [self.words, self.actions, self.listens, self.adds]

    def embed(self, bags, dropped=0.0):
        """The direction of each text."""
        bags = bags[:, : max(1, int((bags != len(self.words)).sum(1).max()))]
        present = bags != len(self.words)
        if dropped:
            kept = present & (torch.rand(bags.shape) > dropped)
            present = torch.where(kept.any(1, keepdim=True), kept, present)
        bags = torch.where(present, bags, len(self.words))
        words = functional.embedding(bags, torch.cat([self.words, torch.zeros(1, DIMENSIONS)]))
        beside = functional.pad(functional.normalize(words, dim=-1), (0, 0, HEARD // 2, HEARD // 2))
        around = torch.cat([beside[:, at : at + bags.shape[1]] for at in range(HEARD)], -1)
        excited = torch.relu(around @ self.listens) * present[..., None]
        return functional.normalize(words.sum(1) + excited.sum(1) @ self.adds, dim=-1)


def train(texts, words):
    """The vectors of the words, the directions of the actions, and the units."""
    model = Model(words, begin(texts, words))
    optimiser = torch.optim.Adam(model.parts(), lr=LEARNING_RATE)
    steps, step = EPOCHS * (len(texts.lines) // BATCH), 0
    for epoch in range(EPOCHS):
        for chosen in torch.randperm(len(texts.lines)).split(BATCH):
            optimiser.param_groups[0]["lr"] = LEARNING_RATE * max(0.03, 1 - step / steps)
            alike = model.embed(texts.bags[chosen], DROPPED) @ functional.normalize(model.actions, dim=-1).T
            owners, worth = texts.owners[chosen], texts.worth[chosen]
            lost = functional.cross_entropy(alike / TEMPERATURE, owners, reduction="none", label_smoothing=OPEN)
            loss = (lost * worth).sum() / worth.sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            step += 1
        print(f"epoch {epoch + 1} of {EPOCHS}: {float(loss.detach()):.3f}", flush=True)
    with torch.no_grad():
        model.actions.copy_(functional.normalize(model.actions, dim=-1))
        return turned(model, model.embed(texts.bags[::SHOWN]))


def begin(texts, words):
    """Where the texts of each action lie."""
    table = torch.cat([words, torch.zeros(1, DIMENSIONS)])
    said = functional.embedding_bag(texts.bags, table, mode="sum", padding_idx=len(words))
    return torch.zeros(len(texts.actions), DIMENSIONS).index_add(0, texts.owners, functional.normalize(said, dim=-1))


def turned(model, said):
    """The same, turned so that the first components tell most of what texts say of actions."""
    spread = model.actions - model.actions.mean(0)
    by_texts, by_actions = said.T @ said / len(said), spread.T @ spread / len(spread)
    _, directions = torch.linalg.eigh(by_texts / by_texts.trace() + by_actions / by_actions.trace())
    directions = directions.flip(1)
    listens = model.listens.T.reshape(UNITS * HEARD, DIMENSIONS)
    return [part.detach() @ directions for part in (model.words, model.actions, listens, model.adds)]


def packed(vectors):
    """What a step of each component is worth, and each vector's scale and components."""
    steps = vectors.std(0)
    vectors = vectors / steps
    best, least = None, torch.full((len(vectors), 1), torch.inf)
    scales = torch.zeros(len(vectors), 1)
    for cut in CUTS:
        wanted = vectors.abs().amax(1, keepdim=True).clamp(min=SCALE_LEAST) * cut / LARGEST
        power = torch.round(torch.log(wanted / SCALE_LEAST) / np.log(SCALE_STEP)).clamp(1, 255)
        scale = SCALE_LEAST * SCALE_STEP**power
        whole = torch.round(vectors / scale).clamp(-LARGEST, LARGEST)
        lost = ((whole * scale - vectors) ** 2).sum(1, keepdim=True)
        better = lost < least
        best = whole if best is None else torch.where(better, whole, best)
        scales, least = torch.where(better, power, scales), torch.where(better, lost, least)
    return steps.tolist(), scales[:, 0].int().tolist(), best.int().tolist()


def write(path, texts, parts):
    units = range(UNITS)
    listens = [f"+{beside}.{unit}" for unit in units for beside in ("before", "own", "after")]
    names = [texts.words, texts.actions, listens, [f"+adds.{unit}" for unit in units]]
    rows, worth = [], []
    for name, listed, vectors in zip(("words", "actions", "listens", "adds"), names, parts):
        steps, scales, wholes = packed(vectors)
        worth.append(f"{name}: " + " ".join(f"{step:.6g}" for step in steps))
        for called, scale, whole in zip(listed, scales, wholes):
            rows.append(f"{called} {scale:02x}" + "".join(f"{part & 15:x}" for part in whole))
    written = path.with_suffix(".new")
    written.write_text(HEADER.format(dimensions=DIMENSIONS, units=UNITS) + "\n".join(worth + rows) + "\n")
    os.replace(written, path)


if __name__ == "__main__":
    main()
