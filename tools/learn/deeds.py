"""Makes catalog/deeds.txt: what each word, and each two neighbouring words, say for and against each kind of deed.

    pip install torch
    python3 tools/learn/deeds.py

It reads catalog/actions, catalog/requests and catalog/language.toml, and nothing else: neither GitLab's documents nor any of the requests
that the finder is measured with. It takes about a minute on two cores. The seed is fixed; on another machine, or with
another version of torch, a few numbers come out one higher or lower.

How: each text of an action is to tell its deed from those that the other actions of its domain do (a logistic
regression whose choices are the domain's). What a domain's things are called is no help there, since its actions share
it; what is left is how people ask to have something listed, changed or taken away. Words keep their places in
pairs, stopwords are words like all others, and three tenths of each text are left out, so that no verb that is always
said takes the weight of what is said around it. The pairs and words that tell most are kept.
"""

import argparse
import os
import tomllib
from collections import defaultdict
from pathlib import Path

import torch
from torch.nn import functional

from texts import ROOT, ranked, requests, stems

SEED = 0
EPOCHS = 25
BATCH = 2048
LEARNING_RATE = 0.02
# Of a text's words and pairs, so many are left out while its deed is told.
DROPPED = 0.3
# How strongly weights are held at nothing.
HELD = 1e-4
# In the texts of so many domains at least has a word to stand.
DOMAINS = 3
# How many words and pairs are kept.
KEPT = 3000
# Steps of a weight to one in the logarithm of the odds, as src/search/deeds.rs has them.
STEPS = 16

HEADER = """\
# What words say for and against each kind of deed: a signed byte in hexadecimal for each, then the word or the two; `^` is
# the beginning of a request and `$` its end. Made by tools/learn/deeds.py, which says how. Made again
# whenever the deeds of language.toml change, or many of the catalog's texts.
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=ROOT / "catalog/deeds.txt")
    asked = arguments.parse_args()
    torch.manual_seed(SEED)
    texts = Texts()
    print(f"{len(texts.bags)} texts, {len(texts.words)} words and pairs, {len(texts.deeds)} deeds")
    write(asked.out, texts, train(texts))


class Texts:
    """The texts of the actions that people ask for, in numbers: the summary and the phrases."""

    def __init__(self):
        language = tomllib.loads((ROOT / "catalog/language.toml").read_text())
        self.deeds = [deed["name"] for deed in language["deed"]]
        self.verbs = {verb: number for number, deed in enumerate(language["deed"]) for verb in deed["verbs"]}
        actions, said = ranked(), requests()
        done = defaultdict(set)
        for action in actions:
            done[domain(action)].add(self.deed(action))
        lines, owners = [], []
        for action in actions:
            if action.get("audience") == "machine" or len(done[domain(action)]) < 2:
                continue
            for text in [action["summary"], *action.get("phrases", []), *said.get(action["action"], [])]:
                lines.append(text)
                owners.append((self.deed(action), domain(action)))
        rows, spread = [], defaultdict(set)
        for heard, (deed, where) in zip(stems(lines), owners):
            telling = sorted(set(pairs(heard)))
            rows.append((telling, deed, where))
            for words in telling:
                spread[words].add(where)
        self.words = sorted(words for words, domains in spread.items() if len(domains) >= DOMAINS)
        numbers = {words: number for number, words in enumerate(self.words)}
        bags = [[numbers[words] for words in telling if words in numbers] for telling, _, _ in rows]
        # A row a text; what is no word of it is the number after the last word.
        self.bags = torch.full((len(bags), max(map(len, bags))), len(self.words))
        self.choices = torch.zeros(len(bags), len(self.deeds), dtype=torch.bool)
        for row, (bag, (_, _, where)) in enumerate(zip(bags, rows)):
            self.bags[row, : len(bag)] = torch.tensor(bag, dtype=torch.long)
            self.choices[row, list(done[where])] = True
        self.right = torch.tensor([deed for _, deed, _ in rows])

    def deed(self, action):
        """As src/search/indexing.rs has it: by the verb, else by what the method does."""
        verb = action["action"].split(".")[1].split("_")[0]
        first = (action["operations"] or [{}])[0]
        graphql = first.get("graphql", {})
        method = "GET" if graphql.get("kind") == "query" else first.get("method", "GET")
        rest = {"GET": "get", "HEAD": "get", "DELETE": "delete"}.get(method, "act")
        return self.verbs.get(verb, self.deeds.index(rest))


def domain(action):
    return action["action"].split(".")[0]


def pairs(heard):
    """The stems of a text and the pairs of its neighbours, its ends among them."""
    words = [stem for stem in heard if not stem.startswith("<")]
    return words + [" ".join(pair) for pair in zip(["^", *words], [*words, "$"])]


def train(texts):
    nothing = len(texts.words)
    weights = torch.nn.Parameter(torch.zeros(nothing + 1, len(texts.deeds)))
    # How common a deed is, is no matter of words.
    common = torch.nn.Parameter(torch.zeros(len(texts.deeds)))
    optimiser = torch.optim.Adam([weights, common], lr=LEARNING_RATE)
    for epoch in range(EPOCHS):
        optimiser.param_groups[0]["lr"] = LEARNING_RATE * (1 - epoch / EPOCHS)
        for chosen in torch.randperm(len(texts.bags)).split(BATCH):
            bags = texts.bags[chosen]
            kept = (bags != nothing) & (torch.rand(bags.shape) > DROPPED)
            said = (weights[bags] * kept[..., None]).sum(1) / (1 - DROPPED) + common
            said = said.masked_fill(~texts.choices[chosen], -1e4)
            loss = functional.cross_entropy(said, texts.right[chosen]) + HELD * (weights**2).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"epoch {epoch + 1} of {EPOCHS}: {float(loss.detach()):.3f}", flush=True)
    return weights.detach()[:nothing]


def write(path, texts, weights):
    """Those whose weights differ most between deeds, as signed bytes."""
    told = weights.max(1).values - weights.min(1).values
    kept = sorted(told.topk(min(KEPT, len(told))).indices.tolist())
    bytes_ = torch.round(weights * STEPS).clamp(-127, 127).to(torch.int8).numpy()
    rows = [f"{bytes_[row].tobytes().hex()} {texts.words[row]}" for row in kept]
    written = path.with_suffix(".new")
    written.write_text(HEADER + "deeds: " + " ".join(texts.deeds) + "\n" + "\n".join(rows) + "\n")
    os.replace(written, path)


if __name__ == "__main__":
    main()
