#!/usr/bin/env python3
"""Makes tiny random models of texts and images with Hugging Face transformers, and what they compute of
texts.

For each entry of MODELS, OUT/nested/NAME is the folder as transformers saves it, with an encoder of images, and
OUT/goldens/NAME.npz what make_goldens.py keeps of the model's run on ids alone, in float64, with the seed chosen
as there. Needs torch and transformers; prints the seeds.

Usage: make_nested_goldens.py OUT [NAME ...]
"""
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

import make_goldens

SIZES = {"vocab_size": 128, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 128,
         "head_dim": 16, "rms_norm_eps": 1e-5}
IMAGES = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
          "image_size": 16, "patch_size": 8}
# Where the size of a head follows.
SIZES_OF_HEADS = {key: value for key, value in SIZES.items() if key != "head_dim"}
QWEN_IMAGES = {"depth": 1, "num_heads": 1, "out_hidden_size": 32, "num_position_embeddings": 4,
               "deepstack_visual_indexes": [0]}
PROMPT = [1, 77, 12, 103, 77, 5, 40, 31, 50, 9, 66, 81, 3, 118, 77, 12]

YARN = make_goldens.MODELS["ministral3"][0]["rope_parameters"]
# Name: model type, the text model's configuration, that of images, the others.
MODELS = {
    "mistral3": ("mistral3", SIZES | {"model_type": "ministral3", "rope_parameters": YARN},
                 {"model_type": "pixtral"}, {"tie_word_embeddings": False}),
    "mistral3_tied": ("mistral3", SIZES | {"model_type": "mistral", "sliding_window": 8},
                      {"model_type": "pixtral"}, {"tie_word_embeddings": True}),
    "gemma3": ("gemma3", SIZES | {"model_type": "gemma3_text", "num_hidden_layers": 6,
                                  "query_pre_attn_scalar": 40, "sliding_window": 8},
               {"model_type": "siglip_vision_model"}, {"mm_tokens_per_image": 1}),
    "internvl": ("internvl", SIZES | {"model_type": "qwen3"},
                 {"model_type": "internvl_vision", "image_size": [16, 16], "patch_size": [8, 8]},
                 {"tie_word_embeddings": True}),
    "internvl_qwen2": ("internvl", SIZES_OF_HEADS | {"model_type": "qwen2"},
                       {"model_type": "internvl_vision", "image_size": [16, 16],
                        "patch_size": [8, 8]}, {"tie_word_embeddings": False}),
    "llava_next": ("llava_next", SIZES | {"model_type": "mistral", "sliding_window": 8},
                   {"model_type": "clip_vision_model"}, {}),
    "qwen3_vl": ("qwen3_vl", SIZES | {"model_type": "qwen3_vl_text", "rope_parameters": {
        "rope_type": "default", "rope_theta": 10000.0, "mrope_interleaved": True,
        "mrope_section": [4, 2, 2]}}, QWEN_IMAGES, {"tie_word_embeddings": False}),
    "qwen2_5_vl": ("qwen2_5_vl", SIZES_OF_HEADS | {
        "model_type": "qwen2_5_vl_text", "bos_token_id": None, "eos_token_id": None,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                            "mrope_section": [2, 3, 3]}},
                   QWEN_IMAGES, {"tie_word_embeddings": False}),
    "llava": ("llava", SIZES | {"model_type": "llama"}, {"model_type": "clip_vision_model"}, {}),
}


def make_model(name):
    kind, text, images, others = MODELS[name]
    config = transformers.AutoConfig.for_model(kind, text_config=text, vision_config=IMAGES | images,
                                               **others)
    return transformers.AutoModelForImageTextToText.from_config(
        config, attn_implementation="eager").eval()


def make(name, folder):
    model = make_model(name)
    make_goldens.decoder_layers = lambda model: model.model.language_model.layers
    for seed in range(500):
        make_goldens.randomise(model.to(torch.float32), seed)
        greedy, margin = make_goldens.generate(model.to(torch.float64), PROMPT)
        if (margin >= make_goldens.LEAST_MARGIN
                and len(set(greedy)) >= make_goldens.LEAST_DISTINCT):
            break
    else:
        raise SystemExit(f"{name}: no seed gives margins of {make_goldens.LEAST_MARGIN}")
    arrays = make_goldens.arrays_of(model, PROMPT) | {"greedy": np.array(greedy, np.int32)}
    np.savez_compressed(folder / f"goldens/{name}.npz", **arrays)
    model.to(torch.float32).save_pretrained(folder / "nested" / name)
    (folder / "nested" / name / "generation_config.json").unlink(missing_ok=True)
    print(f"| `{name}` | {seed} | {margin:.4f} | {len(set(greedy))} |", flush=True)


def main():
    folder = Path(sys.argv[1])
    for name in ("goldens", "nested"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    for name in sys.argv[2:] or MODELS:
        make(name, folder)


if __name__ == "__main__":
    sys.exit(main())
