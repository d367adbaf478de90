#!/usr/bin/env python3
"""Writes and measures the chains of chains.py on one device: one operation at a time, with fewest kernels,
and as the cost model decides.

    bench/chains/measure.py --tenon build/release/bin/tenon [--rows 1,8] [--types f16,bf16,f32] \
        [--chains 1-8,20] [--out FILE]

A chain stands in a function as many times as hold 200 MB of weights, 4 to 16 times, so that weights come
from memory; times are medians of calls, µs a copy. `right`: the plan `auto` takes at most 2 % longer
than the faster of the others, or is that plan. `saved` says what fusion saves as predicted and as measured, and the next
two columns by how much the prediction of `auto` and `unfused` is off. Last comes what is fused, or why
neighbours are not. Where all is one operation once it is raised from its parts, `parts` has the time
without that. page.py makes a page of what --out has. Graphs are compiled by other processes while earlier ones
are measured; `--compile-only` needs no GPU.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chains import CHAINS, Chain
from page import COLUMNS, PLANS, cells, judge

COLD_BYTES, FEWEST, MOST = 200_000_000, 4, 16
MOST_BYTES = 400_000_000  # of a function's inputs and results, which calls copy
RAISES = "activation,attention,gelu,glu,layer_norm,rms_norm,rope"


def bytes_of(values):
    return sum(math.prod(value.shape) * 4 for value in values)


def write(entry, rows, element, folder):
    """The graph of a chain and how many copies it has."""
    name = f"chain{entry.number}_{CHAINS.index(entry)}_{element}_{rows}"
    one = Chain(name, rows, element)
    entry.build(one)
    copies = min(MOST, max(FEWEST, math.ceil(COLD_BYTES / max(one.weight_bytes, 1))))
    ports = bytes_of(one.inputs.values()) + bytes_of(one.outputs.values()) + bytes_of(
        one.g.states.values())
    copies = max(1, min(copies, MOST_BYTES // ports))
    chain = Chain(name, rows, element)
    for chain.copy in range(copies):
        entry.build(chain)
    chain.g.write(folder, chain.outputs, has_weights=False)
    return folder / f"{name}.mlir", copies


def decisions(options, graph):
    """What explain says: the chains that are one kernel, and each refusal once."""
    text = subprocess.run(["nice", "-n", "19", options.tenon, "explain", graph, f"--target={options.target}",
                           "--points=none", "--json"], check=True, capture_output=True,
                          text=True).stdout
    names = lambda entry: " ".join(op.split(" ")[0] for op in entry["ops"])
    fused, refused = {}, {}
    for entry in json.loads(text):
        if entry["taken"]:
            fused[names(entry)] = entry["rule"]
        elif entry.get("neighbours"):
            refused[names(entry)] = entry["reason"]
    return list(fused), [f"{ops}: {reason}" for ops, reason in refused.items()]


def compile_plans(options, graph, plans, *more):
    """Leaves the kernels of plans in the cache; what went wrong."""
    program = graph.with_suffix(".tnn")
    for plan in plans:
        result = subprocess.run(
            ["nice", "-n", "19", options.tenon, "compile", graph, f"--target={options.target}",
             f"--plan={plan}", "--random-weights=1", "--points=none", "-o", program, *more],
            capture_output=True, text=True)
        program.unlink(missing_ok=True)
        if result.returncode:
            return result.stderr.strip()
    return ""


def prepare(options, graph):
    """Compiles all that is measured of a graph; what went wrong, and the decisions."""
    if error := compile_plans(options, graph, PLANS):
        return error, None
    fused, refused = decisions(options, graph)
    if not fused and not refused:
        return compile_plans(options, graph, ["unfused"], f"--disable={RAISES}"), (fused, refused)
    return "", (fused, refused)


def bench(options, graph, plans, *more):
    """The figures of the plans as `tenon bench` gives them."""
    text = subprocess.run([options.tenon, "bench", graph, "--random-weights=1", f"--device={options.device}",
                           "--points=none", f"--plans={','.join(plans)}",
                           f"--steps={options.calls},time", "--json", *more], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def describe(entry, rows, element, copies, chains):
    """What is known of a graph before it runs."""
    fused, refused = chains
    return {"chain": entry.number, "name": entry.name, "type": element, "rows": rows, "copies": copies,
            "fused_chains": fused, "refused": refused}


def measure(options, record, graph):
    """Adds the figures of one graph, times in µs a copy."""
    copies = record["copies"]
    for plan in bench(options, graph, PLANS):
        record[plan["plan"]] = plan["steps_ns"]["median"] / 1e3 / copies
        record[f"{plan['plan']}_predicted"] = plan["predicted_ns"] / 1e3 / copies
        record[f"{plan['plan']}_launches"] = plan["launches"] / copies
    if not record["fused_chains"] and not record["refused"]:
        parts = bench(options, graph, ["unfused"], f"--disable={RAISES}")[0]
        record["parts"] = parts["steps_ns"]["median"] / 1e3 / copies


def line(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--rows", default="1,8,64,512,2048", help="those wanted")
    parser.add_argument("--types", default="f16")
    parser.add_argument("--chains", default="", help="numbers of those wanted, or ranges: 1-8,20")
    parser.add_argument("--target", default="native", help="what to compile for")
    parser.add_argument("--device", default="cuda", help="what to measure on: cuda or cpu")
    parser.add_argument("--calls", type=int, default=25)
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--out", help="file for the figures, a JSON object a line")
    options = parser.parse_args()
    wanted = list(map(int, options.rows.split(",")))
    numbers = set()
    for part in filter(None, options.chains.split(",")):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    points = [(entry, rows, element) for element in options.types.split(",") for rows in wanted
              for entry in CHAINS
              if (not numbers or entry.number in numbers) and rows in entry.rows]
    failed, wrong, done = [], 0, 0
    out = open(options.out, "w", encoding="utf-8") if options.out else None
    print(line(heading for heading, _ in COLUMNS) + "\n" + "|---" * len(COLUMNS) + "|", flush=True)
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(
            max(1, len(os.sched_getaffinity(0)) * 3 // 4)) as compilers:
        graphs = [(point, *write(*point, Path(temporary))) for point in points]
        compiled = [compilers.submit(prepare, options, graph) for _, graph, _ in graphs]
        for (point, graph, copies), compilation in zip(graphs, compiled):
            name = f"{point[0].name}, {point[2]}, {point[1]} rows"
            error, chains = compilation.result()
            if error:
                failed.append(f"{name}: {error}")
                continue
            record = describe(*point, copies, chains)
            try:
                if not options.compile_only:
                    measure(options, record, graph)
                    done, wrong = done + 1, wrong + (judge(record) == "**no**")
                    print(line(cells(record)[member] for _, member in COLUMNS), flush=True)
            except subprocess.CalledProcessError as problem:
                failed.append(f"{name}: {problem.stderr.strip()}")
                continue
            if out:
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
                out.flush()
    print(f"\n{done} of {len(points)} measured, {wrong} decided wrongly, {len(failed)} failed")
    for problem in failed:
        print(problem, file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
