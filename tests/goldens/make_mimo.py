#!/usr/bin/env python3
"""Writes tests/data/mimo: a tiny random model of the family MiMo (Xia et al. 2025, arXiv 2505.07608) as a
Hugging Face folder, and beside it what it says, computed here in float64 as its authors' code and
vLLM's mimo_mtp.py compute it: `ids` greedily behind `prompt`, and how many guesses of its head are
`drafted` and `accepted` where each call verifies the one of the call before. Needs no package."""
import json
import math
import os
import random
import struct

hidden, heads, kv_heads, size, ffn, layers, vocabulary = 16, 2, 1, 8, 24, 2, 12
epsilon, theta, prompt, count = 1e-5, 640000.0, [1, 7, 3, 9], 60


def make_tensors(seed):
    rng = random.Random(seed)
    tensors = {}

    def matrix(name, rows, columns, scale=1.0):
        tensors[name] = ([rows, columns], [rng.gauss(0, scale / math.sqrt(columns)) for _ in range(rows * columns)])

    def vector(name, length, mean, deviation):
        tensors[name] = ([length], [rng.gauss(mean, deviation) for _ in range(length)])

    def block(prefix):
        vector(prefix + "input_layernorm.weight", hidden, 1, 0.1)
        vector(prefix + "post_attention_layernorm.weight", hidden, 1, 0.1)
        for name, rows in (("q", heads * size), ("k", kv_heads * size), ("v", kv_heads * size)):
            matrix(f"{prefix}self_attn.{name}_proj.weight", rows, hidden, 2)
            vector(f"{prefix}self_attn.{name}_proj.bias", rows, 0, 0.2)
        matrix(prefix + "self_attn.o_proj.weight", hidden, heads * size)
        matrix(prefix + "mlp.gate_proj.weight", ffn, hidden)
        matrix(prefix + "mlp.up_proj.weight", ffn, hidden)
        matrix(prefix + "mlp.down_proj.weight", hidden, ffn)

    matrix("model.embed_tokens.weight", vocabulary, hidden, 4)
    matrix("lm_head.weight", vocabulary, hidden, 4)
    vector("model.norm.weight", hidden, 1, 0.1)
    for layer in range(layers):
        block(f"model.layers.{layer}.")
    head = "model.mtp_layers.0."
    block(head)
    for name in ("token_layernorm", "hidden_layernorm", "final_layernorm"):
        vector(f"{head}{name}.weight", hidden, 1, 0.1)
    matrix(head + "input_proj.weight", hidden, 2 * hidden)
    return tensors


