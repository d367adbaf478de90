#!/usr/bin/env python3
"""Writes a Hugging Face checkpoint of a family that Tenon knows as GGUF, every tensor in f32.

Names of keys and tensors, and what GGUF stores in another form (Llama's rows of Q and K,
GPT-NeoX's rows of Q, K and V, GPT-2's transposed matrices, Gemma's 1 + weight), are those of
llama.cpp's converter. Beyond it: a sliding window of Mistral, and Gemma 2's attention scale where
it is not that of the head size, which llama.cpp derives from the number of blocks. No tokeniser is
written.

Usage: convert_hf_to_gguf.py FOLDER OUT.gguf
       convert_hf_to_gguf.py --compare FOLDER MODEL.gguf
FOLDER holds config.json and model.safetensors. The second form converts in memory and says whether
every tensor of MODEL.gguf has the same shape and the same bytes.
"""
import json
import math
import re
import struct
import sys
from pathlib import Path

import numpy as np

import gguf_format

BLOCK = re.compile(r"(?:model|transformer|gpt_neox)\.(?:layers|h)\.(\d+)\.(.+)")
EXPERT = re.compile(r"\.(experts|norms)\.(\d+)\.")

LLAMA_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate_up_proj": "ffn_up",
}
GEMMA2_NAMES = LLAMA_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}
OLMO2_NAMES = LLAMA_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm",
}
GLM4_NAMES = LLAMA_NAMES | {
    "post_self_attn_layernorm": "post_attention_norm", "post_attention_layernorm": "ffn_norm",
    "post_mlp_layernorm": "post_ffw_norm",
}
FALCON_NAMES = {
    "transformer.word_embeddings": "token_embd", "transformer.ln_f": "output_norm",
    "lm_head": "output", "input_layernorm": "attn_norm", "ln_mlp": "attn_norm",
    "ln_attn": "attn_norm_2", "self_attention.query_key_value": "attn_qkv",
    "self_attention.dense": "attn_output", "mlp.dense_h_to_4h": "ffn_up",
    "mlp.dense_4h_to_h": "ffn_down",
}
STABLELM_NAMES = LLAMA_NAMES | {
    "self_attn.q_layernorm.norms": "attn_q_norm", "self_attn.k_layernorm.norms": "attn_k_norm",
}
STARCODER2_NAMES = LLAMA_NAMES | {"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
PHI_NAMES = LLAMA_NAMES | {
    "model.final_layernorm": "output_norm", "self_attn.dense": "attn_output",
    "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down",
}
MIXTRAL_NAMES = LLAMA_NAMES | {
    "block_sparse_moe.gate": "ffn_gate_inp", "block_sparse_moe.experts.w1": "ffn_gate_exps",
    "block_sparse_moe.experts.w3": "ffn_up_exps", "block_sparse_moe.experts.w2": "ffn_down_exps",
}
GPT_OSS_NAMES = LLAMA_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "mlp.router": "ffn_gate_inp",
    "self_attn.sinks": "attn_sinks",
}
QWEN_MOE_NAMES = LLAMA_NAMES | {
    "mlp.gate": "ffn_gate_inp", "mlp.experts.gate_proj": "ffn_gate_exps",
    "mlp.experts.up_proj": "ffn_up_exps", "mlp.experts.down_proj": "ffn_down_exps",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
}
GPT_NEOX_NAMES = {
    "gpt_neox.embed_in": "token_embd", "gpt_neox.final_layer_norm": "output_norm",
    "embed_out": "output", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down",
}
GPT2_NAMES = {
    "transformer.wte": "token_embd", "transformer.wpe": "position_embd",
    "transformer.ln_f": "output_norm", "lm_head": "output", "ln_1": "attn_norm",
    "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
}


