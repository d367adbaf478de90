#!/usr/bin/env python3
"""Makes tiny random models with Hugging Face transformers, and what they compute.

For each entry of MODELS, OUT/NAME.gguf holds the model (convert_hf_to_gguf.py) and OUT/NAME.npz
what it gives, run in float64 with eager attention on the whole sequence at once:
  ids            i32 [tokens]            the prompt
  logits         f32 [tokens, vocabulary]
  blk.N.output   f32 [tokens, hidden]    the hidden state behind block N
  greedy         i32 [64]                the ids that follow greedily
A model with two sets of rope factors, one for prompts beyond its original context, also gives
`short.ids`, `short.logits` and `short.blk.N.output` for the first tokens, within that context.
The random seed is the first one whose two best logits differ by at least LEAST_MARGIN at each of
the 64 ids, of which LEAST_DISTINCT differ; where there are experts, the scores of the last one
chosen and of the first that is not differ by at least LEAST_GAP. Needs torch and transformers; prints the seeds.

Usage: make_goldens.py OUT [NAME ...]
"""
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

import convert_hf_to_gguf
import gguf_format

LEAST_MARGIN = 1e-3
LEAST_GAP = 1e-3
LEAST_DISTINCT = 12
GREEDY = 64
PROMPT = [1, 77, 12, 203, 77, 5, 140, 31, 250, 9, 66, 181, 3, 118, 77, 12, 240, 54, 99, 17]

SIZES = {"vocab_size": 256, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
         "rms_norm_eps": 1e-5, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}


# Of families whose norms have another key for their epsilon.
PLAIN_SIZES = {key: value for key, value in SIZES.items() if key != "rms_norm_eps"}
LAYER_SIZES = PLAIN_SIZES | {"layer_norm_eps": 1e-5}


FALCON_SIZES = {"vocab_size": 256, "hidden_size": 64, "ffn_hidden_size": 96,
                "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 128,
                "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
# Model types of entries that have another name.
TYPES = {"cohere_qk": "cohere", "stablelm_qk": "stablelm", "falcon_mq": "falcon"}


def rope(theta, **more):
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta} | more}


# Model type: configuration, tokens of the prompt. Windows are chosen so that they cut, soft-caps
# so that they bend, and head sizes so that they do not follow from the hidden size.
MODELS = {
    "qwen2": (SIZES | {"tie_word_embeddings": False} | rope(1000000.0), 16),
    "qwen3": (SIZES | {"head_dim": 24, "tie_word_embeddings": True} | rope(1000000.0), 16),
    "gpt2": ({"vocab_size": 256, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 96,
              "n_positions": 96, "bos_token_id": None, "eos_token_id": None}, 16),
    "mistral": (SIZES | {"sliding_window": 8, "tie_word_embeddings": False} | rope(10000.0), 16),
    "phi3": (SIZES | {
        "original_max_position_embeddings": 16, "sliding_window": 12, "tie_word_embeddings": False,
    } | rope(10000.0, rope_type="longrope", partial_rotary_factor=0.5,
             short_factor=[1.0, 1.25, 1.5, 2.0], long_factor=[1.5, 3.0, 5.0, 7.0]), 20),
    "gemma2": (SIZES | {
        "num_hidden_layers": 3, "head_dim": 24, "query_pre_attn_scalar": 40, "sliding_window": 8,
        "attn_logit_softcapping": 2.0, "final_logit_softcapping": 4.0,
    } | rope(10000.0), 16),
    "gemma": (SIZES | {"head_dim": 24} | rope(10000.0), 16),
    # Seven blocks: one of six has no window, and its rotation is scaled.
    "gemma3_text": (SIZES | {
        "num_hidden_layers": 7, "head_dim": 24, "query_pre_attn_scalar": 40, "sliding_window": 8,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}},
    }, 16),
    "phi": (LAYER_SIZES | {"tie_word_embeddings": False} | rope(10000.0, partial_rotary_factor=0.5),
            16),
    "starcoder2": (PLAIN_SIZES | {"norm_epsilon": 1e-5, "sliding_window": 8} | rope(100000.0), 16),
    "stablelm": (LAYER_SIZES | {"use_qkv_bias": True} | rope(10000.0, partial_rotary_factor=0.25),
                 16),
    "olmo2": (SIZES | rope(500000.0), 16),
    "granite": (SIZES | {
        "embedding_multiplier": 1.5, "attention_multiplier": 0.2, "residual_multiplier": 0.8,
        "logits_scaling": 0.6, "tie_word_embeddings": True,
    } | rope(10000.0), 16),
    "cohere": (LAYER_SIZES | {"logit_scale": 1.5} | rope(10000.0), 16),
    # Numbers of experts are MXFP4's.
    "gpt_oss": (SIZES | {
        "num_hidden_layers": 3, "intermediate_size": 96, "head_dim": 32, "sliding_window": 8,
        "num_local_experts": 6, "num_experts_per_tok": 3, "tie_word_embeddings": False,
    } | rope(150000.0, rope_type="yarn", factor=4.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
             original_max_position_embeddings=32), 16),
    # Norms of heads, as in Command R+ and StableLM 2 12B.
    "cohere_qk": (LAYER_SIZES | {"logit_scale": 1.5, "use_qk_norm": True} | rope(10000.0), 16),
    "stablelm_qk": (LAYER_SIZES | {"qk_layernorm": True, "use_parallel_residual": True}
                    | rope(10000.0, partial_rotary_factor=0.25), 16),
    "glm4": (SIZES | {"head_dim": 24, "attention_bias": True}
             | rope(10000.0, partial_rotary_factor=0.5), 16),
    # Queries share keys and values in groups, or all of them do (Falcon 7B).
    "falcon": (FALCON_SIZES | {"new_decoder_architecture": True, "num_kv_heads": 2}, 16),
    "falcon_mq": (FALCON_SIZES, 16),
    "ministral3": (SIZES | {"head_dim": 24, "tie_word_embeddings": False}
                   | rope(10000.0, rope_type="yarn", factor=4.0, beta_fast=32.0, beta_slow=1.0,
                          original_max_position_embeddings=96, mscale=1.0, mscale_all_dim=1.0,
                          llama_4_scaling_beta=0.1), 16),
    # Five blocks, of which the fourth is not rotated.
    "smollm3": (SIZES | {"num_hidden_layers": 5, "no_rope_layer_interval": 4} | rope(2000000.0), 16),
}


