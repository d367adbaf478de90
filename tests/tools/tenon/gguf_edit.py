"""Takes a GGUF version 3 file apart and puts it together again with one thing changed, for tests."""
import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
U32, F32, STRING, ARRAY = 4, 6, 8, 9


def u32(value):
    return struct.pack("<II", U32, value)


def f32(value):
    return struct.pack("<If", F32, value)


def string(text):
    data = text.encode()
    return struct.pack("<IQ", STRING, len(data)) + data


class Gguf:
    """keys: name to the bytes of type and value. tensors: lists [name, ne, type, data]."""

    def __init__(self, path):
        data = open(path, "rb").read()
        self.at = 24
        self.alignment = 32
        count, keys = struct.unpack_from("<QQ", data, 8)
        self.keys = {}
        for _ in range(keys):
            name = self._text(data)
            start = self.at
            self._skip(data, self._number(data, "I"))
            self.keys[name] = data[start:self.at]
        rows = []
        for _ in range(count):
            name = self._text(data)
            ne = [self._number(data, "Q") for _ in range(self._number(data, "I"))]
            rows.append((name, ne, self._number(data, "I"), self._number(data, "Q")))
        base = -(-self.at // 32) * 32
        ends = [row[3] for row in rows[1:]] + [len(data) - base]
        self.tensors = [[name, ne, kind, data[base + offset:base + end]]
                        for (name, ne, kind, offset), end in zip(rows, ends)]

    def _number(self, data, code):
        value, = struct.unpack_from("<" + code, data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def _text(self, data):
        length = self._number(data, "Q")
        self.at += length
        return data[self.at - length:self.at].decode()

    def _skip(self, data, kind):
        if kind == STRING:
            self._text(data)
        elif kind == ARRAY:
            kind, count = self._number(data, "I"), self._number(data, "Q")
            if kind == STRING:
                for _ in range(count):
                    self._text(data)
            else:
                self.at += count * SIZES[kind]
        else:
            self.at += SIZES[kind]

    def tensor(self, name):
        return next(tensor for tensor in self.tensors if tensor[0] == name)

    def write(self, path, counts=None, offsets=None, version=3, magic=b"GGUF"):
        """`counts` (tensors, keys) and `offsets` (tensor to offset) may lie."""
        text = lambda name: struct.pack("<Q", len(name.encode())) + name.encode()
        head = magic + struct.pack("<IQQ", version, *(counts or (len(self.tensors), len(self.keys))))
        for name, value in self.keys.items():
            head += text(name) + value
        body = b""
        for name, ne, kind, data in self.tensors:
            offset = (offsets or {}).get(name, len(body))
            head += text(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne), *ne, kind, offset)
            body += data + bytes(-len(data) % 32)
        with open(path, "wb") as file:
            file.write(head + bytes(-len(head) % 32) + body)
