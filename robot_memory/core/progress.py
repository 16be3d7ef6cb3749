"""The one place that makes progress bars: on a terminal only, so that no log file is filled."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, TypeVar

from tqdm import tqdm

Item = TypeVar('Item')

# The default lock is shared between processes: a semaphore that a process which ends at once, as
# the command line does, leaves to multiprocessing's tracker, with a warning from Python 3.14 on.
tqdm.set_lock(threading.RLock())


def make_progress_bar(
    items: Iterable[Item] | None = None,
    title: str = '',
    *,
    unit: str,
    total: int | None = None,
    unit_scale: bool = False,
) -> tqdm[Item]:
    """Make a bar on stderr, around items or moved by hand; nothing where that is no terminal."""
    return tqdm(
        items,
        desc=title,
        unit=unit,
        total=total,
        leave=False,
        unit_scale=unit_scale,
        disable=None,
        mininterval=1.0,
    )


def move_bar(bar: tqdm[Any], done: int, total: int) -> None:
    """Have a bar show that so many of so many are done."""
    bar.total = total
    bar.update(done - bar.n)
