#!/usr/bin/env python3
"""Counts the options of all commands and checks that one name has one default everywhere.

options.py MOST       fails where the commands have more than MOST differently named options
"""
import re
import subprocess
import sys

TOOLS = ["tenon", "tenon-run"]
# Where a name has another default: `verify` calls decode once a key before its position, `bench` compares
# plans and measures calls, not kernels.
DIFFERENT = {"--position": "verify", "--plan": "bench", "--plans": "bench", "--measure": "bench"}
COMMAND = re.compile(r"^  ([a-z][a-z-]*) ", re.M)
OPTION = re.compile(r"^  (?:-\w,)?(--[a-z0-9-]+)(?:,--[a-z-]+)?(?: ([A-Z]\S*))?( REQUIRED)?", re.M)
OF_EVERY_PROGRAM = {"--help", "--version"}


def helpOf(*words):
    return subprocess.run([*words, "--help"], capture_output=True, text=True, check=True).stdout


def commands():
    """(command line, its help) of each."""
    for tool in TOOLS:
        text = helpOf(tool)
        parts = text.split("Subcommands:\n")
        yield tool, parts[0]
        for name in COMMAND.findall("".join(parts[1:])):
            yield f"{tool} {name}", helpOf(tool, name)


def main():
    defaults = {}
    for command, text in commands():
        options = text.split("Options:\n")[-1]
        for name, kind, required in OPTION.findall(options):
            if name in OF_EVERY_PROGRAM:
                continue
            found = defaults.setdefault(name, {})
            if not required and DIFFERENT.get(name) not in command.split()[1:]:
                found.setdefault(kind.partition("=")[2].strip("[]"), []).append(command)
    faults = [f"{name}: {found}" for name, found in defaults.items() if len(found) > 1]
    print(f"{len(defaults)} options: {' '.join(sorted(defaults))}")
    if len(defaults) > int(sys.argv[1]):
        faults.append(f"expects at most {sys.argv[1]} options, but there are {len(defaults)}")
    print("\n".join(faults), end="")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
