#!/usr/bin/env python3
"""Makes tiny random models of the families with linear biases, and what they compute.

The files are those of make_goldens.py, made with an implementation of its own in numpy, in float64,
after modeling_bloom.py and modeling_mpt.py of Hugging Face transformers: the whole sequence at once,
fused rows of Q, K and V taken apart as each family stores them, biases of absolute positions (their
softmax is that of distances). GGUF has them as llama.cpp's converter writes them. Needs numpy.

Usage: make_alibi_goldens.py OUT
"""
import math
import sys
from pathlib import Path

import numpy as np

import gguf_format

LEAST_MARGIN = 1e-3
LEAST_DISTINCT = 12
GREEDY = 64
PROMPT = [1, 77, 12, 203, 77, 5, 140, 31, 250, 9, 66, 181, 3, 118, 77, 12]
VOCABULARY, HIDDEN, BLOCKS, CONTEXT, EPSILON = 256, 48, 2, 128, 1e-5
# Heads that are no power of two; a clamp that cuts.
BLOOM_HEADS, MPT_HEADS, MPT_CLAMP, MPT_BIAS = 6, 3, 1.25, 6.0


def erf(x):
    return np.vectorize(math.erf)(x)


def layer_norm(x, weight, bias=0.0):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + EPSILON) * weight + bias


def bloom_slopes(heads):
    """build_alibi_tensor: powers of one base, and every second one of another for the rest."""
    power = 2 ** math.floor(math.log2(heads))
    base = 2.0 ** -(2.0 ** -(math.log2(power) - 3))
    slopes = [base ** i for i in range(1, power + 1)]
    if power != heads:
        extra = 2.0 ** -(2.0 ** -(math.log2(2 * power) - 3))
        slopes += [extra ** i for i in range(1, 1 + 2 * min(power, heads - power), 2)]
    return np.array(slopes)


def mpt_slopes(heads, largest):
    """build_mpt_alibi_tensor: of the next power of two every second one, then the others."""
    power = 2 ** math.ceil(math.log2(heads))
    slopes = 1.0 / 2.0 ** (np.arange(1, power + 1) * (largest / power))
    if power != heads:
        slopes = np.concatenate([slopes[1::2], slopes[::2]])[:heads]
    return slopes


