"""The chains that users write, each at the shapes where it is measured, as graphs in primitives.

`CHAINS` lists them by number; `Case` is one at a shape. Each is written as an exporter writes it: norms,
attention, activations and rotations in their parts, weights as [N, K] unless the chain says otherwise.
"""
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "goldens"))
from block_graph import DTYPES, Graph, Value  # noqa: E402

EPSILON = 1e-5
HIDDEN, WIDE, SMALL = 4096, 14336, 1024  # of a model of 8 billion weights: its FFN, its keys and values


class Chain:
    """Copies of a chain in one function. Each has weights and inputs of its own, so that weights come
    from memory and no two copies become one kernel; `shared` is an input of all."""

    def __init__(self, name, rows, element):
        self.g, self.n, self.element = Graph(name, name, element), rows, element
        self.copy, self.inputs, self.outputs = 0, {}, {}
        self.weight_bytes = 0

    def weight(self, name, *shape, element=None):
        array = np.zeros(shape, DTYPES[element or self.element])
        self.weight_bytes += array.nbytes
        return self.g.weight(f"{name}{self.copy}", array, element)

    def shared(self, name, *shape, element=None):
        if name not in self.inputs:
            value = Value(self.g.unique(name), shape, element or self.element)
            self.g.inputs.append(value)
            self.inputs[name] = value
        return self.inputs[name]

    def own(self, name, *shape):
        return self.shared(f"{name}{self.copy}", *shape)

    def x(self, width=HIDDEN):
        return self.own("x", self.n, width)

    def residual(self, width=HIDDEN):
        return self.shared("residual", self.n, width)

    def result(self, *values):
        for value in values:
            self.outputs[f"y{len(self.outputs)}"] = value

    # Parts of chains.

    def product(self, x, name, columns):
        return self.g.matmul(x, self.weight(name, columns, x.shape[-1]), name)

    def biased(self, x, name, columns):
        product = self.product(x, name, columns)
        return self.add(product, self.weight(f"{name}.bias", columns))

    def add(self, a, b):
        return self.g.binary("add", a, b)

    def mul(self, a, b):
        return self.g.binary("mul", a, b)

    def layer_norm(self, x, name="norm"):
        width = x.shape[-1]
        return self.g.layer_norm(x, self.weight(name, width), self.weight(f"{name}.bias", width),
                                 EPSILON)

    def rms_norm(self, x, name="norm"):
        return self.g.rms_norm(x, self.weight(name, x.shape[-1]), EPSILON)

    def silu(self, x):
        return self.mul(x, self.g.unary("sigmoid", x))

    def activate(self, kind, x):
        if kind == "silu":
            return self.silu(x)
        if kind == "gelu":
            return self.g.gelu(x)
        if kind == "gelu_tanh":
            return self.g.gelu_tanh(x)
        if kind == "gelu_sigmoid":
            return self.mul(x, self.g.unary("sigmoid", self.g.scale(x, 1.702)))
        if kind == "relu2":
            return self.g.unary("square", self.g.unary("relu", x))
        return self.g.unary(kind, x)

    def gated(self, x, kind="silu", width=WIDE):
        gate, up = self.product(x, "gate", width), self.product(x, "up", width)
        return self.mul(self.activate(kind, gate), up)

    def attention(self, heads, keys, size, masks=(), rows=None, key_heads=None, weights=False):
        """Of queries [M, H · D] that are inputs, keys and values likewise: softmax(q · kᵀ · s + masks)
        · v, [M, H · D]."""
        g, rows, shared = self.g, rows or self.n, heads // (key_heads or heads)
        key_heads = heads // shared
        query = self.own("query", rows, heads * size)
        key, value = self.own("key", keys, key_heads * size), self.own("value", keys, key_heads * size)
        q = g.transpose(g.reshape(query, [rows, key_heads, shared * size]), [1, 0, 2], "heads")
        q = g.reshape(q, [key_heads, rows * shared, size])
        k = g.transpose(g.reshape(key, [keys, key_heads, size]), [1, 0, 2], "heads")
        v = g.transpose(g.reshape(value, [keys, key_heads, size]), [1, 2, 0], "values")
        scores = g.scale(g.matmul(q, k, "scores"), size ** -0.5)
        for mask in masks:
            scores = g.binary("add", scores, mask, "masked")
        shares = g.softmax(scores)
        mixed = g.matmul(shares, v, "mixed")
        mixed = g.reshape(mixed, [key_heads, rows, shared * size])
        mixed = g.reshape(g.transpose(mixed, [1, 0, 2]), [rows, heads * size])
        return (mixed, shares) if weights else mixed


