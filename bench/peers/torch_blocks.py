#!/usr/bin/env python3
"""Blocks of models in primitives beside PyTorch, in one run on one GPU.

    bench/peers/torch_blocks.py --tenon build/release/bin/tenon [--batches 1,8,64] [--only PART] \
        [--modes default,max-autotune-no-cudagraphs] [--out FILE]

First the graphs of examples/blocks on this machine's device: by how much their results, f32, differ
from PyTorch's in tests/data/blocks, over the largest of them. Then a block of ViT-B/16 with its patch
embedding, of BERT-base with its embeddings (128 tokens) and of T5-base that attends to another sequence
(128 rows to 512), f16, random weights: the graphs that tests/goldens/make_blocks.py writes for examples,
at these sizes. Times are medians of calls, µs, between events that are nodes of a CUDA graph, of the
plan that Tenon's cost model chooses and of the same torch.nn module, as torch.compile makes it in each
of the modes. Exits with 1 where a result differs by more than 1e-4.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "goldens"))
import make_blocks  # noqa: E402
from block_graph import Graph  # noqa: E402

EXAMPLES = ("vit_block", "bert_block", "t5_cross_attention", "whisper_block", "mlp_classifier")
MOST_DIFFERENCE = 1e-4
EPSILON = 1e-5  # of norms; what these models have is 0 in f16


def vit(batch):
    model = make_blocks.Vit(768, 12, 3072, 16, 196, EPSILON)
    return model, make_blocks.vit_graph, (make_blocks.normal(0, batch, 3, 224, 224),)


def bert(batch):
    tokens, engine = 128, np.random.default_rng(0)
    model = make_blocks.Bert(30522, tokens, 768, 12, 3072, EPSILON)
    ids = engine.integers(0, 30522, (batch, tokens)).astype(np.int32)
    types = np.zeros((batch, tokens), np.int32)
    lengths = engine.integers(tokens // 2, tokens + 1, (batch, 1))
    mask = (np.arange(tokens) < lengths).astype(np.float32)
    return model, make_blocks.bert_graph, (ids, types, mask)


def t5(batch):
    rows, keys, width = 128, 512, 768
    model = make_blocks.T5(rows, keys, width, 12, 2048)
    x, encoded = make_blocks.normal(0, batch, rows, width), make_blocks.normal(1, batch, keys, width)
    mask = np.ones((batch, keys), np.float32)
    return model, make_blocks.t5_graph, (x, encoded, mask)


BLOCKS = {"vit_block": vit, "bert_block": bert, "t5_cross_attention": t5}


def difference(tenon, name, folder):
    """By how much the results of an example differ from PyTorch's on the device."""
    example = ROOT / "examples" / "blocks" / name
    out = folder / f"{name}.npz"
    subprocess.run([tenon, "run", example.with_suffix(".mlir"), "--device=cuda", "--points=none", "-f",
                    example.with_suffix(".npz"), "-o", out], check=True, capture_output=True)
    expected, found = np.load(ROOT / "tests" / "data" / "blocks" / f"{name}.npz"), np.load(out)
    return max(float(np.abs(found[port] - expected[port]).max() / np.abs(expected[port]).max())
               for port in expected.files)


def time_tenon(tenon, graph, plans, calls):
    """Medians of the plans in µs."""
    text = subprocess.run([tenon, "bench", graph, "--random-weights=1", "--device=cuda", "--points=none",
                           f"--plans={plans}", f"--steps={calls}", "--json"], check=True,
                          capture_output=True, text=True).stdout
    return {plan["plan"]: plan["steps_ns"]["median"] / 1e3 for plan in json.loads(text)}


@torch.inference_mode()
def time_torch(model, inputs, mode, calls):
    """The median of a compiled module's calls in µs, and what its compilation took in seconds."""
    start = time.monotonic()
    compiled = torch.compile(model, mode=mode, dynamic=False)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            compiled(*inputs)
    stream.synchronize()
    seconds = time.monotonic() - start
    graph = torch.cuda.CUDAGraph()
    begin, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
    with torch.cuda.graph(graph, stream=stream):
        begin.record()
        compiled(*inputs)
        end.record()
    times = []
    for _ in range(calls + 20):
        graph.replay()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    torch._dynamo.reset()
    return statistics.median(times[20:]), seconds


def on_device(array):
    tensor = torch.from_numpy(array).cuda()
    return tensor.half() if tensor.is_floating_point() else tensor


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--batches", default="1,8,64")
    parser.add_argument("--only", default="", help="part of the names of the blocks wanted")
    parser.add_argument("--plans", default="unfused,auto", help="Tenon's")
    parser.add_argument("--modes", default="default", help="of torch.compile")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--out", help="file for the figures as JSON")
    options = parser.parse_args()
    modes = [mode for mode in options.modes.split(",") if mode]
    report = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "differences": {},
              "us": []}

    def keep():
        if options.out:
            Path(options.out).write_text(json.dumps(report, indent=1), encoding="utf-8")

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in EXAMPLES:
            report["differences"][name] = difference(options.tenon, name, folder)
            print(f"{name}: differs from PyTorch by {report['differences'][name]:.1e}", flush=True)
        plans = options.plans.split(",")
        print(f"\n| block ({report['device']}, PyTorch {torch.__version__}), f16, µs | batch | "
              + " | ".join(plans + modes) + " | auto / best of PyTorch |")
        print("|---" * (len(plans) + len(modes) + 3) + "|")
        for name in (name for name in BLOCKS if options.only in name):
            for batch in map(int, options.batches.split(",")):
                model, build, arrays = BLOCKS[name](batch)
                model = make_blocks.randomise(model, 0).half()
                graph = Graph(f"{name}_{batch}", f"{name}, batch {batch}", "f16")
                graph.write(folder, {"hidden": build(graph, model, *arrays)}, has_weights=False)
                us = time_tenon(options.tenon, folder / f"{graph.name}.mlir", options.plans,
                                options.calls)
                model, inputs = model.cuda(), [on_device(array) for array in arrays]
                for mode in modes:
                    us[mode], seconds = time_torch(model, inputs, mode, options.calls)
                    print(f"{name} {batch} {mode}: compiled in {seconds:.0f} s", file=sys.stderr)
                peers = [us[mode] for mode in modes]
                ratio = f"{us['auto'] / min(peers):.2f}" if peers else ""
                print(f"| {name} | {batch} | " + " | ".join(f"{us[key]:.1f}" for key in plans + modes)
                      + f" | {ratio} |", flush=True)
                report["us"].append({"block": name, "batch": batch, **us})
                keep()
    keep()
    return int(max(report["differences"].values()) > MOST_DIFFERENCE)


if __name__ == "__main__":
    sys.exit(main())
