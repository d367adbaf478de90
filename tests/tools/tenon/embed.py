"""Compares what `tenon embed` writes with a golden: embed.py GOLDEN.npz EMBEDDINGS.json [LINES]. The
first text is the golden's."""
import json
import math
import struct
import sys
import zipfile


def read(path, name):
    """A vector of a NumPy archive."""
    data = zipfile.ZipFile(path).read(name + ".npy")
    length, = struct.unpack_from("<H", data, 8)
    body = data[10 + length:]
    return struct.unpack(f"<{len(body) // 4}{'i' if name == 'ids' else 'f'}", body)


def main():
    golden = read(sys.argv[1], "embedding")
    length = math.sqrt(sum(x * x for x in golden))
    found = json.load(open(sys.argv[2], encoding="utf-8"))
    assert found[0]["tokens"] == len(read(sys.argv[1], "ids")), found[0]["tokens"]
    largest = max(abs(x) / length for x in golden)
    worst = max(abs(a - b / length) for a, b in zip(found[0]["embedding"], golden, strict=True))
    assert worst <= 1e-4 * largest, worst
    for text in found:
        assert abs(sum(x * x for x in text["embedding"]) - 1) < 1e-5
    for path in sys.argv[3:]:
        lines = [[float(x) for x in line.split()] for line in open(path, encoding="utf-8")]
        for line, text in zip(lines, found, strict=True):
            size = f"{len(line)}f"
            assert struct.pack(size, *line) == struct.pack(size, *text["embedding"])


main()
