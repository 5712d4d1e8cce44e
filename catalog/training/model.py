"""The encoder: BERT's layers with mean pooling, begun from the teacher's weights, and its file formats.

The forward pass at query time is src/encoder; both are the same function but for rounding."""

import struct

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

WIDTH, INNER, HEADS, POSITIONS = 384, 1536, 12, 48
EPSILON = 1e-12
# What keeps padding out of attention.
MASKED = -1e4


class Layer(nn.Module):
    """A transformer layer with layer normalization behind each half, as BERT has it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, states, mask):
        batch, tokens, _ = states.shape
        heads = self.attention(states).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        queries, keys, values = heads.permute(2, 0, 3, 1, 4)
        # Written out: on a processor, the fused attention of torch is three times slower for short texts.
        weights = torch.softmax(queries @ keys.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + mask, -1)
        mixed = (weights @ values).transpose(1, 2).reshape(batch, tokens, WIDTH)
        states = self.attention_norm(states + self.output(mixed))
        inner = functional.gelu(self.up(states), approximate="tanh")
        return self.norm(states + self.down(inner))


class Encoder(nn.Module):
    """Token numbers, padded, to vectors of length 1."""

    def __init__(self, pieces, layers):
        super().__init__()
        self.words = nn.Embedding(pieces, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, numbers, padding):
        present = numbers != padding
        states = self.norm(self.words(numbers) + self.positions(torch.arange(numbers.shape[1])))
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        mask = torch.zeros(numbers.shape).masked_fill(~present, MASKED).to(kind)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, mask)
        present = present[..., None].float()
        return functional.normalize((states.float() * present).sum(1) / present.sum(1), dim=-1)


def from_teacher(path, rows, layers):
    """An encoder of some of the teacher's layers. Each of its word vectors begins as the mean of the teacher's rows
    that `rows` lists."""
    tensors = load_file(path)
    words = tensors["embeddings.word_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    encoder = Encoder(len(rows), len(layers))

    def copy(module, name):
        module.weight.copy_(tensors[name + ".weight"])
        module.bias.copy_(tensors[name + ".bias"])

    with torch.no_grad():
        for number, mean_of in enumerate(rows):
            encoder.words.weight[number] = words[torch.tensor(mean_of)].mean(0)
        encoder.positions.weight.copy_(tensors["embeddings.position_embeddings.weight"][:POSITIONS])
        copy(encoder.norm, "embeddings.LayerNorm")
        for layer, number in zip(encoder.layers, layers):
            name = f"encoder.layer.{number}."
            parts = [name + f"attention.self.{part}" for part in ("query", "key", "value")]
            layer.attention.weight.copy_(torch.cat([tensors[part + ".weight"] for part in parts]))
            layer.attention.bias.copy_(torch.cat([tensors[part + ".bias"] for part in parts]))
            copy(layer.output, name + "attention.output.dense")
            copy(layer.attention_norm, name + "attention.output.LayerNorm")
            copy(layer.up, name + "intermediate.dense")
            copy(layer.down, name + "output.dense")
            copy(layer.norm, name + "output.LayerNorm")
    return encoder


def smaller(encoder, layers):
    """An encoder that begins as some of another's layers."""
    student = Encoder(encoder.words.num_embeddings, len(layers))
    student.load_state_dict({**encoder.state_dict(), **taken(encoder, layers)}, strict=False)
    return student


def taken(encoder, layers):
    return {
        f"layers.{number}.{name}": tensor
        for number, layer in enumerate(layers)
        for name, tensor in encoder.layers[layer].state_dict().items()
    }


def read_encoder(data):
    """The encoder of `encoder.bin`, its weights in floats, and its pieces."""
    reader = Reader(data, len(b"GLENC001"))
    words, _, _, _, _, layers = reader.sizes(6)
    pieces = reader.text().split("\n")
    encoder = Encoder(words, layers)
    with torch.no_grad():
        for embedding in (encoder.words, encoder.positions):
            embedding.weight.copy_(reader.rows(*embedding.weight.shape))
        reader.norm(encoder.norm)
        for layer in encoder.layers:
            reader.matrix(layer.attention)
            reader.matrix(layer.output)
            reader.norm(layer.attention_norm)
            reader.matrix(layer.up)
            reader.matrix(layer.down)
            reader.norm(layer.norm)
    return encoder, pieces


def read_vectors(data):
    """The names and vectors of `actions.bin`."""
    reader = Reader(data, 0)
    count, width = reader.sizes(2)
    names = reader.text().split("\n")
    return names, reader.rows(count, width)


class Reader:
    """Reads what `encoder_bytes` and `vectors_bytes` write."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def sizes(self, count):
        return struct.unpack(f"<{count}I", self.bytes(4 * count))

    def text(self):
        (size,) = self.sizes(1)
        return self.bytes(size).decode()

    def floats(self, count):
        return torch.frombuffer(bytearray(self.bytes(4 * count)), dtype=torch.float32)

    def integers(self, rows, columns):
        return torch.frombuffer(bytearray(self.bytes(rows * columns)), dtype=torch.int8).view(rows, columns).float()

    def rows(self, rows, columns):
        scales = self.floats(rows)
        return self.integers(rows, columns) * scales[:, None]

    def norm(self, norm):
        norm.weight.copy_(self.floats(norm.weight.numel()))
        norm.bias.copy_(self.floats(norm.bias.numel()))

    def matrix(self, linear):
        scales, bias = self.floats(linear.out_features), self.floats(linear.out_features)
        linear.weight.copy_(self.integers(linear.out_features, linear.in_features) * scales[:, None])
        linear.bias.copy_(bias)


def encoder_bytes(encoder, pieces):
    """`encoder.bin`, as src/encoder reads it: sizes, the pieces, then every tensor; weights in 8 bits with a scale a
    row."""
    sizes = [len(pieces), POSITIONS, WIDTH, INNER, HEADS, len(encoder.layers)]
    text = "\n".join(pieces).encode()
    parts = [b"GLENC001", struct.pack("<6I", *sizes), struct.pack("<I", len(text)), text]
    parts += [*quantized(encoder.words.weight), *quantized(encoder.positions.weight), *floats(encoder.norm)]
    for layer in encoder.layers:
        parts += [*matrix(layer.attention), *matrix(layer.output), *floats(layer.attention_norm)]
        parts += [*matrix(layer.up), *matrix(layer.down), *floats(layer.norm)]
    return b"".join(parts)


def vectors_bytes(names, vectors):
    """`actions.bin`, as the build script reads it: sizes, the names, a scale each, and the vectors in 8 bits."""
    text = "\n".join(names).encode()
    return b"".join([struct.pack("<3I", len(names), WIDTH, len(text)), text, *quantized(vectors)])


def quantized(weight):
    scale = weight.detach().float().abs().amax(1).clamp(min=1e-12) / 127
    whole = torch.round(weight.detach().float() / scale[:, None]).clamp(-127, 127).to(torch.int8)
    return scale.numpy().astype("<f4").tobytes(), whole.numpy().tobytes()


def matrix(linear):
    scale, whole = quantized(linear.weight)
    return scale, as_floats(linear.bias), whole


def floats(norm):
    return as_floats(norm.weight), as_floats(norm.bias)


def as_floats(tensor):
    return tensor.detach().float().numpy().astype("<f4").tobytes()
