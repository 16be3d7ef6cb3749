"""Decompression with an end: a small file may claim, or turn out, to be larger than the memory."""

from __future__ import annotations

import bz2
import ctypes
import importlib
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lz4.frame
import numpy as np
from rosbags.rosbag1.reader import decompressors

from robot_memory.ingest.stored_messages import Damaged

if sys.version_info >= (3, 14):
    from compression import zstd

    _ZSTD_LIBRARY = '_zstd'
else:
    from backports import zstd

    _ZSTD_LIBRARY = 'backports.zstd._zstd'

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


def _find_zstd() -> Callable[[bytes | memoryview, int], bytes | None]:
    """
    Return what unpacks a chunk into one buffer of its size; None comes of what it cannot.

    The decompressor of Python's module unpacks into a window, copies that into blocks, and these
    into the result: a fifth more time. The library below has a function that does not.
    """
    try:
        path = importlib.import_module(_ZSTD_LIBRARY).__file__
        decompress = ctypes.CDLL(path).ZSTD_decompress
        make_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
    except (ImportError, AttributeError, OSError):
        return lambda content, size: None
    address, length = ctypes.c_void_p, ctypes.c_size_t
    decompress.argtypes, decompress.restype = (address, length, address, length), length
    make_bytes.argtypes, make_bytes.restype = (address, ctypes.c_ssize_t), ctypes.py_object

    def unpack_whole(content: bytes | memoryview, size: int) -> bytes | None:
        made: bytes = make_bytes(None, size)  # nobody else has it before it is filled
        packed = np.frombuffer(content, np.uint8)
        target = ctypes.cast(ctypes.c_char_p(made), address)
        done = decompress(target, size, packed.ctypes.data, len(packed))
        return made if done == size else None

    return unpack_whole


_unpack_zstd = _find_zstd()


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
    if compression == 'zstd' and size and len(content) and not cut:
        whole = _unpack_zstd(content, size)
        if whole is not None:
            return whole
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
