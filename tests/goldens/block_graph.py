"""Textual IR of graphs in primitives, with weights in a safetensors file beside it."""
import json
import math
import struct

import numpy as np


DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i32": "<i4"}  # of bf16 the bits


class Value:
    def __init__(self, name, shape, element, kind="tensor"):
        self.name, self.shape, self.element, self.kind = name, list(shape), element, kind

    @property
    def type(self):
        return f"{self.kind}<" + "".join(f"{extent}x" for extent in self.shape) + self.element + ">"


def broadcast(a, b):
    rank = max(len(a), len(b))
    pairs = zip([1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b)
    return [max(pair) for pair in pairs]


def fingerprint(data):
    """As support/Fingerprint.h, of a file of one piece."""
    import xxhash  # what writes no weights does without it

    piece = xxhash.xxh3_64_intdigest(data)
    value = xxhash.xxh3_64_intdigest(struct.pack("<QQ", len(data), piece))
    return value - (1 << 64) if value >> 63 else value


class Graph:
    """A function `name` on floats of the type `element`; each method adds an operation and gives its
    result."""

    def __init__(self, name, comment, element="f32"):
        self.name, self.comment, self.element = name, comment, element
        self.inputs, self.weights, self.states = [], {}, {}
        self.lines, self.names, self.numbers = [], {}, {}

    def note(self, text):
        self.lines.append(f"\n  // {text}")

    def unique(self, name):
        count = self.names[name] = self.names.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"

    def emit(self, hint, operation, operands, shape, element=None):
        result = Value(self.unique(hint), shape, element or self.element)
        types = ", ".join(operand.type for operand in operands)
        self.lines.append(f"  %{result.name} = tenon.{operation} : ({types}) -> {result.type}")
        return result

    def input(self, name, array):
        element = "i32" if array.dtype.name == "int32" else self.element
        self.inputs.append(Value(self.unique(name), array.shape, element))
        return self.inputs[-1]

    def weight(self, name, array, element=None):
        """The value of a weight that holds `array`."""
        element = element or self.element
        value = Value(self.unique(name), array.shape, element)
        self.weights[name] = value, np.ascontiguousarray(array, dtype=DTYPES[element])
        self.lines.append(f"  %{value.name} = tenon.get_weight @{name} : {value.type}")
        return value

    def state(self, name, shape):
        """The value of a cache [S, C, H, D]."""
        value = Value(self.unique(name), shape, self.element, "!tenon.state")
        self.states[name] = value
        self.lines.append(f"  %{value.name} = tenon.get_state @{name} : {value.type}")
        return value

    def constant(self, hint, array, element=None):
        value = Value(self.unique(hint), array.shape, element or self.element)
        self.lines.append(f"  %{value.name} = tenon.constant dense<{array.tolist()}> : "
                          f"{value.type} : {value.type}")
        return value

    def number(self, value):
        """A constant of one element, once for each number."""
        if value not in self.numbers:
            result = Value(self.unique("c"), [1], self.element)
            text = f"{value:.9e}"
            self.lines.append(f"  %{result.name} = tenon.constant dense<{text}> : {result.type} : "
                              f"{result.type}")
            self.numbers[value] = result
        return self.numbers[value]

    def unary(self, op, x, hint=None):
        return self.emit(hint or op, f"{op} %{x.name}", [x], x.shape)

    def binary(self, op, a, b, hint=None):
        shape = broadcast(a.shape, b.shape)
        return self.emit(hint or op, f"{op} %{a.name}, %{b.name}", [a, b], shape)

    def scale(self, x, factor, hint="scaled"):
        return self.emit(hint, f"scale %{x.name} by {factor:.9e}", [x], x.shape)

    def reduce(self, kind, x):
        return self.emit(kind, f"reduce {kind} %{x.name}", [x], x.shape[:-1] + [1])

    def reshape(self, x, shape, hint="view"):
        return self.emit(hint, f"reshape %{x.name} to {list(shape)}", [x], shape, x.element)

    def transpose(self, x, axes, hint="turned"):
        return self.emit(hint, f"transpose %{x.name} by {list(axes)}", [x],
                         [x.shape[axis] for axis in axes])

    def matmul(self, x, w, hint="product"):
        return self.emit(hint, f"matmul %{x.name}, %{w.name}", [x, w],
                         x.shape[:-1] + [w.shape[-2]])

    def softmax(self, x):
        return self.emit("shares", f"softmax %{x.name}", [x], x.shape)

    def concat(self, values, axis, hint="joined"):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        names = ", ".join(f"%{value.name}" for value in values)
        return self.emit(hint, f"concat {names} along {axis}", values, shape)

    def embedding(self, table, ids, hint="rows"):
        return self.emit(hint, f"embedding %{table.name}, %{ids.name}", [table, ids],
                         ids.shape + [table.shape[1]])

    def argmax(self, x, hint):
        return self.emit(hint, f"argmax %{x.name}", [x], x.shape[:-1], "i32")

    def top_k(self, x, k):
        """The values and their indices."""
        values = Value(self.unique("values"), x.shape[:-1] + [k], self.element)
        indices = Value(self.unique("indices"), values.shape, "i32")
        self.lines.append(f"  %{values.name}, %{indices.name} = tenon.top_k %{x.name} k {k} : "
                          f"({x.type}) -> ({values.type}, {indices.type})")
        return values, indices

    def patches(self, x, window, stride, pad):
        axes = len(x.shape) - 2
        counts = [(extent + 2 * pad - window) // stride + 1 for extent in x.shape[2:]]
        arrays = [f"{word} {[number] * axes}" for word, number in
                  (("window", window), ("strides", stride), ("low", pad), ("high", pad))]
        return self.emit("patches", f"patches %{x.name} {' '.join(arrays)}", [x],
                         [x.shape[0], math.prod(counts), x.shape[1] * window ** axes])

    # What frameworks' exporters write for functions that have no name in a graph.

    def linear(self, x, w, bias=None, hint="linear"):
        product = self.matmul(x, w, hint)
        return self.binary("add", product, bias, hint + "_biased") if bias else product

    def layer_norm(self, x, weight, bias, epsilon):
        centred = self.binary("sub", x, self.reduce("mean", x), "centred")
        variance = self.reduce("mean", self.unary("square", centred))
        root = self.unary("rsqrt", self.binary("add", variance, self.number(epsilon)))
        scaled = self.binary("mul", self.binary("mul", centred, root), weight)
        return self.binary("add", scaled, bias, "norm")

    def rms_norm(self, x, weight, epsilon):
        squares = self.reduce("mean", self.unary("square", x))
        root = self.unary("rsqrt", self.binary("add", squares, self.number(epsilon)))
        return self.binary("mul", self.binary("mul", x, root), weight, "norm")

    def gelu(self, x):
        gate = self.unary("erf", self.scale(x, math.sqrt(0.5)))
        gate = self.binary("add", gate, self.number(1.0))
        return self.scale(self.binary("mul", x, gate), 0.5, "gelu")

    def gelu_tanh(self, x):
        cube = self.binary("mul", self.unary("square", x), x)
        inner = self.binary("add", x, self.scale(cube, 0.044715))
        gate = self.unary("tanh", self.scale(inner, math.sqrt(2 / math.pi)))
        gate = self.binary("add", gate, self.number(1.0))
        return self.scale(self.binary("mul", x, gate), 0.5, "gelu")

    def heads(self, x, count):
        """[..., M, H · D] as [..., H, M, D]."""
        rank, width = len(x.shape), x.shape[-1]
        split = self.reshape(x, x.shape[:-1] + [count, width // count])
        return self.transpose(split, [*range(rank - 2), rank - 1, rank - 2, rank], "heads")

    def attention(self, query, key, value, count, factor, masks=()):
        """softmax(factor · q · kᵀ + masks) · v of [..., M, H · D], head by head."""
        rank, width = len(query.shape), query.shape[-1]
        q, k = self.heads(query, count), self.heads(key, count)
        split = self.reshape(value, value.shape[:-1] + [count, width // count])
        v = self.transpose(split, [*range(rank - 2), rank - 1, rank, rank - 2], "values")
        scores = self.matmul(q, k, "scores")
        if factor != 1:
            scores = self.scale(scores, factor)
        for mask in masks:
            scores = self.binary("add", scores, mask, "masked")
        mixed = self.matmul(self.softmax(scores), v, "mixed")
        back = self.transpose(mixed, [*range(rank - 2), rank - 1, rank - 2, rank])
        return self.reshape(back, query.shape)

    def write(self, folder, outputs, has_weights=True):
        """Writes NAME.mlir and NAME.safetensors; `outputs` are values by name. Without weights the file
        that they would be in is missing, for `--random-weights`."""
        header, offset = {}, 0
        for name, (value, array) in self.weights.items():
            header[name] = {"dtype": value.element.upper(), "shape": list(array.shape),
                            "data_offsets": [offset, offset + array.nbytes]}
            offset += array.nbytes
        text = json.dumps(header).encode()
        text += b" " * (-(8 + len(text)) % 64)
        data = struct.pack("<Q", len(text)) + text
        start, size, mark = len(data), len(data) + offset, 0
        if has_weights:
            data += b"".join(array.tobytes() for _, array in self.weights.values())
            (folder / f"{self.name}.safetensors").write_bytes(data)
            mark = fingerprint(data)

        lines = [f"// {line}" for line in self.comment.strip().splitlines()]
        lines.append(f'tenon.file @weights "{self.name}.safetensors" bytes {size} fingerprint {mark}')
        for name, (value, array) in self.weights.items():
            begin = start + header[name]["data_offsets"][0]
            lines.append(f"tenon.weight @{name} : {value.type} from "
                         f"[#tenon.range<@weights, offset = {begin}, bytes = {array.nbytes}>]")
        lines += [f"tenon.state @{name} : {value.type}" for name, value in self.states.items()]
        arguments = ", ".join(f'%{value.name}: {value.type} {{tenon.name = "{value.name}"}}'
                              for value in self.inputs)
        results = ", ".join(f'{value.type} {{tenon.name = "{name}"}}'
                            for name, value in outputs.items())
        names = ", ".join(f"%{value.name}" for value in outputs.values())
        types = ", ".join(value.type for value in outputs.values())
        lines += ["", f"func.func @{self.name}({arguments})", f"    -> ({results}) {{"]
        lines += self.lines + [f"  return {names} : {types}", "}", ""]
        (folder / f"{self.name}.mlir").write_text("\n".join(lines), encoding="utf-8")
