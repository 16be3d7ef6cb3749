"""
How often a process that writes all the time passes one that waits to write.

Called as `bench/write_turns.py [WAITS] [MS]`: one process writes transactions of so many
milliseconds of the processor (20), one after another; another one waits so often (20).
"""

from __future__ import annotations

import mmap
import os
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

from robot_memory.core.errors import Unavailable
from robot_memory.storage import Database

_NUMBER = struct.Struct('<q')
_INSERT = 'INSERT INTO written VALUES (1)'


def write_all_the_time(path: Path, shared: mmap.mmap, seconds: float) -> None:
    """Write until the second number is set, and count the writes in the first."""
    db, done = Database(path, 'normal'), 0
    while not _NUMBER.unpack_from(shared, _NUMBER.size)[0]:
        with db.write() as connection:
            start = time.process_time()
            while time.process_time() - start < seconds:
                connection.execute(_INSERT)
        done += 1
        _NUMBER.pack_into(shared, 0, done)
    db.close()


def wait_once(db: Database, shared: mmap.mmap) -> tuple[int, float, bool]:
    """Write once; return how many writes of the other one passed, seconds, and if it was let."""
    (before,) = _NUMBER.unpack_from(shared)
    while _NUMBER.unpack_from(shared)[0] < before + 2:  # the other one is in the midst of it
        time.sleep(0.001)
    (before,), start, is_let = _NUMBER.unpack_from(shared), time.monotonic(), True
    try:
        with db.write() as connection:
            (after,) = _NUMBER.unpack_from(shared)
            connection.execute(_INSERT)
    except Unavailable:
        (after,), is_let = _NUMBER.unpack_from(shared), False
    return after - before, time.monotonic() - start, is_let


def main() -> None:
    """Print how many writes passed one that waited, and how long it waited."""
    waits, milliseconds = (int(one) for one in (*sys.argv[1:], *('20', '20')[len(sys.argv) - 1 :]))
    shared = mmap.mmap(-1, 2 * _NUMBER.size)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        with (made := Database(path, 'normal')).write() as connection:
            connection.execute('CREATE TABLE written (x)')
        made.close()
        child = os.fork()
        if not child:
            write_all_the_time(path, shared, milliseconds / 1000)
            os._exit(0)
        db = Database(path, 'normal')
        found = [wait_once(db, shared) for _ in range(waits)]
        _NUMBER.pack_into(shared, _NUMBER.size, 1)
        os.waitpid(child, 0)
        db.close()
    passed, seconds, let = zip(*found, strict=True)
    print(
        f'{waits} waits: {statistics.median(passed):g} writes of {milliseconds} ms passed in the '
        f'median, {max(passed)} at most; it waited {max(seconds):.2f} s at most; '
        f'{let.count(False)} were refused'
    )


if __name__ == '__main__':
    main()