def randomise(model, seed):
    """Weights that leave nothing at its default: norms around 1, biases, matrices that keep the
    size of what passes through."""
    gemma = model.config.model_type.startswith("gemma")
    experts = model.config.model_type == "gpt_oss"
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        if (parameter.ndim == 1 and name.endswith(".bias")) or name.endswith("_bias"):
            value = 0.3 * noise
        elif name.endswith(".sinks"):
            value = noise
        elif experts and parameter.ndim == 3:
            # Large enough for the unit's limit; blocks lie along a product's inputs.
            value = (4.0 if "gate_up" in name else 0.5) * noise / parameter.shape[1] ** 0.5
            value = torch.from_numpy(gguf_format.round_to_mxfp4(
                value.transpose(1, 2).contiguous().numpy())[2]).transpose(1, 2)
        elif parameter.ndim == 1:
            value = 0.25 * noise + (0.0 if gemma else 1.0)
        elif "embed" in name or "wte" in name or "wpe" in name or "lm_head" in name:
            value = (0.1 if gemma else 0.35) * noise  # Gemma multiplies it by √hidden
        else:
            inputs = parameter.shape[0 if model.config.model_type == "gpt2" else 1]
            norm = name.endswith(("q_norm.weight", "k_norm.weight"))  # [heads, size]
            value = 1 + 0.25 * noise if norm else 1.5 * noise / inputs**0.5
        parameter.data.copy_(value)


def make_model(model_type, configuration):
    config = transformers.AutoConfig.for_model(model_type, **configuration)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager",
                                                          experts_implementation="eager")
    return model.eval()


def decoder_layers(model):
    body = model.base_model
    return body.h if hasattr(body, "h") else body.layers


def run(model, ids):
    """Logits and every block's output for the tokens `ids`, and the smallest gap of a choice of
    experts."""
    outputs, gaps = [], [float("inf")]

    def keep(module, inputs, output):
        outputs.append((output[0] if isinstance(output, tuple) else output)[0])

    def keep_gap(module, inputs, output):
        ranked = output[0].sort(dim=-1, descending=True).values
        gaps.append(float((ranked[:, module.top_k - 1] - ranked[:, module.top_k]).min()))

    hooks = [layer.register_forward_hook(keep) for layer in decoder_layers(model)]
    hooks += [module.register_forward_hook(keep_gap) for name, module in model.named_modules()
              if name.endswith("mlp.router")]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    for hook in hooks:
        hook.remove()
    return logits, outputs, min(gaps)


def generate(model, prompt):
    """The greedy ids and their smallest top-2 margin, 0 where a gap is too small; stops at one that
    is."""
    ids, margin = list(prompt), float("inf")
    while len(ids) < len(prompt) + GREEDY and margin >= LEAST_MARGIN:
        logits, _, gap = run(model, ids)
        if gap < LEAST_GAP:
            return [], 0.0
        best = torch.topk(logits[-1], 2)
        margin = min(margin, float(best.values[0] - best.values[1]))
        ids.append(int(best.indices[0]))
    return ids[len(prompt):], margin


def arrays_of(model, ids):
    """The arrays of one run, in f32."""
    logits, outputs, _ = run(model, ids)
    arrays = {f"blk.{layer}.output": output for layer, output in enumerate(outputs)}
    arrays["logits"] = logits
    return {"ids": np.array(ids, np.int32)} | {
        name: tensor.to(torch.float32).numpy() for name, tensor in arrays.items()}


def make(name, folder):
    configuration, tokens = MODELS[name]
    prompt = PROMPT[:tokens]
    model = make_model(TYPES.get(name, name), configuration)
    for seed in range(500):
        randomise(model.to(torch.float32), seed)
        # A tied output layer is no parameter of its own.
        state = {name: tensor.detach().numpy().copy()
                 for name, tensor in model.named_parameters()}
        greedy, margin = generate(model.to(torch.float64), prompt)
        if margin >= LEAST_MARGIN and len(set(greedy)) >= LEAST_DISTINCT:
            break
    else:
        raise SystemExit(f"{name}: no seed gives margins of {LEAST_MARGIN}")
    arrays = arrays_of(model, prompt) | {"greedy": np.array(greedy, np.int32)}
    if original := configuration.get("original_max_position_embeddings"):
        short = arrays_of(model, prompt[:original - 1])
        arrays |= {f"short.{key}": array for key, array in short.items()}
    np.savez_compressed(folder / f"{name}.npz", **arrays)
    metadata, tensors = convert_hf_to_gguf.convert(model.config.to_dict(), state)
    mxfp4 = {key for key in tensors if name == "gpt_oss" and key.endswith("_exps.weight")}
    gguf_format.write(folder / f"{name}.gguf", metadata, tensors, mxfp4)
    print(f"| `{name}` | {seed} | {margin:.4f} | {len(set(greedy))} |", flush=True)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    for name in sys.argv[2:] or MODELS:
        make(name, folder)


if __name__ == "__main__":
    sys.exit(main())
