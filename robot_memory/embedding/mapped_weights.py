"""
Weights that lie inside a graph's file, described to onnxruntime as lying beside it.

It copies what a graph holds, and maps what lies beside it: of the latter only what is read counts.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_GRAPH, _INITIALIZER = 7, 5
"""Numbers of fields: of the graph in a model, and of a tensor in a graph (onnx.proto)."""
_KIND, _BYTES, _OUTSIDE, _PLACE = 2, 9, 13, 14
"""Of a tensor: its type, its numbers as bytes, their place in another file, and that it is so."""
_VARINT, _LONG, _TEXT, _SHORT = 0, 1, 2, 5
_EXTERNAL = 1
_OF_ONE_BYTE = (2, 3)
"""UINT8 and INT8: any byte is a place for them to begin at."""
_LEAST = 64 << 10
"""Bytes of a tensor from which on it is worth a mapping of its own."""
_MOST = 2 << 30
"""Bytes of a message of protobuf."""


class _Field(NamedTuple):
    """Say where a field begins, where its content lies, and its number where it is one."""

    number: int
    wire: int
    start: int
    begin: int
    end: int
    value: int


def describe_mapped(path: Path) -> bytes:
    """
    Return the graph of a file whose large tensors of bytes are named by their place in the file.

    Empty where it has none. Raise ValueError for what is not a model, OSError where it cannot be
    read.
    """
    with path.open('rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if len(data) >= _MOST:
            return b''
        found: list[bytes] = []
        has_any = False
        for field in _list_fields(data, 0, len(data)):
            if field.number == _GRAPH and field.wire == _TEXT:
                graph = list(_describe_graph(data, field, path.name))
                has_any = has_any or any(is_named for _, is_named in graph)
                found.append(_make_text(_GRAPH, b''.join(part for part, _ in graph)))
            else:
                found.append(data[field.start : field.end])
        return b''.join(found) if has_any else b''


def _describe_graph(data: mmap.mmap, graph: _Field, name: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the fields of a graph, each with whether it is a tensor named by its place."""
    for field in _list_fields(data, graph.begin, graph.end):
        large = field.number == _INITIALIZER and field.end - field.begin >= _LEAST
        tensor = list(_list_fields(data, field.begin, field.end)) if large else []
        kinds = [one.value for one in tensor if one.number == _KIND]
        content = [one for one in tensor if one.number == _BYTES and one.wire == _TEXT]
        is_named = kinds[-1:] in ([kind] for kind in _OF_ONE_BYTE) and len(content) == 1
        if not is_named or any(one.number in (_OUTSIDE, _PLACE) for one in tensor):
            yield data[field.start : field.end], False
            continue
        (numbers,) = content
        kept = [data[one.start : one.end] for one in tensor if one is not numbers]
        place = {
            'location': name,
            'offset': str(numbers.begin),
            'length': str(numbers.end - numbers.begin),
        }
        entries = [
            _make_text(_OUTSIDE, _make_text(1, key.encode()) + _make_text(2, value.encode()))
            for key, value in place.items()
        ]
        outside = _make_number(_PLACE << 3 | _VARINT) + _make_number(_EXTERNAL)
        yield _make_text(_INITIALIZER, b''.join([*kept, *entries, outside])), True


def _list_fields(data: mmap.mmap, at: int, end: int) -> Iterable[_Field]:
    """Yield the fields of a message; raise ValueError where it is none."""
    while at < end:
        start = at
        key, at = _read_number(data, at, end)
        number, wire, value = key >> 3, key & 7, 0
        begin = at
        if wire == _VARINT:
            value, at = _read_number(data, at, end)
        elif wire == _TEXT:
            size, begin = _read_number(data, at, end)
            at = begin + size
        elif wire in (_LONG, _SHORT):
            at += 8 if wire == _LONG else 4
        else:
            raise ValueError(f'a field of the kind {wire}')
        if not number or at > end:
            raise ValueError('a field that ends early')
        yield _Field(number, wire, start, begin, at, value)


def _read_number(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends; raise ValueError where it does not."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError('a number that does not end')


def _make_number(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def _make_text(number: int, content: bytes) -> bytes:
    return _make_number(number << 3 | _TEXT) + _make_number(len(content)) + content
