#!/usr/bin/env python3
"""Makes the blocks of models in examples/blocks, and what PyTorch computes with them.

For each function of BLOCKS, EXAMPLES/NAME.mlir is the graph in primitives, as exporters write it,
EXAMPLES/NAME.safetensors its random weights, EXAMPLES/NAME.npz its inputs by name, and DATA/NAME.npz
its outputs. They come from torch.nn in float64; that its float32 gives the same but for rounding is
checked. Needs numpy, torch and xxhash.

Usage: make_blocks.py EXAMPLES DATA
"""
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from block_graph import Graph

torch.backends.mha.set_fastpath_enabled(False)


def randomise(module, seed):
    """Weights about as large as trained ones, in float32."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("bias"):
            value = 0.3 * noise
        elif parameter.ndim == 1:
            value = 1 + 0.25 * noise
        else:
            value = noise / parameter[0].numel() ** 0.5
        parameter.data.copy_(value)
    return module.eval()


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def numbers(module):
    """The parameters of a module by name."""
    return {name: value.detach().cpu().numpy() for name, value in module.named_parameters()}


def run(module, *inputs):
    """Its float outputs in float64, rounded to float32; refuses what float32 does not give, too."""
    tensors = [torch.from_numpy(array) for array in inputs]
    with torch.no_grad():
        single = module.float()(*tensors)
        double = module.double()(*[t.double() if t.is_floating_point() else t for t in tensors])
    module.float()
    difference = ((single - double).abs().max() / double.abs().max()).item()
    assert difference < 1e-5, difference
    return double.float().numpy()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(192, 128), nn.Linear(128, 10)

    def forward(self, x):
        return functional.softmax(self.down(functional.relu(self.up(x))), dim=-1)


def classifier(examples):
    """A classifier of two layers whose weights lie as [K, N], as in ONNX's Gemm."""
    model = randomise(Classifier(), 1)
    w, x = numbers(model), 1.5 * normal(1, 8, 192)
    g = Graph("mlp_classifier", """Two layers, as ONNX's Gemm has them: weights lie as [inputs, outputs],
and what reads them is a transpose.""")
    v = g.input("x", x)
    for name in ("up", "down"):
        g.note(name)
        kernel = g.transpose(g.weight(f"{name}.weight", w[f"{name}.weight"].T), [1, 0])
        v = g.linear(v, kernel, g.weight(f"{name}.bias", w[f"{name}.bias"]))
        if name == "up":
            v = g.binary("max", v, g.number(0.0), "relu")
    g.note("softmax in its parts, and the best class")
    powers = g.unary("exp", g.binary("sub", v, g.reduce("max", v)))
    shares = g.binary("div", powers, g.reduce("sum", powers), "shares")
    g.write(examples, {"shares": shares, "best": g.argmax(v, "best")})
    expected = run(model, x)
    first, second = np.sort(expected, axis=1)[:, -2:].T[::-1]
    assert (first - second).min() > 1e-3
    return g, {"x": x, "shares": expected, "best": expected.argmax(axis=1).astype(np.int32)}


