#!/usr/bin/env python3
"""Operators and short chains beside PyTorch, in one run on one GPU.

    bench/peers/torch_operators.py --measure build/release/bin/measure_fusion_points \
        --shapes bench/shapes [--only PART] [--mode MODE] [--out FILE]

Every operator is captured as a CUDA graph of copies, f16 or bf16, random values: products with weights
that rotate beyond the L2 cache, on the same activations; sums with norms each on the sum and the norm
of the copy before, as one layer follows another. Times are medians of replays, each behind another, in
µs a copy, between events that are nodes of the graph: what starts a graph does not count. Tenon's copies
are made and timed so, too. Tenon's are those of the plan that its cost model chooses, from the set
`peers` of the shapes, in a CUDA graph without and with programmatic dependent launch. PyTorch's are
eager and compiled (--mode); of attention the faster of cuDNN's and FlashAttention.
"""
import argparse
import json
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

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


def layer_product(x, g, b, w):
    return F.linear(F.layer_norm(x, x.shape[-1:], g, b, 1e-5), w)


def layer_product_int4(x, g, b, w, s):
    """tinygemm: groups of 128 with a scale and a zero each."""
    return torch.ops.aten._weight_int4pack_mm(F.layer_norm(x, x.shape[-1:], g, b, 1e-5), w, 128, s)


def gated(x, w):
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(gate) * up


def attention(backend):
    def causal(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    return causal


ATTENTION = {"cuDNN": attention(SDPBackend.CUDNN_ATTENTION),
             "flash": attention(SDPBackend.FLASH_ATTENTION)}
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


def random(*shape, dtype=torch.float16):
    return torch.randn(*shape, dtype=dtype, device="cuda") / shape[-1] ** 0.5


def random_int4(columns, depth):
    """Weights as tinygemm takes them, [columns, depth], with scales and zeros in bf16."""
    pairs = torch.randint(256, (columns, depth // 2), dtype=torch.uint8, device="cuda")
    packed = torch.ops.aten._convert_weight_to_int4pack(pairs, 8)
    return packed, random(depth // 128, columns, 2, dtype=torch.bfloat16)


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
    for rows in (1, 8):
        x = random(rows, 4096, dtype=torch.bfloat16)
        norm = [random(4096, dtype=torch.bfloat16) for _ in range(2)]
        yield (f"layer_product bf16 {rows}x4096x12288", layer_product, (x, *norm),
               lambda: (random(12288, 4096, dtype=torch.bfloat16),))
        yield (f"layer_product_int4 bf16 {rows}x4096x12288", layer_product_int4, (x, *norm),
               lambda: random_int4(12288, 4096))
    for kind, dtype in TYPES.items():
        for rows in (1, 16, 64, 256, 1024, 4096):
            x = random(rows, 4096, dtype=dtype)
            yield (f"rms_product {kind} {rows}x4096x4096", rms_product, (x,),
                   lambda d=dtype: (random(4096, dtype=d), random(4096, 4096, dtype=d)))
            yield (f"gated {kind} {rows}x4096x14336", gated, (x,),
                   lambda d=dtype: (random(28672, 4096, dtype=d),))
        for size in (64, 128):
            for rows in (128, 512, 2048, 4096) + ((8192,) if kind == "bf16" else ()):
                # As Tenon has them: heads within rows.
                q, k, v = (random(1, rows, heads, size, dtype=dtype).transpose(1, 2)
                           for heads in (32, 8, 8))
                yield (f"prompt_attention {kind} {rows}x{32 * size}", None, (q, k, v), tuple)


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


def measure_torch(only, mode):
    """Eager and compiled times by the names of points."""
    eager, compiled = {}, {}
    for name, function, activations, make_weights in cases():
        if only not in name:
            continue
        if function is None:
            eager[name] = min(time_graph(each, activations, make_weights)
                              for each in ATTENTION.values())
            continue
        eager[name] = time_graph(function, activations, make_weights)
        fast = torch.compile(function, mode=mode, dynamic=False)
        fast(*activations, *make_weights())
        compiled[name] = time_graph(fast, activations, make_weights)
        torch._dynamo.reset()
    return eager, compiled


def measure_tenon(binary, shapes, only, launch):
    """The time of the plan that `auto` would take, µs, and its relative deviation."""
    lines = subprocess.run([binary, "--shapes", shapes, "--set", "peers", "--only", only,
                            "--launch", launch], check=True, capture_output=True, text=True).stdout.splitlines()
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
    parser.add_argument("--only", default="", help="part of the names of the points wanted")
    parser.add_argument("--mode", default="max-autotune-no-cudagraphs", help="of torch.compile")
    parser.add_argument("--out", help="file for the figures as JSON")
    options = parser.parse_args()
    columns = {launch: measure_tenon(options.measure, options.shapes, options.only, launch)
               for launch in ("graph", "graph-pdl")}
    columns["torch eager"], columns["torch.compile"] = measure_torch(options.only, options.mode)
    print(f"| operator ({torch.cuda.get_device_name()}, PyTorch {torch.__version__}), µs | "
          + " | ".join(columns) + " | best of torch / graph |")
    print("|---" * (len(columns) + 2) + "|")
    for name in columns["torch eager"]:
        cells = [f"{column[name][0]:.2f} ± {100 * column[name][1]:.1f} %" if name in column else ""
                 for column in columns.values()]
        peer = min(columns[each][name][0] for each in ("torch eager", "torch.compile")
                   if name in columns[each])
        print(f"| {name} | " + " | ".join(cells) + f" | {peer / columns['graph'][name][0]:.2f} |")
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"torch": torch.__version__, "us": columns}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
