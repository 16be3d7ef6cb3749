"""Linear algebra on one thread: OpenBLAS would take the cores that detectors need."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_holding: list[Any] = []


@contextmanager
def hold_blas() -> Iterator[None]:
    """Keep BLAS to one thread while a block runs, in whichever threads such blocks run."""
    with _lock:
        if not _holding:
            limit = _find_libraries().limit(limits=1, user_api='blas')
            _holding.append(limit)
            limit.__enter__()
        _holding.append(None)
    try:
        yield
    finally:
        with _lock:
            _holding.pop()
            if len(_holding) == 1:
                _holding.pop().__exit__(None, None, None)


@cache
def _find_libraries() -> Any:
    from threadpoolctl import ThreadpoolController  # a command that predicts nothing needs none

    return ThreadpoolController()