def head_size(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def rope(config):
    """The rope parameters, in the form that transformers 5 gives them."""
    return config.get("rope_parameters") or {"rope_theta": config.get("rope_theta", 10000.0)}


def decoder_parameters(config):
    """The keys that the families of decoders share."""
    epsilon = next(config[key] for key in ("rms_norm_eps", "layer_norm_eps", "norm_epsilon")
                   if key in config)
    theta = rope(config).get("full_attention", rope(config))["rope_theta"]
    keys = {
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "block_count": config["num_hidden_layers"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
        f"attention.layer_norm_{'rms_' if 'rms_norm_eps' in config else ''}epsilon": epsilon,
        "rope.freq_base": float(theta),
    }
    if config.get("head_dim"):
        keys |= {"attention.key_length": config["head_dim"],
                 "attention.value_length": config["head_dim"]}
    return keys


def llama_parameters(config):
    keys = decoder_parameters(config) | {"rope.dimension_count": head_size(config)}
    if config.get("sliding_window"):
        keys["attention.sliding_window"] = config["sliding_window"]
    return keys


def mixtral_parameters(config):
    return llama_parameters(config) | {"expert_count": config["num_local_experts"],
                                       "expert_used_count": config["num_experts_per_tok"]}


def olmoe_parameters(config):
    return decoder_parameters(config) | {"expert_count": config["num_experts"],
                                         "expert_used_count": config["num_experts_per_tok"]}


def qwen_moe_parameters(config):
    """llama.cpp's converter leaves out whether weights are normalised, which its code fixes for each
    architecture."""
    keys = olmoe_parameters(config) | {
        "expert_feed_forward_length": config["moe_intermediate_size"]}
    if "shared_expert_intermediate_size" in config:
        keys["expert_shared_feed_forward_length"] = config["shared_expert_intermediate_size"]
    return keys


def gpt_oss_parameters(config):
    scaling = rope(config)
    return decoder_parameters(config) | {
        "expert_count": config["num_local_experts"],
        "expert_used_count": config["num_experts_per_tok"],
        "expert_feed_forward_length": config["intermediate_size"],
        "attention.sliding_window": config["sliding_window"],
        "rope.scaling.type": "yarn", "rope.scaling.factor": scaling["factor"],
        "rope.scaling.original_context_length": scaling["original_max_position_embeddings"],
    }


def gemma2_parameters(config):
    keys = decoder_parameters(config) | {
        "attention.sliding_window": config["sliding_window"],
        "attn_logit_softcapping": config["attn_logit_softcapping"],
        "final_logit_softcapping": config["final_logit_softcapping"],
    }
    if config["query_pre_attn_scalar"] != head_size(config):
        keys["attention.scale"] = config["query_pre_attn_scalar"] ** -0.5
    return keys


def gemma3_parameters(config):
    kinds = rope(config)
    return decoder_parameters(config) | {
        "attention.sliding_window": config["sliding_window"],
        "attention.scale": config["query_pre_attn_scalar"] ** -0.5,
        "rope.scaling.type": "linear", "rope.scaling.factor": kinds["full_attention"]["factor"],
        "rope.freq_base_swa": kinds["sliding_attention"]["rope_theta"],
    }


def partly_rotated_parameters(config):
    share = rope(config)["partial_rotary_factor"]
    keys = decoder_parameters(config) | {"rope.dimension_count": int(share * head_size(config))}
    if "use_parallel_residual" in config:
        keys["use_parallel_residual"] = config["use_parallel_residual"]
    return keys


def granite_parameters(config):
    return llama_parameters(config) | {
        "embedding_scale": config["embedding_multiplier"],
        "residual_scale": config["residual_multiplier"],
        "attention.scale": config["attention_multiplier"],
        "logit_scale": config["logits_scaling"],
    }


def cohere_parameters(config):
    return llama_parameters(config) | {"logit_scale": config["logit_scale"]}


def falcon_kv_heads(config):
    return config["num_kv_heads"] if config["new_decoder_architecture"] else 1


def falcon_parameters(config):
    return {
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"], "block_count": config["num_hidden_layers"],
        "feed_forward_length": config["ffn_hidden_size"], "tensor_data_layout": "jploski",
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": falcon_kv_heads(config),
        "attention.layer_norm_epsilon": config["layer_norm_epsilon"],
    }


def ministral3_parameters(config):
    scaling = rope(config)
    return llama_parameters(config) | {
        "rope.scaling.type": "yarn", "rope.scaling.factor": scaling["factor"],
        "rope.scaling.original_context_length": scaling["original_max_position_embeddings"],
        "rope.scaling.yarn_log_multiplier": scaling["mscale_all_dim"],
        "attention.temperature_scale": scaling["llama_4_scaling_beta"],
    }


def phi3_rotary_size(config):
    share = rope(config).get("partial_rotary_factor", 1.0)
    return int(share * config["hidden_size"]) // config["num_attention_heads"]


def phi3_parameters(config):
    original = config["original_max_position_embeddings"]
    keys = decoder_parameters(config) | {
        "rope.dimension_count": phi3_rotary_size(config),
        "rope.scaling.original_context_length": original,
        "attention.sliding_window": config.get("sliding_window") or 0,
    }
    scale = config["max_position_embeddings"] / original
    if "long_factor" in rope(config):
        keys["rope.scaling.attn_factor"] = (
            math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0)
    return keys


def phi3_extra_tensors(config):
    return {f"rope_factors_{kind}.weight": np.array(rope(config)[f"{kind}_factor"], np.float32)
            for kind in ("long", "short") if f"{kind}_factor" in rope(config)}


def gpt_neox_parameters(config):
    size = config["hidden_size"] // config["num_attention_heads"]
    return {
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "block_count": config["num_hidden_layers"],
        "feed_forward_length": config["intermediate_size"],
        "rope.dimension_count": int(size * config["rotary_pct"]),
        "attention.head_count": config["num_attention_heads"],
        "use_parallel_residual": config["use_parallel_residual"],
        "attention.layer_norm_epsilon": config["layer_norm_eps"],
    }


def gpt2_parameters(config):
    return {
        "context_length": config["n_positions"],
        "embedding_length": config["n_embd"],
        "block_count": config["n_layer"],
        "feed_forward_length": config.get("n_inner") or 4 * config["n_embd"],
        "attention.head_count": config["n_head"],
        "attention.layer_norm_epsilon": config["layer_norm_epsilon"],
    }


def unchanged(name, tensor, config):
    return tensor


def pair_rows(name, tensor, config):
    """Moves the two halves of each head of Q and K so that rotated pairs are adjacent."""
    if not re.search(r"attn_[qk]\.", name):
        return tensor
    key = "num_attention_heads" if "attn_q" in name else "num_key_value_heads"
    heads = tensor.reshape(config[key], 2, -1, *tensor.shape[1:])
    return heads.swapaxes(1, 2).reshape(tensor.shape)


def group_rows(name, tensor, config):
    """[heads, (q, k, v), size] of GPT-NeoX to [(q, k, v), heads, size]."""
    if "attn_qkv" not in name:
        return tensor
    heads = tensor.reshape(config["num_attention_heads"], 3, -1, *tensor.shape[1:])
    return heads.swapaxes(0, 1).reshape(tensor.shape)


def group_kv_rows(name, tensor, config):
    """[KV heads, (queries, k, v), size] of Falcon to all queries, keys and values."""
    if "attn_qkv" not in name:
        return tensor
    groups, size = falcon_kv_heads(config), config["hidden_size"] // config["num_attention_heads"]
    heads = tensor.reshape(groups, -1, size, *tensor.shape[1:])
    parts = heads[:, :-2], heads[:, -2], heads[:, -1]
    return np.concatenate([part.reshape(-1, *tensor.shape[1:]) for part in parts])


def transpose_matrices(name, tensor, config):
    """GPT-2 stores [inputs, outputs]; its two embeddings are tables as everywhere."""
    return tensor.T if tensor.ndim == 2 and "embd" not in name and name[:3] == "blk" else tensor


def flatten_shared_gate(name, tensor, config):
    """The one row of the gate of Qwen's shared expert is a vector."""
    return tensor.reshape(-1) if "ffn_gate_inp_shexp" in name else tensor


def add_one_to_norms(name, tensor, config):
    return tensor + np.float32(1) if "norm" in name else tensor


def no_tensors(config):
    return {}


# model_type: architecture in GGUF, names, metadata, change of a tensor, tensors made of the config.
FAMILIES = {
    "llama": ("llama", LLAMA_NAMES, llama_parameters, pair_rows, no_tensors),
    "mistral": ("llama", LLAMA_NAMES, llama_parameters, pair_rows, no_tensors),
    "mixtral": ("llama", MIXTRAL_NAMES, mixtral_parameters, pair_rows, no_tensors),
    "olmoe": ("olmoe", QWEN_MOE_NAMES, olmoe_parameters, unchanged, no_tensors),
    "qwen2": ("qwen2", LLAMA_NAMES, decoder_parameters, unchanged, no_tensors),
    "qwen3": ("qwen3", LLAMA_NAMES, decoder_parameters, unchanged, no_tensors),
    "gpt_oss": ("gpt-oss", GPT_OSS_NAMES, gpt_oss_parameters, unchanged, no_tensors),
    "qwen2_moe": ("qwen2moe", QWEN_MOE_NAMES, qwen_moe_parameters, flatten_shared_gate, no_tensors),
    "qwen3_moe": ("qwen3moe", QWEN_MOE_NAMES, qwen_moe_parameters, unchanged, no_tensors),
    "phi3": ("phi3", LLAMA_NAMES, phi3_parameters, unchanged, phi3_extra_tensors),
    "gemma": ("gemma", LLAMA_NAMES, decoder_parameters, add_one_to_norms, no_tensors),
    "gemma2": ("gemma2", GEMMA2_NAMES, gemma2_parameters, add_one_to_norms, no_tensors),
    "gemma3_text": ("gemma3", GEMMA2_NAMES, gemma3_parameters, add_one_to_norms, no_tensors),
    "phi": ("phi2", PHI_NAMES, partly_rotated_parameters, unchanged, no_tensors),
    "starcoder2": ("starcoder2", STARCODER2_NAMES, llama_parameters, unchanged, no_tensors),
    "glm4": ("glm4", GLM4_NAMES, partly_rotated_parameters, unchanged, no_tensors),
    "falcon": ("falcon", FALCON_NAMES, falcon_parameters, group_kv_rows, no_tensors),
    "ministral3": ("mistral3", LLAMA_NAMES, ministral3_parameters, pair_rows, no_tensors),
    "stablelm": ("stablelm", STABLELM_NAMES, partly_rotated_parameters, unchanged, no_tensors),
    "olmo2": ("olmo2", OLMO2_NAMES, decoder_parameters, unchanged, no_tensors),
    "granite": ("granite", LLAMA_NAMES, granite_parameters, pair_rows, no_tensors),
    "cohere": ("command-r", LLAMA_NAMES, cohere_parameters, unchanged, no_tensors),
    "smollm3": ("smollm3", LLAMA_NAMES, llama_parameters, pair_rows, no_tensors),
    "gpt2": ("gpt2", GPT2_NAMES, gpt2_parameters, transpose_matrices, no_tensors),
    "gpt_neox": ("gptneox", GPT_NEOX_NAMES, gpt_neox_parameters, group_rows, no_tensors),
}


def join_experts(tensors):
    """The tensors with those of single experts, `experts.N.`, and of norms of single heads, `norms.N.`,
    joined along a new first axis."""
    joined = {}
    for name, tensor in tensors.items():
        expert = EXPERT.search(name)
        if expert:
            parts = joined.setdefault(EXPERT.sub(r".\1.", name), {})
            parts[int(expert[2])] = tensor
        else:
            joined[name] = tensor
    return {name: np.stack([value[i] for i in range(len(value))]) if isinstance(value, dict) else value
            for name, value in joined.items()}


def split_gpt_oss_experts(tensors):
    """Those of gpt-oss's experts as GGUF has them: rows of gate and up alternate, matrices lie the other
    way round, names end in `proj` and `proj_bias`."""
    split = {}
    for name, tensor in tensors.items():
        if name.endswith(".sinks"):
            name += ".weight"
        if ".mlp.experts." not in name:
            split[name] = tensor
            continue
        begin, stem = name.split("mlp.experts.")
        kind = "bias" if stem.endswith("_bias") else "weight"
        if kind == "weight":
            tensor = tensor.swapaxes(1, 2)
        parts = ({"gate": tensor[:, ::2], "up": tensor[:, 1::2]} if stem.startswith("gate_up")
                 else {"down": tensor})
        for part, rows in parts.items():
            layer = BLOCK.fullmatch(begin + "x")[1]
            split[f"blk.{layer}.ffn_{part}_exps.{kind}"] = rows
    return split


def convert(config, tensors):
    """Metadata and tensors in GGUF's form, of a config and a state dictionary of f32 arrays."""
    architecture, names, parameters, change, extra = FAMILIES[config["model_type"]]
    metadata = {"general.architecture": architecture, "general.file_type": 0}
    metadata |= {f"{architecture}.{key}": value for key, value in parameters(config).items()}
    converted = extra(config)
    if config["model_type"] == "gpt_oss":
        tensors = split_gpt_oss_experts(tensors)
    for name, tensor in join_experts(tensors).items():
        if name.startswith("blk."):
            converted[name] = tensor
            continue
        if name == "lm_head.weight" and config.get("tie_word_embeddings"):
            continue
        stem, suffix = name.rsplit(".", 1)
        if block := BLOCK.fullmatch(stem):
            name = f"blk.{block[1]}.{names[block[2]]}.{suffix}"
        else:
            name = f"{names[stem]}.{suffix}"
        converted[name] = change(name, tensor, config)
    return metadata, converted


def read_safetensors(path):
    """The f32 tensors of a file: an 8-byte length, a JSON table, the data."""
    data = Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    table = json.loads(data[8:8 + length])
    table.pop("__metadata__", None)
    tensors = {}
    for name, row in table.items():
        if row["dtype"] != "F32":
            raise ValueError(f"{path}: tensor '{name}' expects F32, but got {row['dtype']}")
        begin, end = (8 + length + offset for offset in row["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(row["shape"])
    return tensors


def differences(expected, found):
    """Yields a sentence for every tensor that is not in both or not the same."""
    for name in sorted(expected.keys() | found.keys()):
        if name not in expected or name not in found:
            yield f"'{name}' is in one of the two only"
        elif expected[name].shape != found[name].shape:
            yield f"'{name}' expects {expected[name].shape}, but got {found[name].shape}"
        elif expected[name].tobytes() != np.ascontiguousarray(found[name]).tobytes():
            yield f"'{name}' has other bytes"


def main():
    folder, model = Path(sys.argv[-2]), sys.argv[-1]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    metadata, tensors = convert(config, read_safetensors(folder / "model.safetensors"))
    if sys.argv[1] != "--compare":
        gguf_format.write(model, metadata, tensors)
        return 0
    _, expected = gguf_format.read(model)
    found = list(differences(expected, tensors))
    for difference in found:
        print(f"{model}: {difference}")
    print(f"{model}: {len(expected)} tensors, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