def encoder_layer(g, w, x, heads, norms, first, masks=(), matrices=None):
    """A layer of nn.TransformerEncoderLayer; `first`: norms in front of the halves. `matrices` gives
    the [N, K] value of a weight by its name."""
    matrices = matrices or (lambda name, array: g.weight(name, array))
    width = x.shape[-1]

    def norm(value, name):
        return g.layer_norm(value, g.weight(f"{name}.weight", w[f"{name}.weight"]),
                            g.weight(f"{name}.bias", w[f"{name}.bias"]), norms)

    def linear(value, name, matrix, bias):
        bias = g.weight(f"{name}.bias", bias) if bias.any() else None
        return g.linear(value, matrices(f"{name}.weight", matrix), bias, name)

    g.note("attention")
    h = norm(x, "norm1") if first else x
    parts = zip(("query", "key", "value"), np.split(w["self_attn.in_proj_weight"], 3),
                np.split(w["self_attn.in_proj_bias"], 3))
    q, k, v = [linear(h, *part) for part in parts]
    mixed = g.attention(q, k, v, heads, (width // heads) ** -0.5, masks)
    mixed = linear(mixed, "out", w["self_attn.out_proj.weight"], w["self_attn.out_proj.bias"])
    x = g.binary("add", x, mixed, "residual")
    x = x if first else norm(x, "norm1")
    g.note("MLP")
    h = norm(x, "norm2") if first else x
    h = g.gelu(linear(h, "up", w["linear1.weight"], w["linear1.bias"]))
    h = linear(h, "down", w["linear2.weight"], w["linear2.bias"])
    x = g.binary("add", x, h, "residual")
    return x if first else norm(x, "norm2")


def make_layer(width, heads, hidden, epsilon, first):
    return nn.TransformerEncoderLayer(width, heads, hidden, dropout=0, activation="gelu",
                                      layer_norm_eps=epsilon, batch_first=True, norm_first=first)


def layer_numbers(model):
    return {name.removeprefix("layer."): value for name, value in numbers(model).items()}


class Vit(nn.Module):
    """With `tokens` patches of an image and one more in front of them."""

    def __init__(self, width=64, heads=4, hidden=256, patch=8, tokens=16, epsilon=1e-6):
        super().__init__()
        self.heads, self.epsilon = heads, epsilon
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.start = nn.Parameter(torch.empty(1, 1, width))
        self.positions = nn.Parameter(torch.empty(tokens + 1, width))
        self.layer = make_layer(width, heads, hidden, epsilon, True)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.start.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.layer(x)


def vit_graph(g, model, image):
    """Adds what the model computes of images [B, 3, H, W] to a graph: its result."""
    w = layer_numbers(model)
    width, _, patch, _ = w["patches.weight"].shape
    size = width // model.heads
    v = g.input("image", image)
    patches = g.patches(v, patch, patch, 0)
    kernel = g.reshape(g.weight("patches.weight", w["patches.weight"]), [width, 3 * patch * patch])
    v = g.linear(patches, kernel, g.weight("patches.bias", w["patches.bias"]), "embedded")
    start = g.weight("start", w["start"])
    if len(image) > 1:
        start = g.concat([start] * len(image), 0)
    v = g.concat([start, v], 1)
    v = g.binary("add", v, g.weight("positions", w["positions"]), "placed")

    def matrices(name, array):
        kernel = array.T
        if name in ("query.weight", "key.weight", "value.weight"):
            kernel = kernel.reshape(width, model.heads, size)
            value = g.transpose(g.weight(name, kernel), [1, 2, 0])
        elif name == "out.weight":
            kernel = kernel.reshape(model.heads, size, width)
            value = g.transpose(g.weight(name, kernel), [2, 0, 1])
        else:
            return g.transpose(g.weight(name, kernel), [1, 0])
        return g.reshape(value, array.shape)

    return encoder_layer(g, w, v, model.heads, model.epsilon, True, matrices=matrices)


def vit(examples):
    """Patch embedding and the first block of a vision transformer, two images."""
    model, image = randomise(Vit(), 2), normal(2, 2, 3, 32, 32)
    g = Graph("vit_block", """Two images through the patch embedding and a block of a vision transformer
(Dosovitskiy et al. 2021, arXiv 2010.11929). Its matrices lie as in Flax's checkpoints: [inputs,
outputs], of queries, keys and values [inputs, heads, head size], and back [heads, head size, outputs].""")
    g.write(examples, {"hidden": vit_graph(g, model, image)})
    return g, {"image": image, "hidden": run(model, image)}


class Bert(nn.Module):
    def __init__(self, words=64, tokens=16, width=72, heads=6, hidden=288, epsilon=1e-12):
        super().__init__()
        self.heads, self.epsilon = heads, epsilon
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.layer = make_layer(width, heads, hidden, epsilon, False)

    def forward(self, ids, types, mask):
        x = self.norm(self.words(ids) + self.segments(types) + self.places.weight)
        return self.layer(x, src_key_padding_mask=mask == 0)


def hide(g, mask):
    """What is added to scores so that tokens whose mask is 0, of one sequence or of several, are no
    keys."""
    unseen = g.scale(g.binary("sub", mask, g.number(1.0)), 1e9, "unseen")
    rows, keys = mask.shape[:-1], mask.shape[-1]
    return g.reshape(unseen, [*rows, 1, 1, keys]) if rows else unseen


def bert_graph(g, model, ids, types, mask):
    """Adds what the model computes of ids, types and mask [T] or [B, T]: its result."""
    w = layer_numbers(model)
    ids_value, types_value = g.input("ids", ids), g.input("types", types)
    mask_value = g.input("mask", mask)
    v = g.binary("add", g.embedding(g.weight("words", w["words.weight"]), ids_value),
                 g.embedding(g.weight("segments", w["segments.weight"]), types_value))
    v = g.binary("add", v, g.weight("places", w["places.weight"]), "placed")
    v = g.layer_norm(v, g.weight("norm.weight", w["norm.weight"]),
                     g.weight("norm.bias", w["norm.bias"]), model.epsilon)
    hidden = hide(g, mask_value)
    return encoder_layer(g, w, v, model.heads, model.epsilon, False, masks=[hidden])


def bert(examples):
    """Embeddings and the first block of BERT, 16 tokens of which 11 are text."""
    model, engine = randomise(Bert(), 3), np.random.default_rng(3)
    ids = engine.integers(0, 64, 16).astype(np.int32)
    types = (np.arange(16) >= 6).astype(np.int32)
    mask = (np.arange(16) < 11).astype(np.float32)
    g = Graph("bert_block", """Embeddings and a block of BERT (Devlin et al. 2019, arXiv 1810.04805), 16
tokens; a token whose mask is 0 is no key.""")
    g.write(examples, {"hidden": bert_graph(g, model, ids, types, mask)})
    return g, {"ids": ids, "types": types, "mask": mask, "hidden": run(model, ids, types, mask)}


class T5(nn.Module):
    """With a bias of relative positions, as T5's attention has it (Raffel et al. 2020), of `rows` rows
    that look at `keys`."""

    def __init__(self, rows=12, keys=20, width=64, heads=4, hidden=160):
        super().__init__()
        self.heads = heads
        for name in ("query", "key", "value", "out"):
            setattr(self, name, nn.Linear(width, width, bias=False))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.distances = nn.Embedding(32, heads)
        self.register_buffer("buckets", self.bucket(rows, keys))

    @staticmethod
    def bucket(rows, keys):
        """Buckets of the distances from rows to keys: 32 for both directions, exact up to 8, then by
        their logarithm up to 128."""
        distance = torch.arange(keys)[None, :] - torch.arange(rows)[:, None]
        far = 8 + (torch.log(distance.abs().clamp(min=1) / 8) / np.log(128 / 8) * 8).long()
        near = torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15))
        return near + 16 * (distance > 0)

    def forward(self, x, encoded, mask):
        def split(value):
            return value.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

        h = self.norm1(x)
        bias = self.distances(self.buckets).permute(2, 0, 1)
        bias = bias + torch.where(mask == 0, -torch.inf, 0.0).to(bias.dtype)[..., None, None, :]
        mixed = functional.scaled_dot_product_attention(
            split(self.query(h)), split(self.key(encoded)), split(self.value(encoded)),
            attn_mask=bias, scale=1.0)
        x = x + self.out(mixed.transpose(-3, -2).flatten(-2))
        h = self.norm2(x)
        return x + self.down(functional.gelu(self.gate(h), approximate="tanh") * self.up(h))


