"""The heap of the process: one for all threads, and what was freed given back."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h."""


def use_one_heap() -> None:
    """
    Let all threads of this process take memory from one heap; call it before they are begun.

    Else each keeps what it freed to itself, as the buffers of a recording's chunks.
    """
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def freeze_objects() -> None:
    """
    Have the collector of cycles pass over all objects that there are, for good.

    A command that then makes many short-lived ones is spared looking at models and libraries.
    """
    gc.freeze()


def trim_heap() -> None:
    """Give freed memory back to the system; glibc keeps most of what was taken at once."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
