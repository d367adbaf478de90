#!/usr/bin/env python3
"""The targets that the first systems for fused inference set, beside what Tenon reaches, in one run.

    bench/peers/targets.py --tenon build/release/bin/tenon --commit ID --out bench/results/targets.json

Measured are decode of one row at position 512 and prefill of 2,048 tokens of three models, random
weights, under the plans `vanilla` (attention as product, mask, softmax and product with its scores in
memory, gated units apart), `unfused` and `auto`: the tables of `tenon bench`. A group's bound is what the
target's rates allow: its time under the plan it is measured against, over the time that the bytes and
operations of `auto` take at least. Beside PyTorch eager stands residual + LayerNorm, both results used,
in f16 and f32: launches as nodes of a CUDA graph, so that the host's time does not count, and as they are
launched. scripts/results makes a page of the file.
"""
import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "chains"))
from chains import Chain  # noqa: E402

MODELS = (("llama-3.2-1b", "bf16"), ("pythia-2.8b", "f16"), ("llama-3.1-8b", "bf16"))
SHAPES = ("decode:1", "prefill:2048")
COMMAND = "bench/peers/targets.py --tenon TENON --commit ID --out bench/results/targets.json"
# What a group or step is to gain, as first systems reported it: at least so many times as fast.
WANTED = {"attention": 2.0, "ffn": 1.3}
COPIES_BYTES, MOST_COPIES = 400_000_000, 16  # of results


