"""Reads and writes GGUF version 3 (docs/gguf.md of the ggml project), tensors in f32 and MXFP4."""
import struct

import numpy as np

ALIGNMENT = 32
# How struct packs the numbers of each value type.
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
           12: "d"}
U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
TENSOR_F32, TENSOR_MXFP4 = 0, 39
# The numbers of E2M1; those of the codes from 8 on are negative.
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
MXFP4_BLOCK = 32


def _text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """Type and bytes of a metadata value: bool, int (as u32), float (as f32), str or a list of those."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    if isinstance(value, list):
        parts = [_value(element) for element in value]
        return (struct.pack("<I", ARRAY) + parts[0][:4] + struct.pack("<Q", len(parts))
                + b"".join(part[4:] for part in parts))
    return struct.pack("<I", STRING) + _text(value)


def round_to_mxfp4(tensor):
    """Codes [..., blocks, 32], exponents [..., blocks] and the nearest values of MXFP4 to an f32 array
    whose last axis is whole blocks."""
    blocks = tensor.astype(np.float64).reshape(*tensor.shape[:-1], -1, MXFP4_BLOCK)
    largest = np.maximum(np.abs(blocks).max(axis=-1), 2.0 ** -120)
    exponents = np.floor(np.log2(largest)).astype(int) - 2
    scales = np.exp2(exponents)[..., None]
    codes = np.abs(np.abs(blocks / scales)[..., None] - E2M1).argmin(axis=-1)
    negative = (blocks < 0) & (codes > 0)
    values = np.where(negative, -1, 1) * E2M1[codes] * scales
    return (codes + 8 * negative).astype(np.uint8), (exponents + 127).astype(np.uint8), \
        values.reshape(tensor.shape).astype(np.float32)


def _mxfp4(tensor):
    """ggml's blocks of 17 bytes, of values that are MXFP4's."""
    codes, exponents, values = round_to_mxfp4(tensor)
    assert np.array_equal(values, tensor)
    half = MXFP4_BLOCK // 2
    packed = codes[..., :half] | codes[..., half:] << 4
    return np.concatenate([exponents[..., None], packed], axis=-1).tobytes()


def write(path, metadata, tensors, mxfp4=()):
    """Writes `metadata` (key to value) and `tensors` (name to f32 array), in their order; those named
    in `mxfp4` in that type."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        header += _text(key) + _value(value)
    data = b""
    for name, tensor in tensors.items():
        header += _text(name) + struct.pack("<I", tensor.ndim)
        header += struct.pack(f"<{tensor.ndim}Q", *reversed(tensor.shape))
        kind = TENSOR_MXFP4 if name in mxfp4 else TENSOR_F32
        header += struct.pack("<IQ", kind, len(data))
        data += (_mxfp4(tensor) if name in mxfp4 else
                 np.ascontiguousarray(tensor, dtype="<f4").tobytes())
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
