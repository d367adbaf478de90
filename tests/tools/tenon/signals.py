"""What commands do when a model shrinks under them, and when they are interrupted.

usage: signals.py FOLDER MODEL
"""
import os
import shutil
import signal
import subprocess
import sys
import time

folder, model = sys.argv[1:3]


def shrink():
    """The model becomes empty while text is generated, which waits for its reader."""
    path = os.path.join(folder, "shrinking.gguf")
    shutil.copy(model, path)
    command = ["tenon", "run", path, "-p", "Once", "-n", "2000", "--threads=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        os.truncate(path, 0)
        error = process.communicate()[1].decode()
    assert process.returncode == 1, (process.returncode, error)
    assert error.endswith(f"tenon: error: {path} became shorter while it was in use\n"), error


def interrupt(number):
    """A large file is being written: nothing of it stays."""
    place = os.path.join(folder, "interrupted")
    os.mkdir(place)
    command = ["tenon", "random-model", "llama-3.2-1b", "-o", os.path.join(place, "m.gguf")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not os.listdir(place):
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
    assert process.returncode == -number, process.returncode
    os.rmdir(place)


shrink()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # a shell's background job ignores SIGINT, and so would tenon
    interrupt(number)
