#!/usr/bin/env python3
"""Makes tiny random mixtures of experts, and what they compute.

As make_goldens.py, but with numpy alone: the forward pass of each family is written down here, in
float64 on the whole sequence at once, as transformers' modeling_mixtral.py, modeling_qwen2_moe.py,
modeling_qwen3_moe.py and modeling_olmoe.py (5.x) compute it. Beside the margin of the logits, the
seed's prompt and its 64 ids leave at least LEAST_GAP between the last expert chosen and the first
one that is not, in each block, so that rounding changes no choice. Writes NAME.gguf and NAME.npz to
OUT, and NAME.json, the config.json, to CONFIGS.

Usage: make_moe_goldens.py OUT CONFIGS
"""
import json
import sys
from pathlib import Path

import numpy as np

import convert_hf_to_gguf
import gguf_format

LEAST_MARGIN, LEAST_GAP = 1e-3, 1e-4
LEAST_DISTINCT = 12
GREEDY = 64
PROMPT = [1, 77, 12, 203, 77, 5, 140, 31, 250, 9, 66, 181, 3, 118, 77, 12]

SIZES = {
    "attention_dropout": 0.0, "bos_token_id": None, "eos_token_id": None, "hidden_act": "silu",
    "hidden_size": 64, "initializer_range": 0.02, "intermediate_size": 96,
    "max_position_embeddings": 128, "num_attention_heads": 4, "num_hidden_layers": 2,
    "num_key_value_heads": 2, "pad_token_id": None, "rms_norm_eps": 1e-05, "use_cache": True,
    "vocab_size": 256, "tie_word_embeddings": False, "output_router_logits": False,
    "router_aux_loss_coef": 0.001,
}


def rope(theta):
    return {"rope_parameters": {"rope_theta": theta, "rope_type": "default"}}


MODELS = {
    "mixtral": SIZES | rope(10000.0) | {
        "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2,
        "router_jitter_noise": 0.0, "sliding_window": None},
    "olmoe": SIZES | rope(10000.0) | {
        "model_type": "olmoe", "intermediate_size": 32, "num_experts": 6, "num_experts_per_tok": 3,
        "norm_topk_prob": False, "clip_qkv": None},
    "qwen2moe": SIZES | rope(1000000.0) | {
        "model_type": "qwen2_moe", "num_experts": 6, "num_experts_per_tok": 3,
        "moe_intermediate_size": 32, "shared_expert_intermediate_size": 48, "norm_topk_prob": False,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "qkv_bias": True, "max_window_layers": 28,
        "sliding_window": None, "use_sliding_window": False},
    "qwen3moe": SIZES | rope(1000000.0) | {
        "model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 3, "head_dim": 24,
        "moe_intermediate_size": 32, "norm_topk_prob": True, "decoder_sparse_step": 1,
        "mlp_only_layers": [], "tie_word_embeddings": True, "sliding_window": None,
        "use_sliding_window": False},
}


