"""The heap of the process: one for all threads, and what was freed given back."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""M_TRIM_THRESHOLD and so on of glibc's malloc.h."""
_NEW_OBJECTS = 20_000
"""Objects that are not freed by themselves, after which cycles are looked for; usually 700."""
_LARGEST = 32 << 20
"""Bytes from which on a buffer is not of the heap: the most that glibc accepts."""


def use_one_heap() -> None:
    """
    Let all threads of this process take memory from one heap; call it before they are begun.

    Else each keeps what it freed to itself, as the buffers of a recording's chunks or of a long
    text. Large ones are of the heap, too, and it is not given back piece by piece: else each is
    mapped in anew.
    """
    with suppress(AttributeError, OSError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST)
        library.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST)


def freeze_objects() -> None:
    """
    Have the collector of cycles pass over all objects that there are, for good.

    A command that then makes many short-lived ones is spared looking at models and libraries, and
    at new objects after each few hundred of them.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])


def trim_heap() -> None:
    """Give freed memory back to the system; glibc keeps most of what was taken at once."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
