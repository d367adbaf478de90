"""Runs `tenon inspect` and a failing command with a terminal as output; prints what reaches it.

usage: control-characters.py FOLDER
"""
import os
import pty
import struct
import subprocess
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value


def write_gguf(path):
    metadata = [(b"general.architecture", b"llama"), (b"general.name", b"\x1b[31mred\x07")]
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata) + 1))
        for key, value in metadata:
            file.write(text(key) + struct.pack("<I", 8) + text(value))
        file.write(text(b"key\x1b[2J") + struct.pack("<II", 4, 7))


def show(command):
    master, terminal = pty.openpty()
    subprocess.run(command, stdout=terminal, stderr=terminal, check=False)
    os.close(terminal)
    try:
        while data := os.read(master, 65536):
            sys.stdout.buffer.write(data)
    except OSError:
        pass  # how Linux says that all was read
    os.close(master)


path = os.path.join(sys.argv[1], "escapes.gguf")
write_gguf(path)
show(["tenon", "inspect", path])
show(["tenon", "inspect", "\x1b[31mno-such-file"])