def t5_graph(g, model, x, encoded, mask):
    """Adds what the model computes of rows [M, W] or [B, M, W]: its result."""
    w = numbers(model)
    v, other = g.input("x", x), g.input("encoded", encoded)
    seen = g.input("mask", mask)
    g.note("A bias a head, by the bucket that the distance of row and key falls into.")
    ids = g.constant("buckets", model.buckets.cpu().numpy(), "i32")
    bias = g.embedding(g.weight("distances", w["distances.weight"]), ids)
    bias = g.transpose(bias, [2, 0, 1], "bias")
    unseen = hide(g, seen)
    g.note("attention")

    def linear(value, name):
        return g.linear(value, g.weight(f"{name}.weight", w[f"{name}.weight"]), hint=name)

    h = g.rms_norm(v, g.weight("norm1", w["norm1.weight"]), 1e-6)
    mixed = g.attention(linear(h, "query"), linear(other, "key"), linear(other, "value"),
                        model.heads, 1, [bias, unseen])
    v = g.binary("add", v, linear(mixed, "out"), "residual")
    g.note("MLP")
    h = g.rms_norm(v, g.weight("norm2", w["norm2.weight"]), 1e-6)
    gated = g.binary("mul", g.gelu_tanh(linear(h, "gate")), linear(h, "up"), "gated")
    return g.binary("add", v, linear(gated, "down"), "residual")


