"""Lets allocations, writes and whole processes fail at many places of a compilation with a cache.

After each fault there is the old file, whole, or the new one, whole, and no other; the command says
what happened in one line; the next run of the same command, with the same cache, gives the same bytes
as a run without faults.

usage: inject_faults.py TENON TENON_RUN FAULTS_LIBRARY MODEL SECONDS
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

tenon, tenon_run, library, model, seconds = sys.argv[1:5] + [float(sys.argv[5])]
folder = tempfile.mkdtemp(prefix="tenon-faults-")
seed = random.SystemRandom().randrange(1 << 32)
draw = random.Random(seed)
out, cache = os.path.join(folder, "out.tnn"), os.path.join(folder, "cache")
old = b"what was there before"
failures = []


def environment(**more):
    return {**os.environ, "TENON_CACHE_DIR": cache, **more}


def compile_model(**more):
    command = [tenon, "compile", model, "--shapes=decode:1", "--points=none", "-o", out]
    return subprocess.run(command, env=environment(**more), capture_output=True, text=True, check=False)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def count(kind):
    """How many calls of that kind a whole compilation makes."""
    path = os.path.join(folder, "count")
    shutil.rmtree(cache, ignore_errors=True)
    result = compile_model(LD_PRELOAD=library, TENON_FAULT=kind + ":1", TENON_FAULT_COUNT=path)
    assert result.returncode == 0, result.stderr
    return int(read(path))


def check(what, condition, result):
    if not condition:
        failures.append(f"{what}: exit {result.returncode}: {result.stderr.strip()[-300:]}")


def inject(kind, number, whole):
    """One fault, then what must be so."""
    what = f"{kind}:{number}"
    if draw.randrange(2):
        shutil.rmtree(cache, ignore_errors=True)
    write(out, old)
    result = compile_model(LD_PRELOAD=library, TENON_FAULT=what)
    check(what + " leaves a file, old or new", read(out) in (old, whole), result)
    check(what + " reports success for the new file alone",
          (result.returncode == 0) <= (read(out) == whole), result)
    if kind == "kill":
        check(what + " ends by the signal or well", result.returncode in (0, -signal.SIGKILL), result)
    else:
        check(what + " fails with one line or not at all",
              result.returncode == 0 or (result.returncode == 1 and result.stderr.count("\n") == 1
                                         and result.stderr.startswith("tenon: error: ")), result)
        check(what + " leaves no other file",
              not any(name.endswith(".tmp") for name in os.listdir(folder)), result)
    for name in os.listdir(folder):
        if name.endswith(".tmp"):
            os.remove(os.path.join(folder, name))
    again = compile_model()
    check(what + " does no harm to the next run", again.returncode == 0 and read(out) == whole, again)


def main():
    print("seed", seed)
    for attempt in range(2):  # cold, then from the cache
        result = compile_model()
        assert result.returncode == 0, result.stderr
    whole = read(out)
    text = subprocess.run([tenon_run, out, "-p", "Once", "-n", "8"], capture_output=True, check=True)
    assert b"Once" in text.stdout, text.stdout
    calls = {kind: count(kind) for kind in ("malloc", "write", "kill")}
    print("calls", calls)
    assert all(calls.values())
    end, faults = time.monotonic() + seconds, 0
    # Every write and every place to be killed once, if there is time; allocations anywhere.
    places = [(kind, number) for kind in ("write", "kill") for number in range(1, calls[kind] + 1)]
    draw.shuffle(places)
    while time.monotonic() < end and len(failures) < 10:
        kind, number = ("malloc", 0) if faults % 3 == 0 or not places else places.pop()
        if kind == "malloc":  # as likely among the first ones as among all
            number = int(calls[kind] ** draw.random())
        inject(kind, number, whole)
        faults += 1
    print(faults, "faults")
    print("\n".join(failures))
    shutil.rmtree(folder)
    return 1 if failures else 0


sys.exit(main())
