#!/usr/bin/env python3
"""Makes tiny random encoders with Hugging Face transformers, and what they make of a text.

For each entry of MODELS, OUT/NAME.gguf holds the model with a small WordPiece vocabulary, and
OUT/NAME.npz what it gives for TEXT, run in float64 with eager attention:
  ids            i32 [tokens]          those of the text, with [CLS] and [SEP]
  embedding      f32 [hidden]          the pooled vector
  blk.N.output   f32 [tokens, hidden]  the hidden state behind block N
CONFIGS/NAME.json is the config.json. Needs torch, transformers and tokenizers.

Usage: make_encoder_goldens.py OUT CONFIGS
"""
import json
import string
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import BertWordPieceTokenizer

import gguf_format

TEXT = "The Quick brown foxes, jumped!"
WORDS = ["the", "quick", "brown", "fox", "jump", "##es", "##ed", ",", "!", "."]
SIZES = {"hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 40, "layer_norm_eps": 1e-5,
         "type_vocab_size": 2}
MEAN, FIRST = 1, 2
# Model type: configuration, pooling.
MODELS = {
    "bert": (SIZES, FIRST),
    "nomic_bert": (SIZES | {"rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}}, MEAN),
}
BERT_NAMES = {
    "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q", "attention.self.key": "attn_k",
    "attention.self.value": "attn_v", "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
NOMIC_NAMES = BERT_NAMES | {
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "attn_output_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "post_mlp_layernorm": "layer_output_norm",
}


def vocabulary():
    letters = list(string.ascii_lowercase)
    return (["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS + letters
            + ["##" + letter for letter in letters])


def randomise(model):
    generator = torch.Generator().manual_seed(0)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        if name.endswith(".bias"):
            value = 0.3 * noise
        elif parameter.ndim == 1:
            value = 1 + 0.25 * noise
        else:
            value = (0.5 if "embeddings" in name else 1.5 / parameter.shape[1] ** 0.5) * noise
        parameter.data.copy_(value)


def convert(name, model, pooling):
    """Metadata and tensors in GGUF's form."""
    config, architecture = model.config, name.replace("_", "-")
    tokens = vocabulary()
    metadata = {"general.architecture": architecture, "general.file_type": 0}
    keys = {
        "context_length": config.max_position_embeddings, "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers, "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.layer_norm_epsilon": config.layer_norm_eps, "attention.causal": False,
        "pooling_type": pooling,
    }
    if name == "nomic_bert":
        keys["rope.freq_base"] = 1000.0
    metadata |= {f"{architecture}.{key}": value for key, value in keys.items()}
    metadata |= {
        "tokenizer.ggml.token_type_count": 2, "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "jina-v2-en",
        "tokenizer.ggml.tokens": [
            token if token[0] == "[" else token[2:] if token[:2] == "##" else "\u2581" + token
            for token in tokens],
        "tokenizer.ggml.token_type": [3 if token[0] == "[" else 1 for token in tokens],
        "tokenizer.ggml.bos_token_id": tokens.index("[CLS]"),
        "tokenizer.ggml.seperator_token_id": tokens.index("[SEP]"),
        "tokenizer.ggml.unknown_token_id": tokens.index("[UNK]"),
    }
    names, tensors = BERT_NAMES if name == "bert" else NOMIC_NAMES, {}
    state = {key: tensor.detach().numpy() for key, tensor in model.named_parameters()}
    for key, tensor in state.items():
        stem, suffix = key.rsplit(".", 1)
        begin = ""
        for blocks in ("encoder.layer.", "layers."):
            if stem.startswith(blocks):
                number, stem = stem[len(blocks):].split(".", 1)
                begin = f"blk.{number}."
        if stem == "pooler.dense" or ".k_proj" in stem or ".v_proj" in stem:
            continue
        if ".q_proj" in stem:
            tensor = np.concatenate([state[key.replace("q_proj", f"{part}_proj")] for part in "qkv"])
            tensors[f"{begin}attn_qkv.{suffix}"] = tensor
            continue
        tensors[f"{begin}{names[stem]}.{suffix}"] = tensor
    return metadata, tensors


def make(name, folder, configs):
    configuration, pooling = MODELS[name]
    tokens = vocabulary()
    config = transformers.AutoConfig.for_model(name, vocab_size=len(tokens), **configuration)
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    randomise(model.to(torch.float32))
    gguf_format.write(folder / f"{name}.gguf", *convert(name, model, pooling))
    tokenizer = BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)})
    ids = tokenizer.encode(TEXT).ids
    outputs = []
    layers = model.encoder.layer if name == "bert" else model.layers
    for layer in layers:
        layer.register_forward_hook(lambda module, inputs, output: outputs.append(
            (output[0] if isinstance(output, tuple) else output)[0]))
    with torch.no_grad():
        last = model.to(torch.float64)(input_ids=torch.tensor([ids])).last_hidden_state[0]
    pooled = last[0] if pooling == FIRST else last.mean(dim=0)
    arrays = {f"blk.{i}.output": output for i, output in enumerate(outputs)} | {"embedding": pooled}
    np.savez_compressed(folder / f"{name}.npz", ids=np.array(ids, np.int32),
                        **{key: value.numpy().astype(np.float32) for key, value in arrays.items()})
    kept = {key: value for key, value in config.to_dict().items()
            if key not in ("architectures", "dtype", "id2label", "label2id", "output_attentions",
                           "output_hidden_states", "problem_type", "return_dict",
                           "chunk_size_feed_forward", "is_encoder_decoder", "_name_or_path")}
    (configs / f"{name}.json").write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n",
                                          encoding="utf-8")
    print(f"{name}: {len(ids)} tokens", flush=True)


def main():
    for name in MODELS:
        make(name, Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())
