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


def read_id(data: mmap.mmap | bytes, at: int) -> tuple[int, int]:
    """Return the id of a row that begins at a place, which may be negative, and where it ends."""
    value, at = read_varint(data, at)
    return value - (value >> 63 << 64), at


def write_varint(number: int) -> bytes:
    """Return a number of 64 bits, which may be negative, in as few bytes as there can be."""
    number &= 2**64 - 1
    if number >> 56:
        high = number >> 8
        groups = [high >> 7 * place & 0x7F | 0x80 for place in range(7, -1, -1)]
        return bytes([*groups, number & 0xFF])
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))