def t5(examples):
    """Cross attention and a gated MLP, 12 rows that look at 20."""
    model = randomise(T5(), 4)
    for name in ("query", "key"): # scores have no factor
        getattr(model, name).weight.data *= 0.5
    x, encoded = normal(4, 12, 64), normal(5, 20, 64)
    mask = (np.arange(20) < 17).astype(np.float32)
    g = Graph("t5_cross_attention", """Attention of 12 rows to 20 that an encoder gave, with a bias that
depends on the distance, and a gated MLP, after T5 1.1 (Raffel et al. 2020, arXiv 1910.10683).""")
    g.write(examples, {"hidden": t5_graph(g, model, x, encoded, mask)})
    return g, {"x": x, "encoded": encoded, "mask": mask, "hidden": run(model, x, encoded, mask)}


class Whisper(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(80, 64, 3, padding=1)
        self.conv2 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.empty(20, 64))
        self.layer = make_layer(64, 4, 192, 1e-5, True)
        self.norm = nn.LayerNorm(64)

    def forward(self, mel):
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(mel))))
        return self.norm(self.layer(x.transpose(1, 2) + self.positions))[0]


def whisper(examples):
    """Two convolutions over 40 frames and a block of Whisper's encoder."""
    model = randomise(Whisper(), 6)
    model.layer.self_attn.in_proj_bias.data[64:128] = 0 # keys have none
    w, mel = layer_numbers(model), normal(6, 1, 80, 40)
    g = Graph("whisper_block", """40 frames of a spectrogram through two convolutions, one of stride 2, and a
block of Whisper's encoder (Radford et al. 2022, arXiv 2212.04356).""")
    v = g.input("mel", mel)
    for name, stride in (("conv1", 1), ("conv2", 2)):
        g.note(f"{name}: its windows, and a product with all of each")
        windows = g.patches(v, 3, stride, 1)
        weight = w[f"{name}.weight"]
        kernel = g.reshape(g.weight(f"{name}.weight", weight), [64, weight[0].size])
        bias = g.weight(f"{name}.bias", w[f"{name}.bias"])
        v = g.gelu(g.linear(windows, kernel, bias, name))
        if name == "conv1":
            v = g.transpose(v, [0, 2, 1], "channels")
    v = g.binary("add", g.reshape(v, [20, 64]), g.weight("positions", w["positions"]), "placed")
    v = encoder_layer(g, w, v, 4, 1e-5, True)
    v = g.layer_norm(v, g.weight("norm.weight", w["norm.weight"]),
                     g.weight("norm.bias", w["norm.bias"]), 1e-5)
    g.write(examples, {"hidden": v})
    return g, {"mel": mel, "hidden": run(model, mel)}


BLOCKS = [bert, classifier, t5, vit, whisper]


def main():
    examples, data = Path(sys.argv[1]), Path(sys.argv[2])
    for make in BLOCKS:
        graph, arrays = make(examples)
        inputs = {value.name: arrays.pop(value.name) for value in graph.inputs}
        np.savez(examples / f"{graph.name}.npz", **inputs)
        np.savez(data / f"{graph.name}.npz", **arrays)
        print(f"{graph.name}: {sum(a.size for _, a in graph.weights.values())} weights", flush=True)


if __name__ == "__main__":
    sys.exit(main())
