"""The heap of the process: what was freed, given back."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Give freed memory back to the system; glibc keeps most of what was taken at once."""
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
