#!/usr/bin/env python3
"""Compares a model in 16 bits on a GPU with transformers in the same type, against float64.

The model is a shape of `tenon random-model` with random weights, which both sides make on the
device from the same formula (runtime/program/RandomValues.h, tools/driver/RandomConstants.h); no
file is needed. A prompt of random tokens goes through prefill, or through decode with a row a token
(--decode), and the embedded tokens, every block's hidden state and the logits come out: for 32 blocks
33 states. The reference is transformers'
own model in float64. Matrices are 16-bit values on all sides. Tenon keeps norms and biases in f32,
as GGUF files do, transformers in the 16-bit type; each has the reference with its own.

For every output it prints max and mean |a - b| of both and the ratio of the root mean squares of
the errors. Fails where a ratio exceeds 1.25. With --serial (GPT-NeoX) it also shows that the serial
form of the block, h = attention + x, y = mlp(norm(h)) + h, is off.

Usage: half_precision.py TENON SHAPE --type=f16|bf16 [--tokens=32] [--decode] [--serial] [--seed=1]
Needs torch, transformers and a GPU.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

LARGEST_RATIO = 1.25
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
SHAPES = {
    "llama-3.2-1b": dict(layers=16, hidden=2048, ffn=8192, heads=32, kv=8, vocabulary=128256,
                         base=500000.0, factor=32.0, tied=True),
    "llama-3.1-8b": dict(layers=32, hidden=4096, ffn=14336, heads=32, kv=8, vocabulary=128256,
                         base=500000.0, factor=8.0, tied=False),
    "pythia-2.8b": dict(layers=32, hidden=2560, ffn=10240, heads=32, kv=32, vocabulary=50304),
}


def as_i64(value):
    """The two's complement of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >= 1 << 63 else value


def shift_right(h, bits):
    """A logical shift."""
    return (h >> bits) & ((1 << (64 - bits)) - 1)


def random_values(name, shape, seed):
    """The f32 values of a constant."""
    key = 0xcbf29ce484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001b3) & ((1 << 64) - 1)
    count = int(np.prod(shape))
    if len(shape) > 1:
        mean, scale = 0.0, np.float32((1 / np.sqrt(float(shape[-1]))) * np.sqrt(3.0))
    elif name.endswith(".bias"):
        mean, scale = 0.0, np.float32(0.02 * np.sqrt(3.0))
    else:
        mean, scale = 1.0, np.float32(0.05 * np.sqrt(3.0))
    h = torch.arange(1, count + 1, dtype=torch.int64, device="cuda")
    h = h * as_i64(0x9e3779b97f4a7c15) + as_i64(seed + key)
    h = (h ^ shift_right(h, 30)) * as_i64(0xbf58476d1ce4e5b9)
    h = (h ^ shift_right(h, 27)) * as_i64(0x94d049bb133111eb)
    h = h ^ shift_right(h, 31)
    values = (shift_right(h, 40) - (1 << 23)).float() * 2.0**-23
    del h
    values = values * torch.tensor(float(scale), device="cuda") + mean
    return values.reshape(shape)