def causal(c, rows, keys):
    """0 for keys up to a row's own, -1e4 for those after it."""
    seen = np.arange(keys)[None, :] <= np.arange(rows)[:, None] + keys - rows
    return c.g.constant("causal", np.where(seen, 0.0, -1e4))


def add_norm(c, norm):
    total = c.add(c.residual(), c.x())
    c.result(total, getattr(c, norm)(total))


def add_bias_norm(c, width):
    total = c.add(c.add(c.x(width), c.shared("other", c.n, width)), c.residual(width))
    total = c.add(total, c.weight("bias", width))
    c.result(total, c.layer_norm(total))


def norm_products(c, widths):
    h = c.rms_norm(c.x())
    c.result(*[c.product(h, f"w{i}", width) for i, width in enumerate(widths)])


def norm_bias_gelu(c, depth, columns):
    c.result(c.g.gelu(c.biased(c.layer_norm(c.x(depth)), "w", columns)))


def scaled_residual(c):
    product = c.product(c.x(), "w", HIDDEN)
    c.result(c.add(c.g.scale(product, 0.5), c.residual()))


def feed_forward(c):
    x = c.x()
    c.result(c.add(x, c.product(c.gated(c.rms_norm(x)), "down", HIDDEN)))


def gated_by_product(c):
    x = c.x()
    c.result(c.mul(x, c.g.unary("sigmoid", c.product(x, "w", HIDDEN))))


def masked_attention(c, heads, rows, keys, size, kind):
    masks = {"none": lambda: [], "causal": lambda: [causal(c, rows, keys)],
             "alibi": lambda: [c.g.constant("slopes", alibi(heads, rows, keys)), causal(c, rows, keys)],
             "padding": lambda: [c.shared("mask", 1, 1, keys)],
             "mask": lambda: [c.shared("mask", rows, keys)]}[kind]()
    c.result(c.attention(heads, keys, size, masks, rows))


def alibi(heads, rows, keys):
    distance = np.abs(np.arange(keys)[None, :] - (np.arange(rows)[:, None] + keys - rows))
    return -(2.0 ** -np.arange(1, heads + 1))[:, None, None] * distance


def attention_weights(c, heads, keys, size):
    c.result(*c.attention(heads, keys, size, weights=True))


