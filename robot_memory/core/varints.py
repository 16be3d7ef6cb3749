"""Integers of variable length, as SQLite writes them: seven bits a byte, the first ones first."""

from __future__ import annotations

import mmap


def read_varint(data: mmap.mmap | bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at a place, and where it ends."""
    value = 0
    for place in range(at, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9
