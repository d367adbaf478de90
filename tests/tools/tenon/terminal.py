#!/usr/bin/env python3
"""Runs a command whose standard error, and where asked standard output, is a terminal, and prints what
was written there, for tests.

terminal.py [--output] COMMAND ARGUMENT ...
"""
import os
import pty
import subprocess
import sys

reader, writer = pty.openpty()
shown = sys.argv[1] == "--output"
process = subprocess.Popen(sys.argv[1 + shown:], stdout=writer if shown else subprocess.DEVNULL, stderr=writer)
os.close(writer)
text = b""
while True:
    try:
        part = os.read(reader, 4096)
    except OSError:  # the last writer is gone
        break
    if not part:
        break
    text += part
print(text.decode(errors="replace").replace("\r", "\n"))
sys.exit(process.wait())
