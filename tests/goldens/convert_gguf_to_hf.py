#!/usr/bin/env python3
"""Writes a model of this repository as a Hugging Face folder: the inverse of convert_hf_to_gguf.py,
for tests of the other form of the same model. Needs Python alone.

Usage: convert_gguf_to_hf.py CONFIG MODEL.gguf FOLDER [--shards N] [--type F32|F16|BF16] [--mxfp4]
       [--tokenizer]
CONFIG is the model's config.json (tests/data/hf). --shards spreads the tensors over N files with an
index; --type rounds all of them to another type; --mxfp4 keeps gpt-oss's experts in blocks, as its
published folders do; --tokenizer writes the SentencePiece vocabulary as
tokenizer.json, as transformers converts one: merges by the scores of what they give.
"""
import argparse
import json
import math
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools/tenon"))
from gguf_edit import Gguf

GGUF_F32, GGUF_MXFP4 = 0, 39
MXFP4_BYTES, MXFP4_BLOCK = 17, 32
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]

LLAMA_NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_qkv": "self_attn.qkv_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}
MIXTRAL_NAMES = LLAMA_NAMES | {
    "ffn_gate_inp": "block_sparse_moe.gate", "ffn_gate_exps": "block_sparse_moe.experts.#.w1",
    "ffn_up_exps": "block_sparse_moe.experts.#.w3",
    "ffn_down_exps": "block_sparse_moe.experts.#.w2",
}
GPT_OSS_NAMES = LLAMA_NAMES | {
    "post_attention_norm": "post_attention_layernorm", "ffn_gate_inp": "mlp.router",
    "attn_sinks": "self_attn.sinks",
}
QWEN_MOE_NAMES = LLAMA_NAMES | {
    "ffn_gate_inp": "mlp.gate", "ffn_gate_exps": "mlp.experts.#.gate_proj",
    "ffn_up_exps": "mlp.experts.#.up_proj", "ffn_down_exps": "mlp.experts.#.down_proj",
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
    "ffn_gate_shexp": "mlp.shared_expert.gate_proj", "ffn_up_shexp": "mlp.shared_expert.up_proj",
    "ffn_down_shexp": "mlp.shared_expert.down_proj",
}
GEMMA2_NAMES = LLAMA_NAMES | {
    "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
GPT_NEOX_NAMES = {
    "token_embd": "gpt_neox.embed_in", "output_norm": "gpt_neox.final_layer_norm",
    "output": "embed_out", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_qkv": "attention.query_key_value", "attn_output": "attention.dense",
    "ffn_up": "mlp.dense_h_to_4h", "ffn_down": "mlp.dense_4h_to_h",
}
BLOOM_NAMES = {
    "token_embd": "transformer.word_embeddings", "output_norm": "transformer.ln_f",
    "token_embd_norm": "transformer.word_embeddings_layernorm", "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm", "attn_qkv": "self_attention.query_key_value",
    "attn_output": "self_attention.dense", "ffn_up": "mlp.dense_h_to_4h",
    "ffn_down": "mlp.dense_4h_to_h",
}
GPT2_NAMES = {
    "token_embd": "transformer.wte", "position_embd": "transformer.wpe",
    "output_norm": "transformer.ln_f", "output": "lm_head", "attn_norm": "ln_1",
    "ffn_norm": "ln_2", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj",
    "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj",
}
OLMO2_NAMES = LLAMA_NAMES | {
    "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
}
PHI_NAMES = LLAMA_NAMES | {
    "output_norm": "model.final_layernorm", "attn_output": "self_attn.dense",
    "ffn_up": "mlp.fc1", "ffn_down": "mlp.fc2",
}
BERT_NAMES = {
    "token_embd": "embeddings.word_embeddings", "position_embd": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings", "token_embd_norm": "embeddings.LayerNorm",
    "attn_q": "attention.self.query", "attn_k": "attention.self.key",
    "attn_v": "attention.self.value", "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm", "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense", "layer_output_norm": "output.LayerNorm",
}
NOMIC_BERT_NAMES = BERT_NAMES | {
    "token_embd_norm": "emb_ln", "attn_qkv": "attn.Wqkv", "attn_output": "attn.out_proj",
    "attn_output_norm": "norm1", "ffn_up": "mlp.fc11", "ffn_gate": "mlp.fc12",
    "ffn_down": "mlp.fc2", "layer_output_norm": "norm2",
}
GLM4_NAMES = LLAMA_NAMES | {
    "post_attention_norm": "post_self_attn_layernorm", "ffn_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_mlp_layernorm", "ffn_up": "mlp.gate_up_proj",
}
FALCON_NAMES = {
    "token_embd": "transformer.word_embeddings", "output_norm": "transformer.ln_f",
    "output": "lm_head", "attn_norm": "input_layernorm", "attn_norm_2": "ln_attn",
    "attn_qkv": "self_attention.query_key_value", "attn_output": "self_attention.dense",
    "ffn_up": "mlp.dense_h_to_4h", "ffn_down": "mlp.dense_4h_to_h",
}
STABLELM_NAMES = LLAMA_NAMES | {
    "attn_q_norm": "self_attn.q_layernorm.norms.#", "attn_k_norm": "self_attn.k_layernorm.norms.#",
}
# model_type: names, what blocks begin with.
FAMILIES = {
    "llama": (LLAMA_NAMES, "model.layers."), "mistral": (LLAMA_NAMES, "model.layers."),
    "qwen2": (LLAMA_NAMES, "model.layers."), "qwen3": (LLAMA_NAMES, "model.layers."),
    "mixtral": (MIXTRAL_NAMES, "model.layers."), "olmoe": (QWEN_MOE_NAMES, "model.layers."),
    "bert": (BERT_NAMES, "encoder.layer."), "nomic_bert": (NOMIC_BERT_NAMES, "encoder.layers."),
    "glm4": (GLM4_NAMES, "model.layers."), "falcon": (FALCON_NAMES, "transformer.h."),
    "ministral3": (LLAMA_NAMES, "model.layers."),
    "gpt_oss": (GPT_OSS_NAMES, "model.layers."),
    "qwen2_moe": (QWEN_MOE_NAMES, "model.layers."), "qwen3_moe": (QWEN_MOE_NAMES, "model.layers."),
    "phi3": (LLAMA_NAMES | {"ffn_up": "mlp.gate_up_proj"}, "model.layers."),
    "gemma2": (GEMMA2_NAMES, "model.layers."), "gpt_neox": (GPT_NEOX_NAMES, "gpt_neox.layers."),
    "gpt2": (GPT2_NAMES, "transformer.h."), "bloom": (BLOOM_NAMES, "transformer.h."),
    "gemma": (LLAMA_NAMES, "model.layers."), "gemma3_text": (GEMMA2_NAMES, "model.layers."),
    "granite": (LLAMA_NAMES, "model.layers."), "smollm3": (LLAMA_NAMES, "model.layers."),
    "cohere": (LLAMA_NAMES, "model.layers."), "stablelm": (STABLELM_NAMES, "model.layers."),
    "olmo2": (OLMO2_NAMES, "model.layers."), "phi": (PHI_NAMES, "model.layers."),
    "starcoder2": (LLAMA_NAMES | {"ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, "model.layers."),
}


def regroup(values, *axes):
    """The elements of [axes[0], axes[1], rest] with the first two axes exchanged."""
    rest = len(values) // (axes[0] * axes[1])
    return [value for second in range(axes[1]) for first in range(axes[0])
            for value in values[(first * axes[1] + second) * rest:][:rest]]


def group_kv_heads(values, config):
    """All queries, keys and values to those of each KV head."""
    heads = config["num_attention_heads"]
    groups = config["num_kv_heads"] if config["new_decoder_architecture"] else 1
    parts = cut(values, len(values) // (heads + 2 * groups))
    queries, keys, rest = parts[:heads], parts[heads:heads + groups], parts[heads + groups:]
    share = heads // groups
    return [value for group in range(groups)
            for part in queries[group * share:][:share] + [keys[group], rest[group]]
            for value in part]


def change(kind, name, shape, values, config):
    """The tensor in the form that Hugging Face's files have."""
    if kind in ("llama", "mistral", "mixtral", "granite", "smollm3", "ministral3") and name in ("attn_q", "attn_k"):
        heads = config["num_attention_heads" if name == "attn_q" else "num_key_value_heads"]
        part = len(values) // heads
        pairs = shape[0] // heads // 2
        values = [value for head in range(heads)
                  for value in regroup(values[head * part:(head + 1) * part], pairs, 2)]
    if name == "ffn_gate_inp_shexp":
        shape = [1] + list(shape)
    if kind in ("gpt_neox", "bloom") and name == "attn_qkv":
        heads = config["num_attention_heads" if kind == "gpt_neox" else "n_head"]
        values = regroup(values, 3, heads)
    if kind == "falcon" and name == "attn_qkv":
        values = group_kv_heads(values, config)
    if kind == "gpt2" and len(shape) == 2 and name not in ("token_embd", "position_embd"):
        values, shape = regroup(values, *shape), shape[::-1]
    if kind.startswith("gemma") and "norm" in name:
        values = [value - 1 for value in values]
    return shape, values


def encode(values, kind):
    """Little-endian bytes of a safetensors type, rounded to nearest-even."""
    if kind != "BF16":
        return struct.pack(f"<{len(values)}{'f' if kind == 'F32' else 'e'}", *values)
    bits = struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values))
    return struct.pack(f"<{len(values)}H",
                       *((word + 0x7FFF + (word >> 16 & 1)) >> 16 for word in bits))


def mxfp4_blocks(data, blocks):
    """The codes and the exponent of each of ggml's blocks; value i lies in the low half of byte i, value
    i + 16 in the high half."""
    for at in range(0, blocks * MXFP4_BYTES, MXFP4_BYTES):
        packed = data[at + 1:at + MXFP4_BYTES]
        yield [byte & 15 for byte in packed] + [byte >> 4 for byte in packed], data[at]


def decode_mxfp4(data, blocks):
    return [math.ldexp(E2M1[code], exponent - 127)
            for codes, exponent in mxfp4_blocks(data, blocks) for code in codes]


def interleave(even, odd, experts):
    """Lists of equal length: the rows of each expert alternate."""
    rows = len(even) // experts
    return [row for expert in range(experts)
            for pair in zip(even[expert * rows:][:rows], odd[expert * rows:][:rows]) for row in pair]


def cut(values, length):
    return [values[at:at + length] for at in range(0, len(values), length)]


def gpt_oss_experts(config, model, blocks, keeps_blocks):
    """The tensors of experts: rows of gate and up alternate; matrices lie the other way round, but for
    blocks, in which values lie in pairs."""
    own = {name: (ne[::-1], data) for name, ne, _, data in model.tensors if "_exps." in name}
    tensors, experts = {}, config["num_local_experts"]
    for layer in range(config["num_hidden_layers"]):
        for stored, parts in (("gate_up_proj", ("gate", "up")), ("down_proj", ("down",))):
            begin = f"{blocks}{layer}.mlp.experts.{stored}"
            biases, codes, scales, rows = [], [], [], []
            for part in parts:
                shape, data = own[f"blk.{layer}.ffn_{part}_exps.bias"]
                biases.append(cut(list(struct.unpack_from(f"<{math.prod(shape)}f", data)), 1))
                shape, data = own[f"blk.{layer}.ffn_{part}_exps.weight"]
                outputs, inputs = shape[1:]
                count = math.prod(shape) // MXFP4_BLOCK
                found = list(mxfp4_blocks(data, count))
                in_row = inputs // MXFP4_BLOCK
                codes.append(cut([bytes(a | b << 4 for a, b in cut(block, 2)) for block, _ in found],
                                 in_row))
                scales.append(cut([exponent for _, exponent in found], in_row))
                rows.append(cut(decode_mxfp4(data, count), inputs))
            joined = [interleave(*lists, experts) if len(parts) == 2 else lists[0]
                      for lists in (biases, codes, scales, rows)]
            outputs *= len(parts)
            tensors[begin + "_bias"] = ([experts, outputs], [x for row in joined[0] for x in row])
            if keeps_blocks:
                tensors[begin + "_blocks"] = ([experts, outputs, in_row, MXFP4_BLOCK // 2],
                                              b"".join(b"".join(row) for row in joined[1]))
                tensors[begin + "_scales"] = ([experts, outputs, in_row],
                                              bytes(x for row in joined[2] for x in row))
                continue
            turned = [row[i] for expert in cut(joined[3], outputs) for i in range(inputs)
                      for row in expert]
            tensors[begin] = ([experts, inputs, outputs], turned)
    return tensors


def convert(config, model, kind, keeps_blocks=False):
    """name: (shape, bytes) of all tensors but those that config.json has as numbers."""
    names, blocks = FAMILIES[config["model_type"]]
    tensors = {}
    if config["model_type"] == "gpt_oss":
        for name, (shape, values) in gpt_oss_experts(config, model, blocks, keeps_blocks).items():
            tensors[name] = (shape, values if isinstance(values, bytes) else encode(values, kind))
    for name, ne, gguf_type, data in model.tensors:
        if "_exps." in name and config["model_type"] == "gpt_oss":
            continue
        if gguf_type != GGUF_F32:
            raise ValueError(f"tensor '{name}' expects f32, but got type {gguf_type}")
        if name.startswith("rope_"):
            continue
        stem, suffix = name.rsplit(".", 1)
        begin = ""
        if stem.startswith("blk."):
            _, block, stem = stem.split(".", 2)
            begin = f"{blocks}{block}."
        shape = ne[::-1]
        count = math.prod(shape)
        shape, values = change(config["model_type"], stem, shape,
                               list(struct.unpack_from(f"<{count}f", data)), config)
        # Experts have tensors of their own; other names have no #.
        parts = shape[0] if "#" in names[stem] else 1
        part = len(values) // parts
        for i in range(parts):
            stored = f"{begin}{names[stem]}.{suffix}".replace("#", str(i))
            if config.get("new_decoder_architecture"):  # of Falcon 40B
                stored = stored.replace("input_layernorm", "ln_mlp")
            stored = stored.removesuffix(".weight") if stem == "attn_sinks" else stored
            tensors[stored] = (shape[1:] if "#" in names[stem] else shape,
                               encode(values[i * part:(i + 1) * part], kind))
    return tensors


def write_safetensors(path, tensors, kind):
    table, body = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, data) in tensors.items():
        dtype = "U8" if name.endswith(("_blocks", "_scales")) else kind
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    header = json.dumps(table).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + body)


def strings(data):
    """The elements of an array of strings: a type, an element type and a count lie before them."""
    count, = struct.unpack_from("<Q", data, 8)
    found, at = [], 16
    for _ in range(count):
        length, = struct.unpack_from("<Q", data, at)
        found.append(data[at + 8:at + 8 + length].decode())
        at += 8 + length
    return found


def make_tokenizer(model):
    """tokenizer.json of a SentencePiece vocabulary whose first tokens are <unk>, <s> and </s>."""
    tokens = strings(model.keys["tokenizer.ggml.tokens"])
    scores = struct.unpack_from(f"<{len(tokens)}f", model.keys["tokenizer.ggml.scores"], 16)
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, i in ids.items():
        parts = [(ids[token[:at]], ids[token[at:]]) for at in range(1, len(token))
                 if token[:at] in ids and token[at:] in ids]
        merges += [(-scores[i], left, right) for left, right in sorted(parts)]
    merges.sort(key=lambda merge: merge[0])
    space = "\u2581"
    special = [{"id": i, "content": tokens[i], "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True} for i in range(3)]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": space},
            {"type": "Replace", "pattern": {"String": " "}, "content": space}]},
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                     {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": space}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "fuse_unk": True,
                  "byte_fallback": True, "vocab": ids,
                  "merges": [[tokens[left], tokens[right]] for _, left, right in merges]},
    }