def make_weights(name, seed):
    """Transformers' parameter names with what makes each: a function without arguments."""
    s = SHAPES[name]
    head = s["hidden"] // s["heads"]
    get = lambda tensor, *sizes: lambda: random_values(tensor, sizes, seed)
    weights = {}

    def unpermuted(tensor, heads, columns):
        """GGUF puts the halves of a rotated pair beside each other; transformers a half apart."""
        return lambda: (random_values(tensor, (heads * head, columns), seed)
                        .reshape(heads, head // 2, 2, columns).swapaxes(1, 2)
                        .reshape(heads * head, columns))

    def joined(layer, suffix, *columns):
        """GPT-NeoX's fused weight: for each head its query, key and value rows."""
        def make():
            parts = [random_values(f"blk.{layer}.attn_{c}.{suffix}", (s["hidden"], *columns), seed)
                     .reshape(s["heads"], 1, head, *columns) for c in "qkv"]
            return torch.cat(parts, 1).reshape(3 * s["hidden"], *columns)
        return make

    hidden, ffn, kv = s["hidden"], s["ffn"], s["kv"] * head
    for i in range(s["layers"]):
        blk = f"blk.{i}."
        if name.startswith("llama"):
            prefix = f"model.layers.{i}."
            weights |= {
                prefix + "input_layernorm.weight": get(blk + "attn_norm.weight", hidden),
                prefix + "post_attention_layernorm.weight": get(blk + "ffn_norm.weight", hidden),
                prefix + "self_attn.q_proj.weight": unpermuted(blk + "attn_q.weight", s["heads"],
                                                               hidden),
                prefix + "self_attn.k_proj.weight": unpermuted(blk + "attn_k.weight", s["kv"],
                                                               hidden),
                prefix + "self_attn.v_proj.weight": get(blk + "attn_v.weight", kv, hidden),
                prefix + "self_attn.o_proj.weight": get(blk + "attn_output.weight", hidden, hidden),
                prefix + "mlp.gate_proj.weight": get(blk + "ffn_gate.weight", ffn, hidden),
                prefix + "mlp.up_proj.weight": get(blk + "ffn_up.weight", ffn, hidden),
                prefix + "mlp.down_proj.weight": get(blk + "ffn_down.weight", hidden, ffn)}
            continue
        prefix = f"gpt_neox.layers.{i}."
        weights |= {prefix + "attention.query_key_value.weight": joined(i, "weight", hidden),
                    prefix + "attention.query_key_value.bias": joined(i, "bias")}
        for theirs, ours, rows, columns in (
                ("attention.dense", "attn_output", hidden, hidden),
                ("mlp.dense_h_to_4h", "ffn_up", ffn, hidden),
                ("mlp.dense_4h_to_h", "ffn_down", hidden, ffn)):
            weights[f"{prefix}{theirs}.weight"] = get(f"{blk}{ours}.weight", rows, columns)
            weights[f"{prefix}{theirs}.bias"] = get(f"{blk}{ours}.bias", rows)
        for theirs, ours in (("input_layernorm", "attn_norm"),
                             ("post_attention_layernorm", "ffn_norm")):
            for suffix in ("weight", "bias"):
                weights[f"{prefix}{theirs}.{suffix}"] = get(f"{blk}{ours}.{suffix}", hidden)
    vocabulary = s["vocabulary"]
    if name.startswith("llama"):
        weights |= {"model.embed_tokens.weight": get("token_embd.weight", vocabulary, hidden),
                    "model.norm.weight": get("output_norm.weight", hidden)}
        if not s["tied"]:
            weights["lm_head.weight"] = get("output.weight", vocabulary, hidden)
    else:
        weights |= {"gpt_neox.embed_in.weight": get("token_embd.weight", vocabulary, hidden),
                    "gpt_neox.final_layer_norm.weight": get("output_norm.weight", hidden),
                    "gpt_neox.final_layer_norm.bias": get("output_norm.bias", hidden),
                    "lm_head.weight": get("output.weight", vocabulary, hidden)}
    return weights


def make_config(name, parallel=True):
    """The configuration of the shape."""
    s = SHAPES[name]
    common = dict(vocab_size=s["vocabulary"], hidden_size=s["hidden"], intermediate_size=s["ffn"],
                  num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                  max_position_embeddings=16384)
    if name.startswith("llama"):
        return transformers.LlamaConfig(
            **common, num_key_value_heads=s["kv"], rms_norm_eps=1e-5,
            tie_word_embeddings=s["tied"],
            rope_parameters=dict(rope_type="llama3", rope_theta=s["base"], factor=s["factor"],
                                 low_freq_factor=1.0, high_freq_factor=4.0,
                                 original_max_position_embeddings=8192))
    return transformers.GPTNeoXConfig(
        **common, layer_norm_eps=1e-5, hidden_act="gelu", use_parallel_residual=parallel,
        rope_parameters=dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.25))


# The table's rows alone: models return the states behind blocks.
EMBEDDING = """
tenon.file @m "unused" bytes {bytes} fingerprint 0
tenon.weight @token_embd.weight : tensor<{vocabulary}x{hidden}x{kind}>
    from [#tenon.range<@m, offset = 0, bytes = {bytes}>]
func.func @embed(%ids: tensor<{tokens}xi32> {{tenon.name = "ids"}})
    -> (tensor<{tokens}x{hidden}x{kind}> {{tenon.name = "embedding"}}) {{
  %t = tenon.get_weight @token_embd.weight : tensor<{vocabulary}x{hidden}x{kind}>
  %x = tenon.embedding %t, %ids
      : (tensor<{vocabulary}x{hidden}x{kind}>, tensor<{tokens}xi32>) -> tensor<{tokens}x{hidden}x{kind}>
  return %x : tensor<{tokens}x{hidden}x{kind}>
}}
"""


@torch.inference_mode()
def run_transformers(name, weights, dtype, rounded, vectors, ids, parallel=True):
    """The embedded tokens and every block's output [tokens, hidden], and the logits [tokens,
    vocabulary], as float64.

    Matrices are rounded to `rounded`; vectors, norms and biases, to `vectors` where that is given.
    """
    with torch.device("cuda"):
        previous = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        model = transformers.AutoModelForCausalLM.from_config(make_config(name, parallel),
                                                              dtype=dtype)
        torch.set_default_dtype(previous)
    parameters = dict(model.named_parameters())
    missing = set(parameters) - set(weights) - {"lm_head.weight"}
    assert not missing and set(weights) <= set(parameters), (missing, set(weights) - set(parameters))
    for parameter, make in weights.items():
        value = make()
        if value.ndim > 1:
            value = value.to(rounded)
        elif vectors:
            value = value.to(vectors)
        parameters[parameter].data.copy_(value)
    blocks = []
    layers = model.model.layers if name.startswith("llama") else model.gpt_neox.layers
    for layer in [model.get_input_embeddings(), *layers]:
        layer.register_forward_hook(lambda module, inputs, output: blocks.append(
            (output[0] if isinstance(output, tuple) else output).reshape(len(ids), -1).double()))
    logits = model.eval()(torch.tensor([ids], device="cuda"), use_cache=False).logits
    return blocks, logits[0].double()


