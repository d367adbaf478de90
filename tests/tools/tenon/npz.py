#!/usr/bin/env python3
"""Writes and shows .npz archives without NumPy, for tests.

npz.py write FILE NAME:DTYPE:SHAPE=VALUES ...   SHAPE as 2x3, VALUES separated by commas
npz.py show FILE                                name, type, shape and values of each array
"""
import ast
import struct
import sys
import zipfile

CODES = {"<f4": "f", "<f2": "e", "<i4": "i", "<i8": "q", "<u2": "H", "|u1": "B",
         "|b1": "?"}


def write(path, specifications):
    with zipfile.ZipFile(path, "w") as archive:
        for specification in specifications:
            head, values = specification.split("=", 1)
            name, dtype, shape = head.split(":")
            shape = tuple(int(extent) for extent in shape.split("x"))
            data = [float(v) if CODES[dtype] in "fe" else int(v) for v in values.split(",")]
            header = repr({"descr": dtype, "fortran_order": False, "shape": shape})
            header += " " * (-(len(header) + 11) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                             header.encode() + struct.pack(f"<{len(data)}{CODES[dtype]}", *data))


def show(path):
    with zipfile.ZipFile(path) as archive:
        for member in sorted(archive.namelist()):
            data = archive.read(member)
            length, = struct.unpack_from("<H", data, 8)
            header = ast.literal_eval(data[10:10 + length].decode())
            values = data[10 + length:]
            code = CODES[header["descr"]]
            count = len(values) // struct.calcsize(code)
            numbers = struct.unpack(f"<{count}{code}", values)
            print(member[:-4], header["descr"], header["shape"],
                  " ".join(f"{number:.6g}" for number in numbers))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3:])
    else:
        show(sys.argv[2])