def make_word_pieces(model):
    """tokenizer.json of a WordPiece vocabulary, as BERT's."""
    tokens = [token[1:] if token[0] == "\u2581" else token if token[0] == "[" else "##" + token
              for token in strings(model.keys["tokenizer.ggml.tokens"])]
    ids = {token: i for i, token in enumerate(tokens)}
    special = [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True} for token, i in ids.items() if token[0] == "["]
    parts = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": parts, "pair": parts,
            "special_tokens": {token: {"id": token, "ids": [ids[token]], "tokens": [token]}
                               for token in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids},
    }


def write_encoder(folder, model, kind):
    """What sentence-transformers writes beside an encoder."""
    pooling, = struct.unpack_from("<I", model.keys[f"{kind}.pooling_type"], 4)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling/config.json").write_text(json.dumps({
        "word_embedding_dimension": 48, "pooling_mode_cls_token": pooling == 2,
        "pooling_mode_mean_tokens": pooling == 1, "pooling_mode_max_tokens": False}))
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps([
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
        for i, (path, name) in enumerate(modules)]))
    (folder / "tokenizer.json").write_text(json.dumps(make_word_pieces(model)), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--type", default="F32", choices=["F32", "F16", "BF16"])
    parser.add_argument("--mxfp4", action="store_true")
    parser.add_argument("--tokenizer", action="store_true")
    options = parser.parse_args()
    config = json.loads(options.config.read_text(encoding="utf-8"))
    model = Gguf(options.model)
    tensors = convert(config, model, options.type, options.mxfp4)
    if options.mxfp4:
        config["quantization_config"] = {
            "quant_method": "mxfp4", "modules_to_not_convert": [
                "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
                "lm_head"]}
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.tokenizer:
        (options.folder / "tokenizer.json").write_text(json.dumps(make_tokenizer(model)),
                                                       encoding="utf-8")
    if config["model_type"].endswith("bert"):
        write_encoder(options.folder, model, config["model_type"].replace("_", "-"))
    (options.folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    if options.shards == 1:
        write_safetensors(options.folder / "model.safetensors", tensors, options.type)
        return
    names, index = list(tensors), {}
    for shard in range(options.shards):
        file = f"model-{shard + 1:05}-of-{options.shards:05}.safetensors"
        part = {name: tensors[name] for name in names[shard::options.shards]}
        write_safetensors(options.folder / file, part, options.type)
        index |= dict.fromkeys(part, file)
    (options.folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": index}), encoding="utf-8")


if __name__ == "__main__":
    main()