def bench(tenon, *flags):
    """The document of `tenon bench`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        subprocess.run([tenon, "bench", *flags, "--device=cuda", "--points=none", "-o", path], check=True,
                       capture_output=True)
        return json.loads(path.read_text(encoding="utf-8"))


def median(plan):
    return plan["steps_ns"]["median"]


def group_ns(plan, name):
    """Of all groups with that name in theirs: a kernel may be of two."""
    return sum(group["ns"] for group in plan["groups"] if name in group["name"].split("+"))


def least_ns(document, plan, name):
    """What the target's rates allow for the bytes and operations of a plan's group."""
    steps = [step for step in plan["steps"] if name in step["group"].split("+")]
    roofs = document["roofs"]
    bytes_ns = sum(step["bytes"] for step in steps) / roofs["bytes_per_ns"]
    rate = roofs["flops_per_ns"].get("tensor_16bit_gflops")
    return max(bytes_ns, sum(step["flops"] for step in steps) / rate if rate else 0)


def saved(first, plan, value):
    return 100 * (1 - value(plan) / value(first))


def memory(plan):
    """What a call needs beside weights and caches."""
    return plan["memory"]["workspace_bytes"] + plan["memory"]["port_bytes"]


def measure_model(options, model, element, shape):
    """Records of plans, of groups and of targets."""
    document = bench(options.tenon, model, "--random-weights=1", f"--type={element}",
                     f"--shapes={shape}", "--plans=vanilla,unfused,auto", f"--steps={options.calls}")
    name, plans = f"{model} {element}, {shape}", {p["plan"]: p for p in document["plans"]}
    auto = plans["auto"]
    table = [{"model": name, "plan": key, "ms": f"{median(plan) / 1e6:.3f}",
              "launches": plan["launches"], "fused": plan["fused_launches"],
              "planned": f"{plan['planned_bytes'] / 1e6:.1f}",
              "counted": f"{plan['counted_bytes'] / 1e6:.1f}" if plan["counted_bytes"] else "",
              "workspace": f"{plan['memory']['workspace_bytes'] / 1e6:.1f}",
              "memory": f"{plan['memory']['total_bytes'] / 1e6:.1f}",
              "differs": f"{plan['difference']:.1e}" if plan["difference"] is not None else ""}
             for key, plan in plans.items()]
    targets = []
    for against in ("vanilla", "unfused"):
        first = plans[against]
        for group, wanted in WANTED.items():
            before, after = group_ns(first, group), group_ns(auto, group)
            bound = before / least_ns(document, auto, group)
            targets.append({"model": name, "against": against, "what": f"{group}, times as fast",
                            "wanted": f"{wanted:.1f}", "found": f"{before / after:.2f}",
                            "bound": f"{bound:.2f}", "holds": before / after >= wanted})
        for what, wanted, value in (("launches, % fewer", 50, lambda p: p["launches"]),
                                    ("step, % shorter", 20, median),
                                    ("workspace and ports, % less", 30, memory)):
            if value is memory and not shape.startswith("prefill"):
                continue
            found = saved(first, auto, value)
            bound = ""
            if value is median:
                # Beyond all bytes and operations of the plan at the target's rates.
                least = sum(least_ns(document, auto, group)
                            for group in {s["group"] for s in auto["steps"]})
                bound = f"{100 * (1 - least / median(first)):.0f}"
            targets.append({"model": name, "against": against, "what": what, "wanted": str(wanted),
                            "found": f"{found:.0f}", "bound": bound, "holds": found >= wanted})
    return table, targets


def copies_of(rows, width, bytes_each):
    return max(4, min(MOST_COPIES, COPIES_BYTES // (2 * rows * width * bytes_each)))


def residual_norm(x, r, w, b):
    s = x + r
    return s, F.layer_norm(s, s.shape[-1:], w, b, 1e-5)


@torch.inference_mode()
def time_eager(rows, width, dtype):
    """µs of one sum and norm in PyTorch, in a graph of copies and launched one by one."""
    count = copies_of(rows, width, dtype.itemsize)
    r = torch.randn(rows, width, device="cuda", dtype=dtype)
    weights = [[torch.randn(width, device="cuda", dtype=dtype) for _ in range(2)]
               for _ in range(count)]
    inputs = [torch.randn_like(r) for _ in range(count)]
    stream = torch.cuda.Stream()

    def copies():
        for copy, (w, b) in enumerate(weights):
            residual_norm(inputs[copy], r, w, b)

    with torch.cuda.stream(stream):
        copies()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    begin, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
    with torch.cuda.graph(graph, stream=stream):
        begin.record()
        copies()
        end.record()
    times = {"graph": [], "launched": []}
    for _ in range(40):
        graph.replay()
        torch.cuda.synchronize()
        times["graph"].append(begin.elapsed_time(end) * 1e3 / count)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(40):
        begin.record()
        copies()
        end.record()
        torch.cuda.synchronize()
        times["launched"].append(begin.elapsed_time(end) * 1e3 / count)
    return {key: statistics.median(values) for key, values in times.items()}


def time_norm(tenon, rows, width, element, count):
    """µs of the same in Tenon, by plan."""
    chain = Chain("residual_norm", rows, element)
    for chain.copy in range(count):
        total = chain.add(chain.residual(width), chain.x(width))
        chain.result(total, chain.layer_norm(total))
    with tempfile.TemporaryDirectory() as folder:
        chain.g.write(Path(folder), chain.outputs, has_weights=False)
        document = bench(tenon, str(Path(folder) / "residual_norm.mlir"), "--random-weights=1",
                         "--plans=unfused,auto", "--steps=25,time")
    return {plan["plan"]: median(plan) / 1e3 / count for plan in document["plans"]}


def measure_norms(tenon):
    for element, dtype in (("f16", torch.float16), ("f32", torch.float32)):
        for rows, width in ((1, 2560), (1024, 2560), (4096, 4096)):
            us = time_norm(tenon, rows, width, element, copies_of(rows, width, dtype.itemsize))
            eager = time_eager(rows, width, dtype)
            # x and the residual are read, the sum and the norm written.
            yield {"shape": f"[{rows}, {width}] {element}", "eager": f"{eager['graph']:.2f}",
                   "launched": f"{eager['launched']:.2f}", "unfused": f"{us['unfused']:.2f}",
                   "auto": f"{us['auto']:.2f}", "ratio": f"{eager['graph'] / us['auto']:.2f}",
                   "launched_ratio": f"{eager['launched'] / us['auto']:.2f}",
                   "gbs": f"{4 * rows * width * dtype.itemsize / us['auto'] / 1e3:.0f}",
                   "holds": "yes" if eager["graph"] >= 2 * us["auto"] else "no"}


def columns(**headings):
    return [[heading.replace("_", " "), key] for key, heading in headings.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--commit", required=True, help="of it")
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--models", default="", help="these models alone, without norms")
    parser.add_argument("--text", default="", help="what a reader must know beside")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    plans, targets = [], []
    run = {"title": "The targets of the first systems for fused inference",
           "date": datetime.date.today().isoformat(), "device": torch.cuda.get_device_name(),
           "commit": options.commit, "command": COMMAND, "text": options.text, "tables": [
               {"caption": "Residual + LayerNorm with both results, µs, beside PyTorch eager "
                           f"{torch.__version__}; wanted 2 to 3 times:",
                "columns": columns(shape="shape", eager="eager, in a graph", launched="eager",
                                   unfused="unfused", auto="auto", ratio="graph / auto",
                                   launched_ratio="eager / auto", gbs="GB/s of auto", holds="holds"),
                "records": []},
               {"caption": "Targets; a bound is what the rates of the target allow:",
                "columns": columns(model="model", against="against", what="what", wanted="wanted",
                                   found="found", bound="bound", holds="holds"),
                "records": targets},
               {"caption": "Plans; memory in MB:",
                "columns": columns(model="model", plan="plan", ms="ms", launches="launches",
                                   fused="of several operations", planned="bytes planned", counted="bytes counted",
                                   workspace="workspace", memory="memory in all",
                                   differs="differs from vanilla"),
                "records": plans}]}

    def keep():
        options.out.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    for record in measure_norms(options.tenon) if not options.models else ():
        run["tables"][0]["records"].append(record)
        print(record, flush=True)
        keep()
    for model, element in MODELS:
        if options.models and model not in options.models.split(","):
            continue
        for shape in SHAPES:
            of_plans, of_targets = measure_model(options, model, element, shape)
            for target in of_targets:
                target["holds"] = "yes" if target["holds"] else "no"
                print(target, flush=True)
            plans += of_plans
            targets += of_targets
            keep()


if __name__ == "__main__":
    sys.exit(main())
