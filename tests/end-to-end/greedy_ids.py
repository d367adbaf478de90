#!/usr/bin/env python3
"""Generates greedily with a model and compares the ids with the reference's.

The same ids must come out of the interpreter, of `tenon run` on the model file, of `tenon compile`
followed by `tenon run` on the program, and of `tenon-run` on the program.

With --cuda, the same on a GPU, in f32, without the interpreter: there the device chooses the
tokens.

Usage: greedy_ids.py [--cuda] TENON TENON_RUN MODEL REFERENCE [KEY]
REFERENCE is a JSON file with `runs` (prompt, prompt_ids, greedy_ids, min_top2_margin), or, with
KEY, an object of that name with prompt_ids, greedy_ids, text. Runs whose smallest margin between
the two best tokens is below 1e-3 must agree in their prompt ids and up to the first token only:
there rounding may decide.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LEAST_MARGIN = 1e-3


def read_runs(path, key):
    """The runs of a reference file."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    if key:
        return [dict(data[key], prompt="Once upon a time")]
    return data["runs"]


def generate(command, prompt, count):
    """The object that a command prints for a prompt."""
    process = subprocess.run([*command, "-p", prompt, "-n", str(count), "--temperature", "0",
                              "--json"], capture_output=True, text=True)
    if process.returncode != 0:
        raise SystemExit(f"{command} failed: {process.stderr}")
    return json.loads(process.stdout)


def differences(expected, found):
    """Yields a sentence for everything that differs."""
    count = len(expected["greedy_ids"])
    if expected.get("min_top2_margin", 1) < LEAST_MARGIN:
        count = 1
    if found["prompt_ids"] != expected["prompt_ids"]:
        yield f"prompt ids: expected {expected['prompt_ids']}, found {found['prompt_ids']}"
    if found["ids"][:count] != expected["greedy_ids"][:count]:
        yield f"ids: expected {expected['greedy_ids'][:count]}, found {found['ids'][:count]}"
    if count > 1 and "text" in expected and found["text"] != expected["text"]:
        yield f"text: expected {expected['text']!r}, found {found['text']!r}"


def main():
    on_gpu = "--cuda" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--cuda"]
    tenon, tenon_run, model, reference = arguments[:4]
    runs = read_runs(reference, arguments[4] if len(arguments) > 4 else None)
    how = ["--activations=f32"] if on_gpu else []
    failures = checks = 0
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "model.tnn"))
        target = ["--target=h200"] if on_gpu else []
        subprocess.run([tenon, "compile", model, "-o", program, *target, *how], check=True)
        ways = {
            "tenon run": [tenon, "run", model, *how, "--device=cuda" if on_gpu else "--device=cpu"],
            "tenon run on a program": [tenon, "run", program],
            "tenon-run": [tenon_run, program],
        }
        if not on_gpu:
            ways["interpreter"] = [tenon, "run", model, "--device", "reference"]
        for run in runs:
            for way, command in ways.items():
                checks += 1
                found = generate(command, run["prompt"], len(run["greedy_ids"]))
                for difference in differences(run, found):
                    failures += 1
                    print(f"{model}: {run['prompt']!r} by {way}: {difference}")
    print(f"{checks} generations, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