def run_tenon(tenon, name, weight_type, seed, ids, decode):
    """The same by Tenon; logits of the last token in prefill."""
    rows = len(ids)
    role = "decode" if decode else "prefill"
    arrays = {"ids": np.array(ids, np.int32), "positions": np.arange(rows, dtype=np.int32),
              "sequences": np.zeros(rows if decode else 1, np.int32)}
    if not decode:
        arrays["output_rows"] = np.array([rows - 1], np.int32)
    s = SHAPES[name]
    with tempfile.TemporaryDirectory() as folder:
        def run(model, given, *flags):
            """The outputs of a model for some inputs."""
            inputs, outputs = Path(folder, "in.npz"), Path(folder, "out.npz")
            np.savez(inputs, **given)
            subprocess.run([tenon, "run", model, f"--random-weights={seed}", "--device=cuda",
                            "-f", inputs, "-o", outputs, *flags], check=True)
            return dict(np.load(outputs))

        graph = Path(folder, "embedding.mlir")
        graph.write_text(EMBEDDING.format(bytes=2 * s["vocabulary"] * s["hidden"], tokens=rows,
                                          kind=weight_type, **s), encoding="utf-8")
        found = run(str(graph), {"ids": arrays["ids"]})
        found |= run(name, arrays, f"--type={weight_type}", f"--shapes={role}:{rows},block-outputs",
                     "--context=2048")

    def decoded(array):
        if array.dtype == np.uint16:  # bf16
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return torch.from_numpy(array.astype(np.float64)).cuda()

    names = ["embedding"] + [f"blk.{i}.output" for i in range(s["layers"])]
    return [decoded(found[state]) for state in names], decoded(found["logits"])


def error(found, expected):
    """Max, mean and root mean square of |a - b|."""
    difference = (found - expected).abs()
    return (difference.max().item(), difference.mean().item(),
            difference.square().mean().sqrt().item())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--type", choices=DTYPES, required=True)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--decode", action="store_true")
    parser.add_argument("--serial", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    ids = generator.integers(SHAPES[options.shape]["vocabulary"], size=options.tokens).tolist()
    weights = make_weights(options.shape, options.seed)
    dtype = DTYPES[options.type]

    ours, our_logits = run_tenon(options.tenon, options.shape, options.type, options.seed, ids,
                                 options.decode)
    reference = lambda vectors, parallel=True: run_transformers(
        options.shape, weights, torch.float64, dtype, vectors, ids, parallel)
    expected, expected_logits = reference(None)
    rounded, rounded_logits = reference(dtype)
    theirs, their_logits = run_transformers(options.shape, weights, dtype, dtype, dtype, ids)
    last = slice(None) if options.decode else slice(-1, None)
    names = ["embedding"] + [f"block {i}" for i in range(len(ours) - 1)]
    rows = list(zip(names, ours, expected, theirs, rounded))
    rows.append(("logits", our_logits, expected_logits[last], their_logits[last],
                 rounded_logits[last]))

    worst = 0.0
    print(f"{options.shape} {options.type}, {'decode' if options.decode else 'prefill'} of "
          f"{options.tokens} tokens; |a - b| to float64: tenon max mean, transformers max mean, "
          f"ratio of root mean squares")
    for name, found, want, peer, peer_want in rows:
        a, b = error(found, want), error(peer, peer_want)
        # The rounded matrix is the reference's too: a state that both have exactly has no error.
        ratio = a[2] / b[2] if a[2] > 0 else 0.0
        worst = max(worst, ratio)
        print(f"{name:9s} {a[0]:.3e} {a[1]:.3e}  {b[0]:.3e} {b[1]:.3e}  {ratio:.3f}")
    failed = worst > LARGEST_RATIO or not np.isfinite(worst)
    if options.serial:
        serial, _ = reference(None, parallel=False)
        off = [error(a, b)[2] / error(c, d)[2]
               for a, b, c, d in list(zip(ours, serial, theirs, rounded))[1:]]
        print(f"serial form: ratios from {min(off):.1f} to {max(off):.1f}")
        failed |= min(off) <= LARGEST_RATIO
    print(f"largest ratio {worst:.3f}: {'FAILED' if failed else 'passed'}")
    sys.exit(1 if failed else 0)


main()