def cached_attention(c):
    """Heads of 128, 32 of queries and 8 of keys and values, each normalised and turned, over caches."""
    g, size, heads, key_heads, capacity = c.g, 128, 32, 8, 512
    positions = c.shared("positions", c.n, element="i32")
    sequences = c.shared("sequences", c.n, element="i32")
    angles = c.weight("angles", size // 2, element="f32")

    def split(name, count):
        return g.reshape(c.own(name, c.n, count * size), [c.n, count, size])

    def turned(name, count):
        head = c.rms_norm(split(name, count), f"{name}.norm")
        return g.emit("turned", f"rope halves %{head.name}, %{positions.name}, %{angles.name}",
                      [head, positions, angles], head.shape)

    def written(name, rows):
        cache = g.state(f"{name}{c.copy}", [c.n, capacity, key_heads, size])
        operands = [rows, sequences, positions, cache]
        result = Value(g.unique("written"), cache.shape, cache.element, cache.kind)
        g.lines.append(f"  %{result.name} = tenon.kv_write %{rows.name}, %{sequences.name}, "
                       f"%{positions.name} into %{cache.name} : "
                       f"({', '.join(each.type for each in operands)}) -> {result.type}")
        return result

    query, key = turned("q", heads), turned("k", key_heads)
    operands = [query, written("keys", key), written("values", split("v", key_heads)), sequences,
                positions]
    names = ", ".join(f"%{operand.name}" for operand in operands)
    y = g.emit("mixed", f"attention {names} scale {size ** -0.5:.9e}", operands, query.shape)
    c.result(g.reshape(y, [c.n, heads * size]))


def projected_attention(c):
    mixed = c.attention(32, 512, 128, key_heads=32)
    c.result(c.add(c.product(mixed, "w", HIDDEN), c.residual()))


def embeddings(c):
    width, ids = 768, c.shared("ids", c.n, element="i32")
    rows = [c.g.embedding(c.weight(name, count, width), ids) for name, count in
            (("words", 30522), ("places", 512), ("segments", 2))]
    c.result(c.layer_norm(c.add(c.add(rows[0], rows[1]), rows[2])))


def scaled_embedding(c):
    rows = c.g.embedding(c.weight("words", 32768, HIDDEN), c.shared("ids", c.n, element="i32"))
    rows = c.g.scale(rows, 64.0)
    c.result(rows, c.rms_norm(rows))


def classifier_head(c):
    """n tokens of a sequence of 768: their mean by a transpose and a reduction, 10 classes."""
    g, h = c.g, c.layer_norm(c.x(768))
    mean = g.reduce("mean", g.transpose(h, [1, 0]))
    c.result(g.softmax(c.biased(g.reshape(mean, [1, 768]), "w", 10)))


def head(c, choose):
    logits = c.product(c.x(2048), "head", 32768)
    if choose == "argmax":
        c.result(c.g.argmax(logits, "best"))
    else:
        c.result(*c.g.top_k(logits, 8))


def token_loss(c):
    """log softmax in its parts of 32,768 logits, and that of each row's token."""
    g, logits = c.g, c.x(32768)
    shifted = g.binary("sub", logits, g.reduce("max", logits))
    total = g.unary("log", g.reduce("sum", g.unary("exp", shifted)))
    shares = g.binary("sub", shifted, total)
    ids = g.reshape(c.shared("ids", c.n, element="i32"), [c.n, 1])
    c.result(g.emit("loss", f"gather %{shares.name}, %{ids.name} along 1", [shares, ids], [c.n, 1]))


def rotary(c):
    """32 heads of 128 by halves: x · cos + concat(-second, first) · sin."""
    g, heads, size = c.g, 32, 128
    x = g.reshape(c.x(heads * size), [c.n, heads, size])
    cos, sin = (c.shared(name, c.n, 1, size) for name in ("cos", "sin"))

    def half(first):
        return g.emit("half", f"slice %{x.name} [0, 0, {first}] [{c.n}, {heads}, {size // 2}] [1, 1, 1]",
                      [x], [c.n, heads, size // 2])

    turned = g.concat([g.unary("neg", half(size // 2)), half(0)], 2)
    c.result(c.add(c.mul(x, cos), c.mul(turned, sin)))


def parallel_residual(c):
    """attention(LN(x)) + MLP(LN(x)) + x of n tokens, causal, 8 heads of 128."""
    g, width, heads, x = c.g, 1024, 8, c.x(1024)
    h = c.layer_norm(x)
    parts = [c.biased(h, name, width) for name in ("q", "k", "v")]
    masks = [causal(c, c.n, c.n)] if 1 < c.n <= 512 else []
    mixed = c.biased(g.attention(*parts, heads, (width // heads) ** -0.5, masks), "o", width)
    mlp = c.biased(g.gelu(c.biased(h, "up", 4 * width)), "down", width)
    c.result(c.add(c.add(mixed, mlp), x))


def low_rank(c):
    x = c.x()
    low = c.product(c.product(x, "a", 16), "b", HIDDEN)
    c.result(c.add(c.product(x, "w", HIDDEN), c.g.scale(low, 2.0)))


def experts(c):
    """2 of 8 experts, 1,024 wide, 3,584 inside: router, softmax, the best two, SwiGLU, their sum."""
    g, width, inner, count, used = c.g, 1024, 3584, 8, 2
    x = c.x(width)
    shares, ids = g.top_k(g.softmax(c.product(x, "router", count)), used)

    def of_experts(value, name, columns):
        weight = c.weight(name, count, columns, value.shape[-1])
        return g.emit(name, f"expert_matmul %{value.name}, %{weight.name}, %{ids.name}",
                      [value, weight, ids], [c.n, used, columns])

    inside = c.mul(c.silu(of_experts(x, "gate", inner)), of_experts(x, "up", inner))
    down = of_experts(inside, "down", width)
    c.result(g.emit("joined", f"weighted_sum %{down.name}, %{shares.name}", [down, shares],
                    [c.n, width]))


@dataclass
class Entry:
    """A chain as it is measured: its number in the list, a name, what writes a copy, the rows."""
    number: int
    name: str
    build: Callable
    rows: tuple = (1, 8, 64, 512, 2048)


def entries():
    one = lambda number, name, build, **more: Entry(number, name, build, **more)
    yield one(1, "LayerNorm(x) + residual", lambda c: c.result(c.add(c.layer_norm(c.x()), c.residual())))
    yield one(2, "residual + x → LayerNorm", lambda c: add_norm(c, "layer_norm"))
    yield one(3, "residual + x → RMSNorm", lambda c: add_norm(c, "rms_norm"))
    for width in (768, 2560, 4096, 2561):
        yield one(4, f"two residuals, bias → norm, {width}", lambda c, w=width: add_bias_norm(c, w))
    yield one(5, "RMSNorm → product", lambda c: norm_products(c, [HIDDEN]))
    yield one(6, "RMSNorm → Q, K, V", lambda c: norm_products(c, [HIDDEN, SMALL, SMALL]))
    yield one(7, "RMSNorm → gate, up, SiLU ·", lambda c: c.result(c.gated(c.rms_norm(c.x()))))
    for depth, columns in ((4096, 4096), (4096, 14336), (1536, 1111)):
        yield one(8, f"LayerNorm → product + bias → GELU, {depth}→{columns}",
                  lambda c, d=depth, k=columns: norm_bias_gelu(c, d, k))
    yield one(9, "product + bias", lambda c: c.result(c.biased(c.x(), "w", HIDDEN)))
    for kind in ("gelu", "relu", "silu", "tanh"):
        yield one(10, f"product + bias + {kind}",
                  lambda c, k=kind: c.result(c.activate(k, c.biased(c.x(), "w", HIDDEN))))
    yield one(11, "product + residual",
              lambda c: c.result(c.add(c.product(c.x(), "w", HIDDEN), c.residual())))
    yield one(12, "product → scale → residual", scaled_residual)
    for kind in ("silu", "gelu", "gelu_tanh", "relu", "sigmoid", "gelu_sigmoid"):
        yield one(13, f"gate, up → GLU, {kind}", lambda c, k=kind: c.result(c.gated(c.x(), k)))
    yield one(14, "GLU → down + residual", lambda c: c.result(
        c.add(c.product(c.mul(c.silu(c.own("gate", c.n, WIDE)), c.own("up", c.n, WIDE)), "down",
                        HIDDEN), c.residual())))
    yield one(15, "norm → FFN → residual", feed_forward)
    yield one(16, "GELU → linear", lambda c: c.result(c.product(c.g.gelu(c.x()), "w", HIDDEN)))
    yield one(17, "SiLU → linear + bias", lambda c: c.result(c.biased(c.silu(c.x()), "w", HIDDEN)))
    yield one(18, "ReLU² → linear",
              lambda c: c.result(c.product(c.activate("relu2", c.x()), "w", HIDDEN)))
    yield one(19, "x · sigmoid(x · W)", gated_by_product)
    for number, name, kind in ((20, "attention with a mask", "mask"), (21, "causal attention", "causal"),
                               (22, "attention with ALiBi", "alibi"),
                               (23, "attention with a padding mask", "padding")):
        for shape in ((8, 64, 64, 64), (32, 1, 512, 128)):
            label = "×".join(map(str, shape))
            yield one(number, f"{name}, {label}",
                      lambda c, s=shape, k=kind: masked_attention(c, *s, k), rows=(shape[1],))
    yield one(24, "attention and its weights", lambda c: attention_weights(c, 8, 64, 64), rows=(1, 8, 64))
    yield one(25, "cross attention, 8 × 1500", lambda c: c.result(c.attention(8, 1500, 64)))
    yield one(26, "attention, 32 query and 8 key heads",
              lambda c: c.result(c.attention(32, 512, 128, key_heads=8)))
    yield one(27, "Q/K norm → rope → cache → attention", cached_attention, rows=(1, 8, 64))
    yield one(28, "attention → output + residual", projected_attention)
    yield one(29, "three embeddings → LayerNorm", embeddings)
    yield one(30, "embedding → scale → norm", scaled_embedding)
    yield one(31, "LayerNorm → mean → linear → softmax", classifier_head)
    for choose in ("argmax", "top-k"):
        yield one(32, f"head → {choose}", lambda c, k=choose: head(c, k))
    yield one(33, "log-softmax → gather", token_loss)
    yield one(34, "LayerNorm in its parts", lambda c: c.result(c.layer_norm(c.x())))
    yield one(35, "RMSNorm in its parts", lambda c: c.result(c.rms_norm(c.x())))
    for kind in ("gelu_tanh", "gelu", "gelu_sigmoid"):
        yield one(36, f"GELU in its parts, {kind}",
                  lambda c, k=kind: c.result(c.activate(k, c.x())))
    yield one(37, "rotary embedding in its parts", rotary)
    yield one(38, "attention + MLP + x, in parallel", parallel_residual)
    yield one(39, "LoRA", low_rank)
    yield one(40, "two of eight experts", experts)


CHAINS = list(entries())
