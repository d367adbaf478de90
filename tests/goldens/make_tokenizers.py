#!/usr/bin/env python3
"""Makes small tokenizer.json files of each kind that Tenon reads, and what they give for random texts.

Trains on the texts of tests/data/vocab with Hugging Face's `tokenizers`; OUT/NAME.json is the
tokeniser, OUT/NAME.ids.json a list of {"text", "ids"}, of which ids are those of `encode` with
special tokens. The texts are those of scripts/compare-tokenizers and some around the added tokens.
The map of characters of `t5` is compiled by the Python package `sentencepiece`. Unigram and WordPiece are
trained a little differently each time.

Usage: make_tokenizers.py OUT
"""
import importlib.machinery
import importlib.util
import io
import json
import struct
import sys
import tempfile
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = sorted(str(path) for path in (ROOT / "tests/data/vocab").glob("*.inp"))
# English for vocabularies of words.
PROSE = str(ROOT / "LICENSE")
TEXTS = 60

_loader = importlib.machinery.SourceFileLoader("compare", str(ROOT / "scripts/compare-tokenizers"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", _loader))
_loader.exec_module(compare)


def split(regex, behavior="isolated"):
    return pre_tokenizers.Split(Regex(regex), behavior)


def byte_level(steps, normalizer, special, size=600, ignore_merges=False, prefix=False):
    """BPE over bytes behind `steps`."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.normalizer = normalizer
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=not steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*steps, last]) if steps else last
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train(SOURCES, trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def characters(normalizer, pre_tokenizer, decoder, fuse=True):
    """BPE over characters with tokens for bytes, as converted SentencePiece vocabularies have it."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=True))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Split(" ", "merged_with_next")
    tokenizer.train(SOURCES, trainers.BpeTrainer(vocab_size=700, special_tokens=special,
                                                 show_progress=False))
    data = json.loads(tokenizer.to_str())
    # The tokens of bytes are no special tokens; without a pre-tokeniser of its own it has none.
    data["added_tokens"] = data["added_tokens"][:3]
    if pre_tokenizer is None:
        data["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoder
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return tokenizer


def make_qwen():
    tokenizer = byte_level([split(compare.QWEN2)], normalizers.NFC(), ["<|endoftext|>"])
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("  ", normalized=False)])
    return tokenizer


def make_llama3():
    tokenizer = byte_level([split(compare.LLAMA3)], None, ["<|begin|>", "<|end|>"],
                           ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin|> $A <|end|>", pair="$A $B",
                                      special_tokens=[("<|begin|>", 0), ("<|end|>", 1)])])
    return tokenizer


def make_gpt2():
    tokenizer = byte_level([], normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(),
                                                     normalizers.Lowercase()]), ["</s>"],
                           prefix=True)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("lily", single_word=True, normalized=True),
                          AddedToken("TOM", normalized=True)])
    return tokenizer


def make_starcoder():
    return byte_level([pre_tokenizers.Digits(individual_digits=True),
                       pre_tokenizers.Punctuation("merged_with_previous"),
                       split(r"\s+", "merged_with_next")], None, ["<|endoftext|>"])


def make_llama2():
    space = "\u2581"
    return characters(
        normalizers.Sequence([normalizers.Prepend(space), normalizers.Replace(" ", space)]), None,
        decoders.Sequence([decoders.Replace(space, " "), decoders.ByteFallback(), decoders.Fuse(),
                           decoders.Strip(" ", 1, 0)]))


def make_phi3():
    tokenizer = make_llama2()
    tokenizer.add_special_tokens([AddedToken("<|user|>", rstrip=True, normalized=False),
                                  AddedToken("<|end|>", rstrip=True, normalized=False)])
    return tokenizer


def make_mistral():
    return characters(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=True),
                      decoders.Metaspace(prepend_scheme="first"))