def write_folder(folder, tensors):
    os.makedirs(folder, exist_ok=True)
    config = {"model_type": "mimo", "architectures": ["MiMoForCausalLM"], "hidden_size": hidden,
              "intermediate_size": ffn, "num_hidden_layers": layers, "num_attention_heads": heads,
              "num_key_value_heads": kv_heads, "head_dim": size, "max_position_embeddings": 96,
              "rms_norm_eps": epsilon, "rope_theta": theta, "hidden_act": "silu",
              "vocab_size": vocabulary, "tie_word_embeddings": False, "attention_bias": True,
              "use_sliding_window": False, "num_nextn_predict_layers": 1, "torch_dtype": "float32"}
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
        file.write("\n")
    table, data = {}, b""
    for name, (shape, values) in tensors.items():
        part = struct.pack(f"<{len(values)}f", *values)
        table[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    header = json.dumps(table).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


class Model:
    def __init__(self, tensors):
        self.tensors = {name: (shape, [struct.unpack("<f", struct.pack("<f", v))[0] for v in values])
                        for name, (shape, values) in tensors.items()}
        self.caches = [{} for _ in range(layers + 1)]  # of each block: keys and values by position

    def row(self, name, index):
        (_, columns), values = self.tensors[name]
        return values[index * columns:(index + 1) * columns]

    def linear(self, x, name):
        (rows, _), _ = self.tensors[name + ".weight"]
        bias = self.tensors.get(name + ".bias", (None, [0.0] * rows))[1]
        return [sum(a * b for a, b in zip(self.row(name + ".weight", i), x)) + bias[i] for i in range(rows)]

    def norm(self, x, name):
        scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + epsilon)
        return [v * scale * w for v, w in zip(x, self.tensors[name + ".weight"][1])]

    def rotate(self, flat, position):
        out = []
        for first in range(0, len(flat), size):
            head = flat[first:first + size]
            half = size // 2
            angles = [position * theta ** (-2 * i / size) for i in range(half)]
            out += [head[i] * math.cos(angles[i]) - head[i + half] * math.sin(angles[i]) for i in range(half)]
            out += [head[i + half] * math.cos(angles[i]) + head[i] * math.sin(angles[i]) for i in range(half)]
        return out

    def block(self, x, prefix, cache, position):
        n = self.norm(x, prefix + "input_layernorm")
        query = self.rotate(self.linear(n, prefix + "self_attn.q_proj"), position)
        cache[position] = (self.rotate(self.linear(n, prefix + "self_attn.k_proj"), position),
                           self.linear(n, prefix + "self_attn.v_proj"))
        joined = []
        for head in range(heads):
            q = query[head * size:(head + 1) * size]
            at = head // (heads // kv_heads) * size
            seen = [cache[p] for p in range(position + 1)]
            scores = [sum(a * b for a, b in zip(q, k[at:at + size])) / math.sqrt(size) for k, _ in seen]
            most = max(scores)
            weights = [math.exp(s - most) for s in scores]
            joined += [sum(w * v[at + i] for w, (_, v) in zip(weights, seen)) / sum(weights) for i in range(size)]
        x = [a + b for a, b in zip(x, self.linear(joined, prefix + "self_attn.o_proj"))]
        n = self.norm(x, prefix + "post_attention_layernorm")
        gate, up = self.linear(n, prefix + "mlp.gate_proj"), self.linear(n, prefix + "mlp.up_proj")
        down = self.linear([g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)], prefix + "mlp.down_proj")
        return [a + b for a, b in zip(x, down)]

    def choose(self, normed):
        logits = self.linear(normed, "lm_head")
        return max(range(vocabulary), key=lambda i: logits[i])

    def feed(self, token, position):
        """The final norm behind a token, and what is chosen there."""
        x = self.row("model.embed_tokens.weight", token)
        for layer in range(layers):
            x = self.block(x, f"model.layers.{layer}.", self.caches[layer], position)
        normed = self.norm(x, "model.norm")
        return normed, self.choose(normed)

    def draft(self, normed, following, position):
        """What the head guesses behind the token `following` the one at `position`."""
        head = "model.mtp_layers.0."
        token = self.norm(self.row("model.embed_tokens.weight", following), head + "token_layernorm")
        x = self.linear(self.norm(normed, head + "hidden_layernorm") + token, head + "input_proj")
        x = self.block(x, head, self.caches[layers], position)
        return self.choose(self.norm(x, head + "final_layernorm"))


def generate(model):
    normed = []
    for position, token in enumerate(prompt):
        row, chosen = model.feed(token, position)
        normed.append(row)
    for position, following in enumerate(prompt[1:] + [chosen]):
        model.draft(normed[position], following, position)
    text, guess, drafted, accepted = prompt + [chosen], None, 0, 0
    while len(text) < len(prompt) + count:
        position = len(text) - 1
        rows = [text[-1]] + ([guess] if guess is not None else [])
        drafted += len(rows) - 1
        choices = []
        for row, token in enumerate(rows):
            state, chosen = model.feed(token, position + row)
            choices.append((chosen, model.draft(state, chosen, position + row)))
        right = len(rows) == 2 and choices[0][0] == rows[1]
        accepted += right
        text += [chosen for chosen, _ in choices[:1 + right]]
        guess = choices[right][1]
    return {"prompt": prompt, "ids": text[len(prompt):len(prompt) + count], "drafted": drafted, "accepted": accepted}


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "mimo")
    tensors = make_tensors(seed=31)
    write_folder(folder, tensors)
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(generate(Model(tensors)), file)
        file.write("\n")


if __name__ == "__main__":
    main()