def attention(q, k, v, slopes):
    """q, k, v [tokens, heads, size]."""
    tokens, _, size = q.shape
    scores = np.einsum("qhd,khd->hqk", q, k) / math.sqrt(size)
    scores = scores + slopes[:, None, None] * np.arange(tokens)[None, None, :]
    scores = np.where(np.tril(np.ones((tokens, tokens), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", weights, v).reshape(tokens, -1)


def run_bloom(w, ids):
    """Logits and every block's output, from tensors in the family's own layout."""
    x = layer_norm(w["word_embeddings.weight"][ids], w["word_embeddings_layernorm.weight"],
                   w["word_embeddings_layernorm.bias"])
    outputs = []
    for layer in range(BLOCKS):
        def linear(y, name):
            return y @ w[f"h.{layer}.{name}.weight"].T + w[f"h.{layer}.{name}.bias"]

        def norm(y, name):
            return layer_norm(y, w[f"h.{layer}.{name}.weight"], w[f"h.{layer}.{name}.bias"])
        fused = linear(norm(x, "input_layernorm"), "self_attention.query_key_value")
        q, k, v = np.moveaxis(fused.reshape(len(ids), BLOOM_HEADS, 3, -1), 2, 0)
        x = linear(attention(q, k, v, bloom_slopes(BLOOM_HEADS)), "self_attention.dense") + x
        up = linear(norm(x, "post_attention_layernorm"), "mlp.dense_h_to_4h")
        up = up * 0.5 * (1.0 + np.tanh(0.79788456 * up * (1 + 0.044715 * up * up)))
        x = linear(up, "mlp.dense_4h_to_h") + x
        outputs.append(x)
    x = layer_norm(x, w["ln_f.weight"], w["ln_f.bias"])
    return x @ w["word_embeddings.weight"].T, outputs


def run_mpt(w, ids):
    x = w["wte.weight"][ids]
    outputs = []
    for layer in range(BLOCKS):
        def tensor(name):
            return w[f"blocks.{layer}.{name}.weight"]
        fused = layer_norm(x, tensor("norm_1")) @ tensor("attn.Wqkv").T
        fused = np.clip(fused, -MPT_CLAMP, MPT_CLAMP)
        q, k, v = (part.reshape(len(ids), MPT_HEADS, -1) for part in np.split(fused, 3, -1))
        attended = attention(q, k, v, mpt_slopes(MPT_HEADS, MPT_BIAS))
        x = x + attended @ tensor("attn.out_proj").T
        up = layer_norm(x, tensor("norm_2")) @ tensor("ffn.up_proj").T
        x = x + (up * 0.5 * (1.0 + erf(up / math.sqrt(2.0)))) @ tensor("ffn.down_proj").T
        outputs.append(x)
    return layer_norm(x, w["norm_f.weight"]) @ w["wte.weight"].T, outputs


def bloom_shapes():
    block = {"input_layernorm": 1, "post_attention_layernorm": 1,
             "self_attention.query_key_value": (3 * HIDDEN, HIDDEN),
             "self_attention.dense": (HIDDEN, HIDDEN), "mlp.dense_h_to_4h": (4 * HIDDEN, HIDDEN),
             "mlp.dense_4h_to_h": (HIDDEN, 4 * HIDDEN)}
    shapes = {"word_embeddings": (VOCABULARY, HIDDEN), "word_embeddings_layernorm": 1, "ln_f": 1}
    shapes |= {f"h.{layer}.{name}": shape for layer in range(BLOCKS) for name, shape in block.items()}
    tensors = {}
    for name, shape in shapes.items():
        tensors[f"{name}.weight"] = (HIDDEN,) if shape == 1 else shape
        if name != "word_embeddings":
            tensors[f"{name}.bias"] = (HIDDEN,) if shape == 1 else shape[:1]
    return tensors


def mpt_shapes():
    block = {"norm_1": (HIDDEN,), "norm_2": (HIDDEN,), "attn.Wqkv": (3 * HIDDEN, HIDDEN),
             "attn.out_proj": (HIDDEN, HIDDEN), "ffn.up_proj": (4 * HIDDEN, HIDDEN),
             "ffn.down_proj": (HIDDEN, 4 * HIDDEN)}
    shapes = {"wte.weight": (VOCABULARY, HIDDEN), "norm_f.weight": (HIDDEN,)}
    return shapes | {f"blocks.{layer}.{name}.weight": shape
                     for layer in range(BLOCKS) for name, shape in block.items()}


def randomise(shapes, seed):
    """As make_goldens.py has them, in f32, but for larger matrices: the blocks are to outweigh the
    embedding, which is the output layer, too."""
    random = np.random.default_rng(seed)
    tensors = {}
    for name, shape in shapes.items():
        noise = random.standard_normal(shape)
        if name.endswith(".bias"):
            value = 0.3 * noise
        elif len(shape) == 1:
            value = 1.0 + 0.25 * noise
        elif "embeddings" in name or "wte" in name:
            value = 0.35 * noise
        else:
            value = 3.0 * noise / math.sqrt(shape[1])
        tensors[name] = value.astype(np.float32)
    return tensors


BLOOM_NAMES = {
    "word_embeddings": "token_embd", "word_embeddings_layernorm": "token_embd_norm",
    "ln_f": "output_norm", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attention.query_key_value": "attn_qkv", "self_attention.dense": "attn_output",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down",
}
MPT_NAMES = {
    "wte": "token_embd", "norm_f": "output_norm", "norm_1": "attn_norm", "norm_2": "ffn_norm",
    "attn.Wqkv": "attn_qkv", "attn.out_proj": "attn_output", "ffn.up_proj": "ffn_up",
    "ffn.down_proj": "ffn_down",
}


def convert(tensors, names, blocks, grouped_heads):
    """In GGUF's names and layout: rows of Q, K and V behind one another."""
    converted = {}
    for name, tensor in tensors.items():
        stem, suffix = name.rsplit(".", 1)
        begin = ""
        if stem.startswith(blocks):
            _, layer, stem = stem.split(".", 2)
            begin = f"blk.{layer}."
        if names[stem] == "attn_qkv" and grouped_heads:
            tensor = tensor.reshape(grouped_heads, 3, -1, *tensor.shape[1:])
            tensor = tensor.swapaxes(0, 1).reshape(-1, *tensor.shape[3:])
        converted[f"{begin}{names[stem]}.{suffix}"] = tensor
    return converted


def metadata(architecture, heads, more):
    keys = {"context_length": CONTEXT, "embedding_length": HIDDEN, "block_count": BLOCKS,
            "feed_forward_length": 4 * HIDDEN, "attention.head_count": heads,
            "attention.layer_norm_epsilon": EPSILON} | more
    return {"general.architecture": architecture, "general.file_type": 0} | {
        f"{architecture}.{key}": value for key, value in keys.items()}


# Name: shapes, the model, names in GGUF, what blocks begin with, heads that rows are grouped by,
# metadata.
MODELS = {
    "bloom": (bloom_shapes, run_bloom, BLOOM_NAMES, "h.", BLOOM_HEADS,
              metadata("bloom", BLOOM_HEADS, {})),
    "mpt": (mpt_shapes, run_mpt, MPT_NAMES, "blocks.", 0,
            metadata("mpt", MPT_HEADS, {"attention.clamp_kqv": MPT_CLAMP,
                                        "attention.max_alibi_bias": MPT_BIAS})),
}


def generate(run, tensors):
    """The greedy ids and their smallest top-2 margin; stops at a margin that is too small."""
    ids, margin = list(PROMPT), float("inf")
    while len(ids) < len(PROMPT) + GREEDY and margin >= LEAST_MARGIN:
        last = run(tensors, ids)[0][-1]
        first, second = np.argsort(last)[:-3:-1]
        margin = min(margin, last[first] - last[second])
        ids.append(int(first))
    return ids[len(PROMPT):], margin


def make(name, folder):
    shapes, run, names, blocks, grouped_heads, keys = MODELS[name]
    for seed in range(500):
        tensors = randomise(shapes(), seed)
        exact = {key: tensor.astype(np.float64) for key, tensor in tensors.items()}
        greedy, margin = generate(run, exact)
        if margin >= LEAST_MARGIN and len(set(greedy)) >= LEAST_DISTINCT:
            break
    else:
        raise SystemExit(f"{name}: no seed gives margins of {LEAST_MARGIN}")
    logits, outputs = run(exact, PROMPT)
    arrays = {f"blk.{layer}.output": output for layer, output in enumerate(outputs)}
    arrays = {key: array.astype(np.float32) for key, array in (arrays | {"logits": logits}).items()}
    np.savez_compressed(folder / f"{name}.npz", ids=np.array(PROMPT, np.int32),
                        greedy=np.array(greedy, np.int32), **arrays)
    gguf_format.write(folder / f"{name}.gguf", keys,
                      convert(tensors, names, blocks, grouped_heads))
    print(f"| `{name}` | {seed} | {margin:.4f} | {len(set(greedy))} |", flush=True)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        make(name, folder)


if __name__ == "__main__":
    sys.exit(main())