# What SentencePiece's map replaces by what: full-width letters, ligatures, letters with their accents
# behind them, of which one map entry begins another, spaces.
RULES = {"\uFF21": "A", "\uFF42": "b", "\uFF12": "2", "\uFB01": "fi", "\u3300": "\u30A2\u30D1\u30FC\u30C8",
         "e\u0301": "\u00E9", "a\u0308": "\u00E4", "\u1100": "\u3131", "\u1100\u1161": "\uAC00",
         "\u00A0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\r": "", "\u2126": "\u03A9",
         "\u00BD": "1\u20442", "\u0344": "\u0308\u0301", "\u200B": ""}


def character_map():
    """The rules as SentencePiece compiles them."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        for given, wanted in RULES.items():
            rules.write("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in (given, wanted)) + "\n")
        rules.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c d e"] * 10), model_writer=model, vocab_size=10,
            hard_vocab_limit=False, normalization_rule_tsv=rules.name, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def unigram(normalizer, pre_tokenizer, special, template, size=500):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train([*SOURCES, PROSE], trainers.UnigramTrainer(
        vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = template
    tokenizer.decoder = decoders.Metaspace()
    data = json.loads(tokenizer.to_str())
    for entry in data["model"]["vocab"]:  # SentencePiece's scores have 32 bits
        entry[1] = struct.unpack("f", struct.pack("f", entry[1]))[0]
    return Tokenizer.from_str(json.dumps(data))


def make_t5():
    return unigram(
        normalizers.Sequence([normalizers.Precompiled(character_map()),
                              normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
        ["<pad>", "</s>", "<unk>"],
        processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>",
                                      special_tokens=[("</s>", 1)]))


def make_albert():
    return unigram(
        normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(),
                              normalizers.StripAccents(), normalizers.Lowercase()]),
        pre_tokenizers.Metaspace(), ["<unk>", "[CLS]", "[SEP]"],
        processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]",
                                      special_tokens=[("[CLS]", 1), ("[SEP]", 2)]))


def make_bert(lowercase=True):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train([*SOURCES, PROSE], trainers.WordPieceTrainer(
        vocab_size=600, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def make_bert_cased():
    return make_bert(lowercase=False)


def mixed_texts(texts):
    """Each of `texts` within some prose."""
    prose = Path(PROSE).read_text(encoding="utf-8")
    return [prose[167 * i:167 * i + 60] + text[:20] + prose[167 * i + 60:167 * i + 120]
            for i, text in enumerate(texts)]


def cases(tokenizer, seed):
    around = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    texts = ["", "Once upon a time, Lily and Tom played."]
    known = [text for text in compare.random_texts(seed, 2 * TEXTS)
             if not any(map(compare.is_newer, text))]
    if isinstance(tokenizer.model, models.WordPiece):
        known = ["".join(filter(compare.is_known_to_bert, text)) for text in known]
    for i, text in enumerate(known[:TEXTS]):
        if i % 3 == 0:
            token = around[i // 3 % len(around)]
            text = text[:len(text) // 2] + ["", " ", "\t \n"][i % 9 // 3] + token + text[len(text) // 2:]
        texts.append(text)
    if not isinstance(tokenizer.model, models.BPE):
        texts += mixed_texts(known[TEXTS:])
    return [{"text": text, "ids": tokenizer.encode(text).ids} for text in texts]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {"qwen": make_qwen, "llama3": make_llama3, "gpt2": make_gpt2,
             "starcoder": make_starcoder, "llama2": make_llama2, "phi3": make_phi3,
             "mistral": make_mistral, "t5": make_t5, "albert": make_albert, "bert": make_bert,
             "bert_cased": make_bert_cased}
    for seed, (name, make) in enumerate(kinds.items()):
        tokenizer = make()
        data = json.loads(tokenizer.to_str())
        (folder / f"{name}.json").write_text(
            json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases(tokenizer, seed))
        (folder / f"{name}.ids.json").write_text(f"[\n{rows}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
