"""Reads and writes GGUF version 3 (docs/gguf.md of the ggml project), tensors in f32 only."""
import struct

import numpy as np

ALIGNMENT = 32
# How struct packs the numbers of each value type.
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
           12: "d"}
U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
TENSOR_F32 = 0


def _text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """Type and bytes of a metadata value: bool, int (as u32), float (as f32) or str."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    return struct.pack("<I", STRING) + _text(value)


def write(path, metadata, tensors):
    """Writes `metadata` (key to value) and `tensors` (name to f32 array), in their order."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        header += _text(key) + _value(value)
    data = b""
    for name, tensor in tensors.items():
        header += _text(name) + struct.pack("<I", tensor.ndim)
        header += struct.pack(f"<{tensor.ndim}Q", *reversed(tensor.shape))
        header += struct.pack("<IQ", TENSOR_F32, len(data))
        data += np.ascontiguousarray(tensor, dtype="<f4").tobytes()
        data += bytes(-len(data) % ALIGNMENT)
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % ALIGNMENT) + data)


class _Cursor:
    def __init__(self, data):
        self.data, self.offset = data, 0

    def number(self, code):
        value, = struct.unpack_from("<" + code, self.data, self.offset)
        self.offset += struct.calcsize("<" + code)
        return value

    def text(self):
        length = self.number("Q")
        self.offset += length
        return self.data[self.offset - length:self.offset].decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            kind, count = self.number("I"), self.number("Q")
            return [self.value(kind) for _ in range(count)]
        return self.number(FORMATS[kind])


def read(path):
    """The metadata and the tensors of a file that one trusts."""
    with open(path, "rb") as file:
        cursor = _Cursor(file.read())
    if cursor.data[:4] != b"GGUF":
        raise ValueError(f"{path}: expects a GGUF file")
    cursor.offset = 8
    tensor_count, key_count = cursor.number("Q"), cursor.number("Q")
    metadata = {}
    for _ in range(key_count):
        key = cursor.text()
        metadata[key] = cursor.value(cursor.number("I"))
    rows = []
    for _ in range(tensor_count):
        name, axes = cursor.text(), cursor.number("I")
        shape = [cursor.number("Q") for _ in range(axes)][::-1]
        kind, offset = cursor.number("I"), cursor.number("Q")
        if kind != TENSOR_F32:
            raise ValueError(f"{path}: tensor '{name}' expects f32, but got type {kind}")
        rows.append((name, shape, offset))
    alignment = metadata.get("general.alignment", ALIGNMENT)
    start = -(-cursor.offset // alignment) * alignment
    tensors = {name: np.frombuffer(cursor.data, "<f4", int(np.prod(shape)),
                                   start + offset).reshape(shape)
               for name, shape, offset in rows}
    return metadata, tensors
