#!/usr/bin/env python3
"""Makes mistakes on purpose, one a row, and checks that each is refused in words: exit code, the tool's
name and `error:` in front, and the text that names what is wrong.

mistakes.py DATA FOLDER       DATA is tests/data, FOLDER an empty folder to work in
"""
import concurrent.futures
import math
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

from gguf_edit import Gguf, f32, string, u32
from npz import write as write_npz

M = "model.gguf"

ADD = """func.func @add(%x: tensor<2x4xf32> {tenon.name = "x"}, %y: tensor<4xf32> {tenon.name = "y"})
    -> (tensor<2x4xf32> {tenon.name = "sum"}) {
  %0 = tenon.add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
"""
SILU = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = tenon.silu %x : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
"""

# command, exit code, what standard error says
COMMANDS = [
    # Words.
    ("tenon rnu", 2, r"unknown command 'rnu'; did you mean 'run'\?"),
    ("tenon compil", 2, r"unknown command 'compil'; did you mean 'compile'\?"),
    ("tenon chat", 2, r"unknown command 'chat' \(see `tenon --help`\)"),
    ("tenon inspct model.gguf", 2, r"did you mean 'inspect'\?"),
    ("tenon run", 2, r"run: MODEL is required"),
    ("tenon compile model.gguf", 2, r"compile: -o,--output is required|compile: --output is required"),
    ("tenon run --promt x model.gguf", 2, r"run: unknown flag '--promt'; did you mean '--prompt'\?"),
    ("tenon run model.gguf --temprature 0.5", 2, r"unknown flag '--temprature'; did you mean '--temperature'\?"),
    ("tenon run model.gguf --top-p 0.5", 2, r"unknown flag '--top-p'; did you mean '--sampling=top-p='\?"),
    ("tenon run model.gguf --page=16", 2, r"unknown flag '--page'; did you mean '--cache=page='\?"),
    ("tenon bench model.gguf --rate 3", 2, r"unknown flag '--rate'; did you mean '--requests=rate='\?"),
    ("tenon run model.gguf --sampling=2", 2, r"--sampling: expects NAME=VALUE with one of top-k, top-p, min-p, repetition-penalty, but got '2'"),
    ("tenon run model.gguf --sampling=topk=2", 2, r"--sampling: expects NAME=VALUE .* but got 'topk=2'; did you mean 'top-k='\?"),
    ("tenon run model.gguf --cache=page=16,page=32", 2, r"--cache: expects each value once, but got 'page=32' after another page"),
    ("tenon run model.gguf --cache=page=", 2, r"--cache: page expects one of 16, 32, 64, 128, but got ''"),
    ("tenon run model.gguf --cache==3", 2, r"--cache: expects one of f32, .* but got '3'"),
    ("tenon run model.gguf --sampling=", 2, r"--sampling: .* missing"),
    ("tenon run model.gguf --draft=model=x.tnn,4,5", 2, r"--draft: expects each value once, but got '5' after another one"),
    ("tenon run model.gguf --draft=99", 2, r"--draft: expects mtp or an integer from 0 to 15, but got '99'"),
    ("tenon bench model.gguf --requests=rate=0", 2, r"--requests: rate expects a number above 0, but got '0'"),
    ("tenon bench model.gguf --requests=rate=inf", 2, r"--requests: rate expects a number above 0, but got 'inf'"),
    ("tenon bench model.gguf --requests=rate=1,count=0", 2, r"--requests: count expects an integer at least 1, but got '0'"),
    ("tenon bench model.gguf --requests=rate=1,batch-invariant=1", 2, r"--requests: batch-invariant expects one of yes, no, but got '1'"),
    ("tenon bench model.gguf --requests=batch-invariant=yes", 2, r"--requests: expects a file, or how many arrive a second"),
    ("tenon bench model.gguf --requests=rate=1 --measure=3", 2, r"--measure: applies to calls of one function, but a load of requests is measured"),
    ("tenon bench model.gguf -o a.html -o b.txt", 2, r"-o: expects a file that ends in .md, .html, .json or .trace.json, but got 'b.txt'"),
    ("tenon run model.gguf --special=all", 2, r"--special: expects one of add, parse, both, none, but got 'all'"),
    ("tenon explain model.gguf --target=h200 --measure", 1, r"this machine shows no CUDA device to measure on|CUDA driver|no CUDA runtime"),
    ("tenon explain model.gguf --measure=many", 2, r"--measure: expects an integer at least 1, but got 'many'"),
    ("tenon run model.gguf --cache=q8,f16", 2, r"--cache: expects each value once, but got 'f16' after another one"),
    ("tenon run model.gguf -m x", 2, r"run: unknown flag '-m'"),
    ("tenon dump model.gguf a b", 2, r"dump: unexpected arguments 'a' 'b'"),
    ("tenon dump model.gguf --shape decode:1", 2, r"unknown flag '--shape'; did you mean '--shapes'\?"),
    ("tenon bench model.gguf --trgt h200", 2, r"unknown flag '--trgt'; did you mean '--target'\?"),
    ("tenon-run --promt x program.tnn", 2, r"tenon-run: error: unknown flag '--promt'"),
    ("tenon-run", 2, r"PROGRAM is required"),
    ("tenon run model.gguf -p", 2, r"--prompt"),
    ("tenon run model.gguf -p a -f b", 2, r"--file excludes --prompt|excludes"),
    ("tenon run model.gguf -p a --ids=1", 2, r"--ids excludes --prompt|excludes"),
    ("tenon run model.gguf --stop a --ids=1", 2, r"--ids excludes --stop|excludes"),
    ("tenon run model.gguf --special=both --ids=1", 2, r"--ids excludes --special|excludes"),
    # Values out of range.
    ("tenon run model.gguf --ids=1,-2", 2, r"--ids: expects an integer from 0 to 2147483647, but got '-2'"),
    ("tenon run model.gguf --ids=1,512 -n 1", 1, r"expects ids from 0 to 511, but got 512 at position 1"),
    ("tenon inspect model.gguf --ids=1", 2, r"unknown flag '--ids'"),
    ("tenon run model.gguf -n -1", 2, r"--tokens: expects an integer at least 0, but got '-1'"),
    ("tenon run model.gguf -n 99999999999999999999", 2, r"--tokens: expects an integer"),
    ("tenon run model.gguf -ngl 99", 2, r"--tokens: expects an integer .* but got 'gl'"),
    ("tenon run model.gguf --seed -1 --temperature 1", 2, r"--seed: expects an integer from 0 to 2\^64 - 1"),
    ("tenon run model.gguf --temperature -1", 2, r"--temperature: expects a number of at least 0, but got '-1'"),
    ("tenon run model.gguf --temperature nan", 2, r"--temperature: expects a number"),
    ("tenon run model.gguf --temperature inf", 2, r"--temperature: expects a number"),
    ("tenon run model.gguf --temperature 1 --sampling=top-p=0", 2, r"--sampling: top-p expects a number above 0 and at most 1"),
    ("tenon run model.gguf --temp 1 --sampling=top-p=2", 2, r"--sampling: top-p expects a number above 0 and at most 1"),
    ("tenon run model.gguf --temperature 1 --sampling top-k=-3", 2, r"--sampling: top-k expects an integer at least 0"),
    ("tenon run model.gguf --temperature 1 --sampling min-p=2", 2, r"--sampling: min-p expects a number of at least 0 and at most 1"),
    ("tenon run model.gguf --sampling repetition-penalty=0", 2, r"--sampling: repetition-penalty expects a number above 0"),
    ("tenon run model.gguf --stop ''", 2, r"--stop: expects a text that is not empty"),
    ("tenon run model.gguf --threads -1", 2, r"--threads: expects an integer from 0 to 1024, but got '-1'"),
    ("tenon run model.gguf --threads 4096", 2, r"--threads: expects an integer from 0 to 1024"),
    ("tenon run model.gguf --threads two", 2, r"--threads: expects an integer .* but got 'two'"),
    ("tenon run model.gguf --context -1", 2, r"--context: expects an integer at least 1"),
    ("tenon run model.gguf --context 4096", 1, r"expects a context of 1 to 2048 positions \(--context\)"),
    ("tenon run model.gguf --context 100000000", 1, r"expects a context of 1 to 2048 positions"),
    ("tenon run model.gguf --context 9223372036854775807", 1, r"expects a context of 1 to 2048 positions"),
    ("tenon run model.gguf --cache q3", 2, r"--cache: expects one of f32, f16, bf16, q8, fp8, q4, but got 'q3'"),
    ("tenon run model.gguf --cache page=24", 2, r"--cache: page expects one of 16, 32, 64, 128, but got '24'"),
    ("tenon run model.gguf --cache pages=24", 2, r"--cache: pages expects a page, of which they are"),
    ("tenon run model.gguf --cache page=16,pages=0", 2, r"--cache: pages expects an integer at least 1"),
    ("tenon run model.gguf --cache page=16,pages=3 --context 64", 1,
     r"expects at least 4 pages, which one sequence of 64 positions takes, and at most 2\^31 - 1, but got 3"),
    ("tenon run model.gguf --cache page=16,window=64", 2,
     r"--cache: page expects no window, whose tokens take turns in dense caches"),
    ("tenon run model.gguf --cache window=0", 2, r"--cache: window expects an integer at least 1"),
    ("tenon run model.gguf --cache sinks=0,window=8", 2, r"--cache: sinks expects an integer at least 1"),
    ("tenon run model.gguf --cache sinks=4", 2, r"--cache: sinks expects a window, of which they stand in front"),
    ("tenon run model.gguf --cache sinks=4,window=2045", 1,
     r"expects first tokens and a window \(sinks, window of --cache\) of at most 2048 together, the model's context, but got 4 and 2045"),
    ("tenon run model.gguf --cache window=64 --context 64", 1,
     r"expects no context \(--context\) beside a window \(--cache=window\), but got 64 and 64"),
    ("tenon run model.gguf --cache sequences=0", 2, r"--cache: sequences expects an integer at least 1"),
    ("tenon run model.gguf --shapes decode:4 --cache sequences=70000", 1, r"expects 1 to 65536 sequences \(--cache=sequences\)"),
    ("tenon perplexity model.gguf -f story.txt --context 1", 2, r"--context: expects windows of 2 to 1 tokens"),
    ("tenon perplexity model.gguf -f story.txt --context 99999", 1, r"expects a context of 1 to 2048 positions"),
    ("tenon bench model.gguf --steps 0", 2, r"--measure: expects an integer at least 1"),
    ("tenon bench model.gguf --shapes decode:0", 2, r"--shapes: expects decode:ROWS, prefill:ROWS or mixed:ROWS with 1 to 65536 rows"),
    ("tenon bench model.gguf --position -1", 2, r"--position: expects an integer at least 0"),
    ("tenon bench model.gguf --position 99999 --steps 1", 2, r"--position: expects positions from 0 up to 2047"),
    ("tenon verify model.gguf --position 99999", 2, r"--position: expects positions from 0 up to 2047"),
    ("tenon calibrate --measure=0", 2, r"--measure: expects an integer at least 1"),
    ("tenon run model.gguf --shapes decode", 2, r"--shapes: expects decode:ROWS, prefill:ROWS or mixed:ROWS"),
    ("tenon run model.gguf --shapes mixed:0", 2, r"--shapes: expects .*mixed:ROWS with 1 to 65536 rows, but got 'mixed:0'"),
    ("tenon run model.gguf --shapes mixed:8 -p x", 1, r"expects a decode function of one row \(--shapes decode:1\)"),
    ("tenon bench model.gguf --shapes mixed:8 --generate 4", 2, r"--generate: applies to decode, but --shapes is mixed:8"),
    ("tenon bench model.gguf --shapes decode:4,mixed:8", 2, r"--shapes: expects one shape to measure, but got 2"),
    ("tenon run model.gguf --shapes decode:0", 2, r"--shapes: expects decode:ROWS"),
    ("tenon run model.gguf --shapes foo:1", 2, r"--shapes: expects .* but got 'foo:1'"),
    ("tenon run model.gguf --shapes decode:100000000", 2, r"--shapes: expects .* 1 to 65536 rows"),
    ("tenon run model.gguf --shapes decode:1,decode:1", 2, r"--shapes: expects shapes that differ, but got 'decode:1' twice"),
    ("tenon run model.gguf --shapes prefill:8 -p x", 1, r"expects a decode function of one row \(--shapes decode:1\)"),
    ("tenon run model.gguf --shapes decode:4 -p x", 1, r"expects a decode function of one row \(--shapes decode:1\)"),
    ("tenon run model.gguf --plan fast", 2, r"--plan: expects one of auto, fused, split, unfused, but got 'fast'"),
    ("tenon bench model.gguf --plans unfused,fusd", 2, r"but got 'fusd'; did you mean 'fused'\?"),
    ("tenon run model.gguf --activations f8", 2, r"--activations: expects one of f32, f16, bf16, q8"),
    ("tenon run model.gguf --device gpu", 2, r"--device: expects one of auto, cpu, cuda, reference, but got 'gpu'"),
    ("tenon compile model.gguf -o x.tnn --target h20", 2, r"--target: expects .* but got 'h20'; did you mean 'h200'\?"),
    ("tenon compile model.gguf -o x.tnn --target H200", 2, r"--target: expects .* but got 'H200'"),
    ("tenon compile model.gguf -o x.tnn --target none.target", 1, r"none.target: cannot open"),
    ("tenon dump model.gguf --as banana", 2, r"--as: expects one of input, simplified"),
    ("tenon dump model.gguf --as cubin", 2, r"--as: expects one of input, .* llvm, asm, cuda, ptx"),
    ("tenon dump model.gguf --plan=fused --disable no-such", 1, r"--disable: expects a fusion rule \(.*\) or an operation \(.*\), but got 'no-such'"),
    ("tenon random-model llama-9 -o r.gguf", 1, r"llama-3.2-1b"),
    ("tenon random-model gpt5 -o r.gguf", 1, r"expects one of|llama-3.2-1b"),
    ("tenon random-model llama-3.2-1b -o r.gguf --type q9_0", 2, r"--type: expects one of .* but got 'q9_0'"),
    ("tenon random-model llama-3.2-1b,layers=0 -o r.gguf", 1, r"expects layers from 1 to 1024, but got 0"),
    ("tenon random-model llama-3.2-1b,hidden=-4 -o r.gguf", 1, r"expects hidden from 1 to \d+, but got -4"),
    ("tenon random-model llama-3.2-1b,heads=3 -o r.gguf", 1, r"heads"),
    ("tenon random-model llama-3.2-1b,width=3 -o r.gguf", 1,
     r"expects sizes, SIZE=NUMBER, of layers, hidden, ffn, heads, kv-heads, vocabulary, context, experts, expert-ffn, but got 'width=3'"),
    ("tenon random-model llama-3.2-1b,ffn -o r.gguf", 1, r"expects sizes, .* but got 'ffn'"),
    ("tenon bench llama-3.2-1b,ffn=many --random-weights=1", 1, r"expects sizes, .* but got 'ffn=many'"),
    ("tenon random-model llama-3.2-1b,hidden=96,heads=3,kv-heads=3,layers=1,ffn=256,vocabulary=300 -o r.gguf"
     " --type q4_k", 0, r"no whole blocks of 256 elements are stored as f16 instead of q4_k"),
    # Flags that cannot apply.
    ("tenon run program.tnn --context 4", 2, r"--context: applies to a GGUF file, a Hugging Face folder or a named shape, but program.tnn is a compiled program"),
    ("tenon run program.tnn --plan unfused", 2, r"--plan: applies to operations .* but program.tnn is a compiled program"),
    ("tenon run program.tnn --shapes prefill:4", 2, r"--shapes: applies to .* compiled program"),
    ("tenon run program.tnn --activations f16", 2, r"--activations: applies to a model or a graph, but program.tnn"),
    ("tenon run program.tnn --random-weights 3", 2, r"--random-weights: applies to"),
    ("tenon run program.tnn --target h200", 2, r"--target: applies to code .* program.tnn is a compiled program"),
    ("tenon run program.tnn --device cuda", 2, r"--device=cuda: program.tnn is a program for cpu"),
    ("tenon run program.tnn --device reference", 2, r"program.tnn: expects a model or a graph for --device=reference"),
    ("tenon run program.tnn --launch graph", 2, r"--launch: applies to GPUs, but program.tnn is a program for cpu"),
    ("tenon run program.tnn --numerics relaxed", 2, r"--numerics: applies to operations .* but program.tnn is a compiled program"),
    ("tenon run program.tnn --activations=tf32", 2, r"--activations: applies to"),
    ("tenon run program.tnn --points none", 2, r"--points: applies to"),
    ("tenon run model.gguf --device=cpu --activations=tf32", 2, r"--activations=tf32: applies to GPUs, but the target is x86-64"),
    ("tenon run model.gguf --device=cpu --launch graph", 2, r"--launch: applies to GPUs"),
    ("tenon run model.gguf --type f16", 2, r"--type: applies to a shape that MODEL names .* but model.gguf is a file"),
    ("tenon run model.gguf --sampling top-k=3", 2, r"--sampling=top-k: applies to a --temperature above 0, but at temperature 0"),
    ("tenon run model.gguf --sampling top-p=0.5", 2, r"--sampling=top-p: applies to"),
    ("tenon run model.gguf --sampling min-p=0.5", 2, r"--sampling=min-p: applies to"),
    ("tenon run model.gguf --seed 3", 2, r"--seed: applies to"),
    ("tenon-run program.tnn --seed 3", 2, r"--seed: applies to"),
    ("tenon run model.gguf --device=reference --target=h200", 2, r"--target: applies to .* but --device=reference interprets the IR"),
    ("tenon run model.gguf --device=reference --plan=fused", 2, r"--plan: applies to .* interprets"),
    ("tenon run model.gguf --device=cpu --target=h200", 2, r"--target: expects a target for --device=cpu, but h200"),
    ("tenon run planned.mlir --shapes decode:2", 2, r"--shapes: applies to .* but planned.mlir is textual IR"),
    ("tenon run planned.mlir --context 4", 2, r"--context: applies to"),
    ("tenon run planned.mlir --plan unfused", 2, r"--plan: applies to operations .* planned.mlir is IR of the phase planned"),
    ("tenon run planned.mlir --activations f16", 2, r"--activations=f16: applies to model files"),
    ("tenon compile h200.mlir --target=a100 -o x.tnn", 2, r"--target=a100: h200.mlir is IR for the target h200 already"),
    ("tenon run h200.mlir --device=cpu -p x", 2, r"--device=cpu: h200.mlir is IR for the target h200"),
    ("tenon dump planned.mlir --as=input", 2, r"--as=input: planned.mlir is in the phase planned already"),
    ("tenon dump model.gguf --as=planned:k1", 2, r"--as: expects words of kernels' names after cuda, ptx, sass and source alone, but got 'planned:k1'"),
    ("tenon dump model.gguf --as=asm:k1", 2, r"--as: expects words of kernels"),
    ("tenon dump model.gguf --target=cpu --as=cuda", 2, r"--as=cuda: expects a target for cuda"),
    ("tenon dump model.gguf --target=h200 --as=llvm", 2, r"--as=llvm: expects a target for cpu, but got h200"),
    ("tenon dump model.gguf --target=h200 --as=source:nothing", 2,
     r"--as=source: expects words of one of k0_\w+, .* but got 'nothing'"),
    ("tenon run model.gguf --context=8 -n 1 -f story.txt", 1,
     r"the prompt has \d+ tokens, but the context holds 8: expects a shorter prompt or a larger --context"),
    ("tenon dump model.gguf --target=h200 --as=llvm", 2, r"--as=llvm: expects a target for cpu"),
    ("tenon explain model.gguf --position 3", 2, r"--position: applies to --measure"),
    ("tenon explain planned.mlir", 1, r"planned.mlir: expects a model before the phase fused"),
    ("tenon bench model.gguf --shapes prefill:8 --generate 4", 2, r"--generate: applies to decode, but --shapes is prefill:8"),
    ("tenon bench model.gguf --shapes prefill:8 --position 4", 2, r"--position: applies to decode"),
    ("tenon bench model.gguf --shapes decode:4,prefill:8", 2, r"--shapes: expects one shape to measure, but got 2"),
    ("tenon run model.gguf --function f", 2, r"--function: expects -o, too, a file for the results"),
    ("tenon run add.mlir -p x -o out.npz", 2, r"--prompt: applies to text that is generated, but --function and -o"),
    ("tenon run add.mlir -n 3 -f in.npz -o out.npz", 2, r"--tokens: applies to text"),
    # A function on arrays.
    ("tenon run add.mlir", 2, r"add.mlir: is no language model .* -f and -o call"),
    ("tenon run add.mlir --function add -f in.npz", 2, r"--function: expects -o, too"),
    ("tenon run add.mlir -o out.npz", 2, r"-f: expects a file with the inputs of add"),
    ("tenon run add.mlir -f in.npz -o in.npz", 2, r"-o: expects another file than -f"),
    ("tenon run add.mlir -f extra.npz -o out.npz", 1, r"extra.npz: function add has the inputs x, y, but the file has an array 'z'"),
    ("tenon run add.mlir -f missing.npz -o out.npz", 1, r"missing.npz: expects an array 'y'"),
    ("tenon run add.mlir -f shape.npz -o out.npz", 1, r"array 'x' expects <f4 \[2, 4\] for f32, but got"),
    ("tenon run add.mlir -f type.npz -o out.npz", 1, r"array 'x' expects <f4 .* but got <i4"),
    ("tenon run add.mlir -f case.npz -o out.npz", 1, r"'X'"),
    ("tenon run add.mlir -f story.txt -o out.npz", 1, r"story.txt: "),
    ("tenon run add.mlir -f empty -o out.npz", 1, r"empty: "),
    ("tenon run add.mlir -f cut.npz -o out.npz", 1, r"cut.npz: "),
    ("tenon run add.mlir -f none.npz -o out.npz", 1, r"none.npz: cannot open"),
    ("tenon run add.mlir -f in.npz -o none/out.npz", 1, r"none/out.npz: "),
    ("tenon run add.mlir --function mul -f in.npz -o out.npz", 2, r"--function: expects one of add, but got 'mul'"),
    ("tenon run model.gguf -f in.npz -o out.npz", 2, r"--function: expects one of decode_1, prefill_32, but got none"),
    ("tenon run empty-module.mlir -f in.npz -o out.npz", 1, r"expects a module with a function to call"),
    ("tenon run model.gguf --function decode_1 -f token-high.npz -o out.npz", 1, r"array 'ids' expects integers from 0 to 511, but element 0 is 99999"),
    ("tenon run model.gguf --function decode_1 -f token-low.npz -o out.npz", 1, r"array 'ids' expects .* element 0 is -5"),
    ("tenon run model.gguf --function decode_1 -f position-low.npz -o out.npz", 1, r"array 'positions' expects integers from -1 to 2047, but element 0 is -7"),
    ("tenon run model.gguf --function decode_1 -f position-high.npz -o out.npz", 1, r"array 'positions' expects .* is 2048"),
    ("tenon run model.gguf --function decode_1 -f sequence.npz -o out.npz", 1, r"array 'sequences' expects integers from 0 to 0, but element 0 is 9"),
    ("tenon run model.gguf --device=reference --function decode_1 -f token-high.npz -o out.npz", 1, r"array 'ids' expects"),
    # Prompts.
    ("tenon run model.gguf -c 1 -p 'Once upon a time' -n 2", 1, r"the prompt has 5 tokens, but the context holds 1"),
    ("tenon run model.gguf -f long.txt -n 2", 1, r"the prompt has \d+ tokens, but the context holds 2048"),
    ("tenon run model.gguf -f none.txt", 1, r"none.txt: cannot open"),
    ("tenon run model.gguf -p '' -n 1", 0, r"the prompt is empty"),
    ("tenon run model.gguf -n 1 < /dev/null", 0, r"the prompt is empty"),
    ("tenon perplexity model.gguf -f empty", 1, r"expects a text of at least 2 tokens, but got 1"),
    ("tenon perplexity model.gguf -f none.txt", 1, r"none.txt: cannot open"),
    ("tenon perplexity add.mlir -f story.txt", 2, r"add.mlir: is no language model"),
    ("tenon embed model.gguf fox", 2, r"expects an encoder \(bert, nomic-bert\), but got a model that goes on with texts"),
    ("tenon embed add.mlir fox", 2, r"add.mlir: expects a GGUF file or a Hugging Face folder of an encoder"),
    # Files that are something else.
    ("tenon run none.gguf -p x", 1, r"none.gguf: cannot open: .*No such file"),
    ("tenon dump none.mlir", 1, r"none.mlir: cannot open"),
    ("tenon run https://example.com/model.gguf", 1, r"is an address, which Tenon does not fetch"),
    ("tenon run meta-llama/Llama-3.2-1B", 1, r"where it names a model of a hub, download its folder or a GGUF file"),
    ("tenon run .", 1, r"\.: is a folder without config.json; Tenon reads GGUF models, Hugging Face models"),
    ("tenon run hf", 1, r"hf/config.json: key 'model_type' expects one of 'bert', .*'starcoder2', but got ''"),
    ("tenon run empty", 1, r"empty: is an empty file; Tenon reads .*, textual IR \(.mlir\) and, where a program is run or inspected, .tnn"),
    ("tenon dump story.txt", 1, r"story.txt: is text that is no IR: it begins with"),
    ("tenon dump hole.mlir", 1, r"hole.mlir: expects at most 67108864 bytes of textual IR, but got 67108865"),
    ("tenon dump magic.gguf", 1, r"magic.gguf: is a file of unknown format, which begins with \"GGUX"),
    ("tenon dump old.bin", 1, r"old.bin: is a ggml file of before GGUF"),
    ("tenon dump model.onnx", 1, r"model.onnx: is an ONNX file"),
    ("tenon dump model.safetensors", 1, r"model.safetensors: is a safetensors file; .*reads the folder with its config.json"),
    ("tenon dump model.tar.xz", 1, r"model.tar.xz: is an xz archive"),
    ("tenon dump model.tar", 1, r"model.tar: is a tar archive"),
    ("tenon dump hf/config.json", 1, r"config.json: is a JSON file"),
    ("tenon dump model.pt", 1, r"model.pt: is a zip archive \(a PyTorch checkpoint"),
    ("tenon dump pickle.pt", 1, r"pickle.pt: is a Python pickle"),
    ("tenon dump in.npz", 1, r"in.npz: is a zip archive"),
    ("tenon dump short.gguf", 1, r"short.gguf: is a GGUF file that was cut off after 3 bytes"),
    ("tenon dump program.tnn", 1, r"program.tnn: is a compiled program"),
    ("tenon bench program.tnn", 1, r"program.tnn: is a compiled program"),
    ("tenon explain program.tnn", 1, r"program.tnn: is a compiled program"),
    ("tenon verify program.tnn", 1, r"program.tnn: is a compiled program"),
    ("tenon inspect add.mlir", 1, r"add.mlir: is textual IR, which is text to read; inspect takes model files"),
    ("tenon inspect story.txt", 1, r"story.txt: is text"),
    ("tenon tokenize add.mlir < story.txt", 1, r"add.mlir: expects a GGUF file"),
    ("tenon-run model.gguf", 1, r"model.gguf: expects a Tenon program"),
    ("tenon-run empty", 1, r"empty: expects a Tenon program"),
    ("cat model.gguf | tenon dump -", 1, r"-: expects textual IR on standard input, but got a GGUF file"),
    ("tenon dump fifo", 1, r"fifo: expects a regular file"),
    # Outputs.
    ("tenon compile model.gguf -o ''", 2, r"-o: expects a file, but got an empty name"),
    ("tenon bench model.gguf -o -", 2, r"-o: expects a file that ends in .md, .html, .json or .trace.json, but got '-'"),
    ("tenon compile model.gguf -o - --json", 2, r"--json: expects --json=FILE where -o - prints the program"),
    ("tenon random-model llama-3.2-1b -o - --json", 2, r"--json: expects --json=FILE where -o - prints the model"),
    ("tenon dump model.gguf -o model.gguf", 1, r"expects an output that is no input"),
    ("tenon dump model.gguf -o none/x.mlir", 1, r"none/x.mlir: cannot write"),
    ("tenon compile model.gguf -o x.tnn --plans fused,auto", 2, r"--plan: expects one of .* but got 'fused,auto'"),
    ("tenon compile model.gguf -o none/x.tnn", 1, r"none/x.tnn"),
    ("tenon compile model.gguf -o hf", 1, r"hf"),
    ("tenon explain model.gguf --points none.sqlite", 1, r"--points: expects a database .* none.sqlite is no file"),
    ("tenon bench model.gguf --steps 1 --position 1 --json=none/x.json", 1, r"none/x.json: cannot write"),
    # Devices.
    ("tenon run model.gguf --device=cuda -p x", 1, r"--device=cuda: expects an NVIDIA GPU|CUDA driver|no CUDA runtime"),
    ("tenon run llama-9 --random-weights=1 -p x", 1, r"llama-3.2-1b"),
    ("tenon run llama-3.2-1b -p x", 1, r"llama-3.2-1b: cannot open"),
]

# GGUF files with one thing wrong: name, what is done to the file, what standard error says of
# `tenon dump` (with `text:`, of `tenon run -p x`).
GGUFS = [
    ("version-9", dict(version=9), r"version"),
    ("version-1", dict(version=1), r"version"),
    ("count", dict(counts=(1 << 62, 19)), r"count"),
    ("keys", dict(counts=(47, 1 << 63)), r"count"),
    ("no-arch", lambda g: g.keys.pop("general.architecture"), r"general.architecture"),
    ("arch-int", lambda g: g.keys.update({"general.architecture": u32(7)}), r"general.architecture"),
    ("mamba", lambda g: g.keys.update({"general.architecture": string("mamba")}), r"expects one of .*'llama'.* got 'mamba'"),
    ("lama", lambda g: g.keys.update({"general.architecture": string("lama")}), r"got 'lama'"),
    ("experts", lambda g: g.tensor("blk.0.ffn_gate.weight").__setitem__(0, "blk.0.ffn_gate_exps.weight"), r"'llama.expert_count' expects at least 1 where there is tensor .*ffn_gate_exps"),
    ("expert-count", lambda g: g.keys.update({"llama.expert_count": u32(8)}), r"expects .*'llama.expert_used_count'"),
    ("vocabulary", lambda g: g.tensors.clear(), r"holds a vocabulary and no weights"),
    ("type-999", lambda g: g.tensor("output.weight").__setitem__(2, 999), r"output.weight"),
    ("type-iq2", lambda g: g.tensor("output.weight").__setitem__(2, 16), r"output.weight"),
    ("missing", lambda g: g.tensors.remove(g.tensor("blk.1.ffn_up.weight")), r"blk.1.ffn_up.weight"),
    ("twice", lambda g: g.tensors.append(list(g.tensor("output_norm.weight"))), r"output_norm.weight"),
    ("unknown", lambda g: g.tensor("output_norm.weight").__setitem__(0, "strange.weight"), r"output_norm.weight|strange.weight"),
    ("shape", lambda g: g.tensor("blk.0.attn_q.weight").__setitem__(1, [32, 128]), r"blk.0.attn_q.weight"),
    ("rank", lambda g: g.tensor("blk.0.attn_q.weight").__setitem__(1, [4096]), r"blk.0.attn_q.weight"),
    ("axis-0", lambda g: g.tensor("blk.0.attn_q.weight").__setitem__(1, [0, 64]), r"blk.0.attn_q.weight"),
    ("axis-huge", lambda g: g.tensor("blk.0.attn_q.weight").__setitem__(1, [1 << 63, 64]), r"blk.0.attn_q.weight"),
    ("outside", dict(offsets={"blk.4.ffn_norm.weight": 1 << 40}), r"blk.4.ffn_norm.weight"),
    ("unaligned", dict(offsets={"blk.4.ffn_norm.weight": 7}), r"blk.4.ffn_norm.weight"),
    ("alignment-0", lambda g: g.keys.update({"general.alignment": u32(0)}), r"general.alignment"),
    ("alignment-3", lambda g: g.keys.update({"general.alignment": u32(3)}), r"general.alignment"),
    ("heads", lambda g: g.keys.update({"llama.attention.head_count": u32(7)}), r"llama.attention.head_count"),
    ("layers-0", lambda g: g.keys.update({"llama.block_count": u32(0)}), r"llama.block_count"),
    ("layers-huge", lambda g: g.keys.update({"llama.block_count": u32(1 << 31)}), r"llama.block_count"),
    ("context-huge", lambda g: g.keys.update({"llama.context_length": u32(1 << 31)}), r"llama.context_length"),
    ("odd-rope", lambda g: g.keys.update({"llama.rope.dimension_count": u32(3)}), r"llama.rope.dimension_count"),
    ("eps-nan", lambda g: g.keys.update({"llama.attention.layer_norm_rms_epsilon": f32(math.nan)}), r"layer_norm_rms_epsilon"),
    ("eps-text", lambda g: g.keys.update({"llama.attention.layer_norm_rms_epsilon": string("x")}), r"layer_norm_rms_epsilon"),
    ("scaling", lambda g: g.keys.update({"llama.rope.scaling.type": string("odd")}), r"rope.scaling.type"),
    ("part", lambda g: g.keys.update({"split.count": u32(2), "split.no": u32(0)}), r"expects the name of part 1 of 2"),
    ("text:no-tokeniser", lambda g: g.keys.pop("tokenizer.ggml.model"), r"tokenizer.ggml.model"),
    ("text:rwkv", lambda g: g.keys.update({"tokenizer.ggml.model": string("rwkv")}), r"expects llama, gpt2, t5 or bert, but got 'rwkv'"),
    ("text:nan", lambda g: g.tensor("output_norm.weight").__setitem__(3, struct.pack("<64f", *[math.nan] * 64)), r"expects a number as the logit of token 0, but got nan"),
]

# Textual IR with one thing wrong: name, text, what standard error of `tenon dump` says.
TEXTS = [
    ("unknown-op", SILU.replace("silu", "sillu"), r"unknown-op.mlir:2:\d+: .*tenon.sillu"),
    ("undefined", SILU.replace("silu %x", "silu %z"), r"undefined.mlir:2:\d+: "),
    ("types", SILU.replace("(tensor<2xf32>) ->", "(tensor<3xf32>) ->"), r"types.mlir:"),
    ("unclosed", SILU.rstrip()[:-1], r"unclosed.mlir:\d+:\d+: "),
    ("dynamic", SILU.replace("2xf32", "?xf32"), r"dynamic.mlir:.*statically shaped"),
    ("f64", SILU.replace("f32", "f64"), r"f64.mlir:"),
    ("f8", SILU.replace("f32", "f8E4M3FN"), r"f8.mlir:"),
    ("i4", SILU.replace("f32", "i4"), r"i4.mlir:"),
    ("zero", SILU.replace("2xf32", "0xf32"), r"zero.mlir:"),
    ("huge", SILU.replace("2xf32", "8000000000000000000xf32"), r"huge.mlir:"),
    ("external", "func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32>", r"external.mlir:.*body"),
    ("affine", "module attributes {tenon.a = affine_map<(d0) -> (d0)>} {}", r"affine.mlir:.*no part of this IR"),
    ("no-ir", "hello world", r"no-ir.mlir:1:\d+: "),
    ("weight", 'tenon.file @m path "model.gguf" bytes 999999999999 fingerprint 1\n' + SILU, r"weight.mlir|model.gguf|^tenon: error"),
]


def prepare(data):
    """The files that commands name."""
    model = data / "stories260K" / "stories260K.gguf"
    Path(M).symlink_to(model)
    Path("add.mlir").write_text(ADD)
    Path("empty-module.mlir").write_text("module {}\n")
    with open("hole.mlir", "wb") as hole:
        hole.truncate((64 << 20) + 1)
    Path("story.txt").write_text("Once upon a time there was a cat.\n" * 4)
    Path("long.txt").write_text("Once upon a time there was a cat.\n" * 900)
    Path("empty").write_bytes(b"")
    Path("short.gguf").write_bytes(b"GGU")
    Path("magic.gguf").write_bytes(b"GGUX" + bytes(100))
    Path("old.bin").write_bytes(b"tjgg" + bytes(100))
    Path("model.onnx").write_bytes(b"\x08\x07\x12\x07pytorch" + bytes(40))
    Path("model.safetensors").write_bytes(struct.pack("<Q", 40) + b'{"w":{"dtype":"F32","shape":[1]}}       ')
    Path("model.tar.xz").write_bytes(b"\xfd7zXZ\0" + bytes(50))
    Path("model.tar").write_bytes(b"name" + bytes(253) + b"ustar\x0000" + bytes(248))
    Path("pickle.pt").write_bytes(b"\x80\x02}q\x00." + bytes(20))
    with zipfile.ZipFile("model.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"x")
    Path("hf").mkdir()
    Path("hf/config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    os.mkfifo("fifo")
    x, y = "x:<f4:2x4=1,2,3,4,5,6,7,8", "y:<f4:4=1,2,3,4"
    write_npz("in.npz", [x, y])
    write_npz("extra.npz", [x, y, "z:<f4:1=0"])
    write_npz("missing.npz", [x])
    write_npz("shape.npz", ["x:<f4:4x2=1,2,3,4,5,6,7,8", y])
    write_npz("type.npz", ["x:<i4:2x4=1,2,3,4,5,6,7,8", y])
    write_npz("case.npz", [x.replace("x", "X", 1), y])
    Path("cut.npz").write_bytes(Path("in.npz").read_bytes()[:150])
    for name, ids, sequences, positions in (
            ("token-high", 99999, 0, 0), ("token-low", -5, 0, 0), ("position-low", 1, 0, -7),
            ("position-high", 1, 0, 2048), ("sequence", 1, 9, 0)):
        write_npz(name + ".npz", [f"ids:<i4:1={ids}", f"sequences:<i4:1={sequences}",
                                  f"positions:<i4:1={positions}"])
    for arguments, output in (("compile model.gguf --target=cpu -o program.tnn", None),
                              ("dump model.gguf --target=cpu", "planned.mlir"),
                              ("dump model.gguf --target=h200 --shapes=decode:1", "h200.mlir")):
        result = subprocess.run(["tenon", *arguments.split()], check=True, capture_output=True)
        if output:
            Path(output).write_bytes(result.stdout)


def rows(data):
    """Every mistake: name, command, exit code, pattern."""
    for command, code, pattern in COMMANDS:
        yield command, command, code, pattern
    for name, change, pattern in GGUFS:
        kind, _, short = name.rpartition(":")
        gguf = Gguf(data / "stories260K" / "stories260K.gguf")
        options = change if isinstance(change, dict) else {}
        if not options:
            change(gguf)
        gguf.write(f"{short}.gguf", **options)
        command = f"tenon run {short}.gguf -p x -n 2" if kind else f"tenon dump {short}.gguf"
        yield name, command, 1, rf"{short}.gguf: .*(?:{pattern})"
    for name, text, pattern in TEXTS:
        Path(name + ".mlir").write_text(text)
        yield name, f"tenon dump {name}.mlir", 1, pattern
    program = bytearray(Path("program.tnn").read_bytes())
    for name, offset in (("head", 20), ("section", 5000), ("end", len(program) - 9)):
        damaged = bytearray(program)
        damaged[offset] ^= 1
        Path(f"{name}.tnn").write_bytes(damaged)
        yield f"flip {name}", f"tenon-run {name}.tnn", 1, rf"{name}.tnn: .*damaged"
    for name, size in (("cut-10", 10), ("cut-half", len(program) // 2), ("cut-1", len(program) - 1)):
        Path(f"{name}.tnn").write_bytes(program[:size])
        yield name, f"tenon-run {name}.tnn", 1, rf"{name}.tnn: .*truncated"
    Path("longer.tnn").write_bytes(program + b"x")
    yield "appended", "tenon-run longer.tnn", 1, r"longer.tnn: .*damaged"


def check(row):
    name, command, code, pattern = row
    result = subprocess.run(["sh", "-c", command], capture_output=True, timeout=120,
                            stdin=subprocess.DEVNULL)
    said = result.stderr.decode(errors="replace")
    problems = []
    if result.returncode != code:
        problems.append(f"exit code {result.returncode}, not {code}")
    if code != 0 and not re.search(r"^tenon(-run)?: error: ", said, re.MULTILINE):
        problems.append("no 'tenon: error:'")
    if not re.search(pattern, said, re.DOTALL):
        problems.append(f"nothing that matches {pattern}")
    return f"{name}\n  $ {command}\n  {'; '.join(problems)}\n  {said[:600]}" if problems else None


def main():
    data, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True)
    os.chdir(folder)
    prepare(data)
    everything = list(rows(data))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [problem for problem in pool.map(check, everything) if problem]
    print("\n".join(wrong))
    print(f"{len(everything) - len(wrong)} of {len(everything)} mistakes are refused clearly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
