"""Decompression with an end: a small file may claim, or turn out, to be larger than the memory."""

from __future__ import annotations

import bz2
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lz4.frame
from rosbags.rosbag1.reader import decompressors

from robot_memory.ingest.stored_messages import Damaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_UNPACKED = 512 << 20
"""Bytes that a chunk or a message may have."""
LEAST_FILE, MOST_RATIO = 1 << 30, 100
"""A file may have so many bytes, or so many times its own."""
KEPT_FREE = 1 << 30
"""Bytes that unpacking leaves free on the disk."""
_BLOCK = 1 << 20
_MAKERS: dict[str, Callable[[], Any]] = {
    'zstd': zstd.ZstdDecompressor,
    'lz4': lz4.frame.LZ4FrameDecompressor,
    'bz2': bz2.BZ2Decompressor,
}
ZstdError = zstd.ZstdError


def unpack(
    content: bytes | memoryview, compression: str, size: int | None = None, *, cut: bool = False
) -> bytes:
    """
    Return what is packed in a chunk or a message, which has `size` bytes where that is known.

    Of one that is `cut` off, return what there is. Raise Damaged for more than MOST_UNPACKED and
    for another size, or whatever wrong bytes lead the decompressor to.
    """
    most = MOST_UNPACKED if size is None else size
    if most > MOST_UNPACKED:
        raise Damaged(f'{most:,} bytes unpacked; accepted: up to {MOST_UNPACKED:,}')
    unpacker = _MAKERS[compression]()
    found: bytes = unpacker.decompress(content, most + 1)
    if len(found) > most:
        raise Damaged(f'more than {most:,} bytes unpacked')
    if not cut and (not unpacker.eof or unpacker.unused_data or size not in (None, len(found))):
        raise Damaged('not as many bytes as it says')
    return found


def bound_reader(reader: Any) -> None:
    """Have rosbags' reader of a .bag unpack its chunks with an end."""
    bounded = {decompressors[name]: partial(unpack, compression=name) for name in ('bz2', 'lz4')}
    for at, chunk in reader.chunks.items():
        unbounded = chunk.decompressor
        reader.chunks[at] = chunk._replace(decompressor=bounded.get(unbounded, unbounded))


def unpack_file(file: Path, target: Path) -> str:
    """
    Unpack a file of zstd, as far as it goes; return in words what ended it early, or nothing.

    It is ended where it is over its bound (LEAST_FILE, MOST_RATIO) and where the disk is nearly
    full (KEPT_FREE).
    """
    room = shutil.disk_usage(target.parent).free - KEPT_FREE
    most = max(LEAST_FILE, MOST_RATIO * file.stat().st_size)
    with target.open('wb') as unpacked:
        try:
            with zstd.open(file, 'rb') as packed:
                while block := packed.read(_BLOCK):
                    if unpacked.tell() + len(block) > room:
                        return f'the disk has no room: {KEPT_FREE >> 20} MB stay free'
                    if unpacked.tell() + len(block) > most:
                        return f'it is larger than {MOST_RATIO} times its packed size'
                    unpacked.write(block)
        except (EOFError, zstd.ZstdError) as error:
            return str(error)
    return ''