def head_size(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def shapes_of(config):
    """name: shape of each parameter, as the family's state dictionary has them."""
    hidden, size = config["hidden_size"], head_size(config)
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    kind, shapes = config["model_type"], {"model.embed_tokens.weight": (config["vocab_size"], hidden)}
    for layer in range(config["num_hidden_layers"]):
        begin = f"model.layers.{layer}."

        def add(name, *shape):
            shapes[begin + name + ".weight"] = shape

        add("input_layernorm", hidden)
        for name, rows in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
            add(f"self_attn.{name}_proj", rows * size, hidden)
            if kind == "qwen2_moe":
                shapes[f"{begin}self_attn.{name}_proj.bias"] = (rows * size,)
        add("self_attn.o_proj", hidden, heads * size)
        if kind == "qwen3_moe":
            add("self_attn.q_norm", size)
            add("self_attn.k_norm", size)
        if kind == "olmoe":
            add("self_attn.q_norm", heads * size)
            add("self_attn.k_norm", kv_heads * size)
        add("post_attention_layernorm", hidden)
        mixtral = kind == "mixtral"
        block = "block_sparse_moe" if mixtral else "mlp"
        experts = config["num_local_experts" if mixtral else "num_experts"]
        inner = config.get("moe_intermediate_size", config["intermediate_size"])
        add(f"{block}.gate", experts, hidden)
        for expert in range(experts):
            names = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
            for name, shape in zip(names, ((inner, hidden), (inner, hidden), (hidden, inner))):
                add(f"{block}.experts.{expert}.{name}", *shape)
        if kind == "qwen2_moe":
            shared = config["shared_expert_intermediate_size"]
            add("mlp.shared_expert.gate_proj", shared, hidden)
            add("mlp.shared_expert.up_proj", shared, hidden)
            add("mlp.shared_expert.down_proj", hidden, shared)
            add("mlp.shared_expert_gate", 1, hidden)
    shapes["model.norm.weight"] = (hidden,)
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (config["vocab_size"], hidden)
    return shapes


def randomise(config, seed):
    """f32 weights as make_goldens.py draws them."""
    generator = np.random.default_rng(seed)
    state = {}
    for name, shape in shapes_of(config).items():
        noise = generator.standard_normal(shape)
        if name.endswith(".bias"):
            value = 0.3 * noise
        elif len(shape) == 1:
            value = 1 + 0.25 * noise
        elif "embed" in name or "lm_head" in name:
            value = 0.35 * noise
        else:
            value = 1.5 * noise / shape[1] ** 0.5
        state[name] = value.astype(np.float32)
    return state


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Model:
    """One model in float64; `gap` is the smallest between experts in and out of a choice so far."""

    def __init__(self, config, state):
        self.config = config
        self.weights = {name: tensor.astype(np.float64) for name, tensor in state.items()}
        self.gap = np.inf

    def norm(self, x, name):
        scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.config["rms_norm_eps"])
        return self.weights[name + ".weight"] * (x * scale)

    def linear(self, x, name):
        y = x @ self.weights[name + ".weight"].T
        return y + self.weights[name + ".bias"] if name + ".bias" in self.weights else y

    def rotate(self, x):
        """[tokens, heads, size]: the halves of each head rotate together."""
        half = x.shape[-1] // 2
        theta = self.config["rope_parameters"]["rope_theta"]
        frequencies = theta ** -(np.arange(half) / half)
        angles = np.arange(len(x))[:, None, None] * frequencies
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles),
                               b * np.cos(angles) + a * np.sin(angles)], axis=-1)

    def attention(self, x, name):
        kind, size, tokens = self.config["model_type"], head_size(self.config), len(x)
        q, k, v = (self.linear(x, f"{name}.{part}_proj") for part in "qkv")
        if kind == "olmoe":
            q, k = self.norm(q, name + ".q_norm"), self.norm(k, name + ".k_norm")
        q, k, v = (part.reshape(tokens, -1, size) for part in (q, k, v))
        if kind == "qwen3_moe":
            q, k = self.norm(q, name + ".q_norm"), self.norm(k, name + ".k_norm")
        groups = q.shape[1] // k.shape[1]
        q, k = self.rotate(q), self.rotate(k)
        k, v = k.repeat(groups, axis=1), v.repeat(groups, axis=1)
        scores = np.einsum("qhd,khd->hqk", q, k) / size ** 0.5
        scores = np.where(np.tril(np.ones((tokens, tokens), bool)), scores, -np.inf)
        mixed = np.einsum("hqk,khd->qhd", softmax(scores), v)
        return self.linear(mixed.reshape(tokens, -1), name + ".o_proj")

    def mlp(self, x, names):
        gate, up, down = names
        g = self.linear(x, gate)
        return self.linear(g * sigmoid(g) * self.linear(x, up), down)

    def mixture(self, x, begin):
        mixtral = self.config["model_type"] == "mixtral"
        block = begin + ("block_sparse_moe" if mixtral else "mlp")
        parts = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
        shares = softmax(self.linear(x, block + ".gate"))
        chosen = self.config["num_experts_per_tok"]
        order = np.argsort(-shares, axis=-1, kind="stable")
        y = np.zeros_like(x)
        for token, experts in enumerate(order):
            ranked = shares[token, experts]
            self.gap = min(self.gap, ranked[chosen - 1] - ranked[chosen])
            weights = ranked[:chosen]
            if mixtral or self.config["norm_topk_prob"]:
                weights = weights / weights.sum()
            for expert, weight in zip(experts[:chosen], weights):
                names = [f"{block}.experts.{expert}.{part}" for part in parts]
                y[token] += weight * self.mlp(x[token], names)
        if self.config["model_type"] == "qwen2_moe":
            shared = self.mlp(x, [f"{block}.shared_expert.{part}" for part in parts])
            y += sigmoid(self.linear(x, block + ".shared_expert_gate")) * shared
        return y

    def run(self, ids):
        """Logits and every block's output for the tokens `ids`."""
        x = self.weights["model.embed_tokens.weight"][ids]
        outputs = []
        for layer in range(self.config["num_hidden_layers"]):
            begin = f"model.layers.{layer}."
            x = x + self.attention(self.norm(x, begin + "input_layernorm"), begin + "self_attn")
            x = x + self.mixture(self.norm(x, begin + "post_attention_layernorm"), begin)
            outputs.append(x)
        tied = self.config["tie_word_embeddings"]
        head = "model.embed_tokens" if tied else "lm_head"
        return self.linear(self.norm(x, "model.norm"), head), outputs


def generate(model, prompt):
    """The greedy ids and their smallest top-2 margin; stops at one that is too small."""
    ids, margin = list(prompt), np.inf
    while len(ids) < len(prompt) + GREEDY and margin >= LEAST_MARGIN and model.gap >= LEAST_GAP:
        last = model.run(ids)[0][-1]
        best = np.argsort(-last, kind="stable")[:2]
        margin = min(margin, last[best[0]] - last[best[1]])
        ids.append(int(best[0]))
    return ids[len(prompt):], margin


def make(name, folder, configs):
    config = MODELS[name]
    for seed in range(2000):
        state = randomise(config, seed)
        model = Model(config, state)
        greedy, margin = generate(model, PROMPT)
        if (margin >= LEAST_MARGIN and model.gap >= LEAST_GAP
                and len(set(greedy)) >= LEAST_DISTINCT):
            break
    else:
        raise SystemExit(f"{name}: no seed gives the margins")
    logits, outputs = model.run(PROMPT)
    arrays = {f"blk.{layer}.output": output for layer, output in enumerate(outputs)}
    arrays["logits"] = logits
    np.savez_compressed(
        folder / f"{name}.npz", ids=np.array(PROMPT, np.int32), greedy=np.array(greedy, np.int32),
        **{key: array.astype(np.float32) for key, array in arrays.items()})
    gguf_format.write(folder / f"{name}.gguf", *convert_hf_to_gguf.convert(config, state))
    (configs / f"{name}.json").write_text(
        json.dumps(dict(sorted(config.items())), indent=2) + "\n", encoding="utf-8")
    print(f"| `{name}` | {seed} | {margin:.4f} | {len(set(greedy))} | {model.gap:.4f} |", flush=True)


def main():
    folder, configs = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        make(name, folder, configs)


if __name__ == "__main__":
    sys.exit(main())
