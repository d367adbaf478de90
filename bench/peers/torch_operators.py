#!/usr/bin/env python3
"""Fused operators beside PyTorch compiled (max-autotune), in one run on one GPU.

    bench/peers/torch_operators.py --measure build/release/bin/measure_fusion_points \
        --shapes bench/shapes [--out FILE]

Every operator is captured as a CUDA graph of copies, fp16, random values: products with weights that
rotate beyond the L2 cache, on the same activations; sums with norms each on the sum and the norm of
the copy before, as one layer follows another. Times are medians of replays, each behind another, in µs
a copy, between events that are nodes of the graph: what starts a graph does not count. Tenon's copies
are made and timed so, too. Tenon's are those of the plan that its cost model chooses, from the set
`peers` of the shapes, in a CUDA graph without and with programmatic dependent launch.
"""
import argparse
import json
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

COLD_BYTES = 200_000_000
FEW_ELEMENTS = 4 << 20  # with more, 16 copies, else 64, as Tenon's: bench/fusion/FusionChains.cpp


def residual_layer(x, r, w, b):
    s = x + r
    return s, F.layer_norm(s, s.shape[-1:], w, b, 1e-5)


def residual_rms(x, r, w):
    s = x + r
    return s, F.rms_norm(s, s.shape[-1:], w, 1e-5)


def rms_product(x, g, w):
    return F.linear(F.rms_norm(x, x.shape[-1:], g, 1e-5), w)


def gated(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(gate) * up


def random(*shape):
    return torch.randn(*shape, dtype=torch.float16, device="cuda") / shape[-1] ** 0.5


def cases():
    """(name of the point, function, activations, a function that makes weights of one copy)"""
    for rows, width in ((1, 2560), (1024, 2560), (4096, 4096)):
        x, r = random(rows, width), random(rows, width)
        yield (f"residual_layer f16 {rows}x{width}", residual_layer, (x, r),
               lambda n=width: (random(n), random(n)))
        yield (f"residual_rms f16 {rows}x{width}", residual_rms, (x, r),
               lambda n=width: (random(n),))
    for rows in (1, 16):
        x = random(rows, 4096)
        yield (f"rms_qkv f16 {rows}x4096x4096", rms_product, (x,),
               lambda: (random(4096), random(6144, 4096)))
        yield (f"gated f16 {rows}x4096x14336", gated, (x,), lambda: (random(28672, 4096),))


def time_graph(function, activations, make_weights):
    """The median time of a copy in a CUDA graph, µs, and its relative deviation."""
    first = make_weights()
    size = sum(w.numel() * w.element_size() for w in first)
    few = 64 if activations[0].numel() <= FEW_ELEMENTS else 16
    copies = few if size < 65536 else max(2, min(48, COLD_BYTES // size))
    weights = [first] + [make_weights() for _ in range(copies - 1)]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for w in weights[:3]:
            function(*activations, *w)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    begin, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
    with torch.cuda.graph(graph, stream=stream):
        begin.record()
        for w in weights:
            results = function(*activations, *w)
            if isinstance(results, tuple):  # the sum and its norm: what the next copy adds
                activations = results[::-1]
        end.record()
    times = []
    for _ in range(15):
        graph.replay()  # leaves in the caches what copies leave
        graph.replay()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / copies)
    return statistics.median(times), statistics.stdev(times) / statistics.median(times)


def measure_torch():
    times = {}
    for name, function, activations, make_weights in cases():
        compiled = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
        compiled(*activations, *make_weights())
        times[name] = time_graph(compiled, activations, make_weights)
        torch._dynamo.reset()
    return times


def measure_tenon(binary, shapes, launch):
    """The time of the plan that `auto` would take, µs, and its relative deviation."""
    lines = subprocess.run([binary, "--shapes", shapes, "--set", "peers", "--launch", launch],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    times = {}
    for point in map(json.loads, lines):
        fused, unfused = point["fused"], point["unfused"]
        plan = fused if fused["predicted_ns"] < unfused["predicted_ns"] else unfused
        times[point["point"]] = (plan["ns"] / 1e3, plan["deviation"])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", required=True, help="measure_fusion_points")
    parser.add_argument("--shapes", required=True, help="folder of the shapes")
    parser.add_argument("--out", help="file for the figures as JSON")
    options = parser.parse_args()
    columns = {launch: measure_tenon(options.measure, options.shapes, launch)
               for launch in ("graph", "graph-pdl")}
    columns["torch.compile"] = measure_torch()
    print(f"| operator ({torch.cuda.get_device_name()}, PyTorch {torch.__version__}), µs | "
          + " | ".join(columns) + " | torch / graph |")
    print("|---" * (len(columns) + 2) + "|")
    for name, (peer, deviation) in columns["torch.compile"].items():
        cells = [f"{column[name][0]:.2f} ± {100 * column[name][1]:.1f} %" for column in columns.values()]
        print(f"| {name} | " + " | ".join(cells) + f" | {peer / columns['graph'][name][0]:.2f} |")
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"torch": torch.__version__, "us": columns}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
