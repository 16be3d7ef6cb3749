"""Putting the file in order: statistics, indexes, the log, free room, and what is old."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import apsw

from robot_memory.storage import checksums, damage
from robot_memory.storage.admin import index_filling
from robot_memory.storage.admin.advice import upkeep
from robot_memory.storage.admin.cleaning import remove_words
from robot_memory.storage.connection import Database
from robot_memory.storage.indexes.set_aside import WORDS

_WORTH_SHARE = 0.25
_WORTH_BYTES = 8_000_000
_SHOWN = 3
_BROKEN = re.compile(
    r'missing from index (\w+)|wrong # of entries in index (\w+)|non-unique entry in index (\w+)'
    r'|(?:fts5: .*|FTS5 table \w+\.)"?(memories_fts)\b'
)
_WORDS, _VECTORS = 'memories_fts', 'indexed'
_ROWS_OF = {_WORDS: ('memories_fts_docsize', 'id'), _VECTORS: ('indexed', 'memory_id')}


@dataclass(frozen=True)
class Done:
    """Say whether something was done, and what came of it."""

    done: bool
    detail: str


def optimize(db: Database) -> Done:
    """Bring the planner's statistics up to date."""
    with db.write() as connection:
        before = connection.total_changes()
        connection.execute('PRAGMA optimize')
        changed = connection.total_changes() > before
    return Done(True, 'statistics updated' if changed else 'statistics are up to date')


def merge_words(db: Database) -> Done:
    """Merge the words' index into one part, a little in each transaction."""
    steps = remove_words(db)
    return Done(bool(steps), f'merged in {steps} steps' if steps else 'already merged')


def repair(db: Database) -> Done:
    """Check the file, and make anew the indexes that do not fit their tables."""
    damaged = damage.find_damaged(db.path)
    if damaged:
        named = damage.describe(db.path, damaged)
        return Done(
            False,
            f'checksums of pages do not match: {named}; stop all writers, then '
            'restore a backup, or write a new store by `robot-memory salvage`',
        )
    index_filling.fill_all(db)
    found = _problems(db)
    unfit = _list_unfit(db)
    if not (found or unfit):
        return Done(True, 'the file is intact')
    curable = [find_broken([line]) for line in found]
    broken = {name for names in curable for name in names}
    for name in sorted(broken - _ROWS_OF.keys()):
        with db.write() as connection:
            connection.execute(f'REINDEX "{name}"')
    if all(curable):
        broken |= unfit
        _complete(db, broken)
    left = _problems(db) if broken else found
    if left:
        return Done(
            False,
            f'the file is corrupt ({"; ".join(left[:_SHOWN])}); stop all writers, then restore a '
            'backup or import an archive',
        )
    return Done(True, f'rebuilt indexes: {", ".join(sorted(broken))}')


def _complete(db: Database, broken: Collection[str]) -> None:
    """Make the rows of the indexes of vectors and words fit again, in batches."""
    if _VECTORS in broken:
        index_filling.complete_vectors(db)
    if _WORDS in broken:
        with db.write() as connection:
            index_filling.empty(connection, WORDS)
        index_filling.fill_all(db)


def find_broken(lines: Sequence[str]) -> list[str]:
    """Return the indexes that do not fit their tables, where the check told of nothing else."""
    matches = [list(_BROKEN.finditer(line)) for text in lines for line in text.splitlines()]
    if not all(matches):
        return []
    return [name for found in matches for match in found for name in match.groups() if name]


def count_indexed(connection: apsw.Connection) -> tuple[int, int, int]:
    """Count active memories, rows of the index of vectors, and rows of that of words."""
    ((rows, indexed, words),) = connection.execute(
        "SELECT (SELECT count(*) FROM memories WHERE status = 'active'),"
        ' (SELECT count(*) FROM indexed), (SELECT count(*) FROM memories_fts)'
    )
    return int(rows), int(indexed), int(words)


def _list_unfit(db: Database) -> set[str]:
    """Return the indexes of vectors and words whose rows are not those of the active memories."""
    found = set()
    with db.read() as connection:
        for name, (table, key) in _ROWS_OF.items():
            ((is_unfit,),) = connection.execute(
                'SELECT EXISTS (SELECT 1 FROM memories NOT INDEXED'
                f" WHERE status = 'active' AND id NOT IN (SELECT {key} FROM {table}))"
                f' OR EXISTS (SELECT 1 FROM {table} AS t NOT INDEXED WHERE NOT EXISTS'
                f" (SELECT 1 FROM memories WHERE id = t.{key} AND status = 'active'))"
            )
            if is_unfit:
                found.add(name)
    return found


def _problems(db: Database) -> list[str]:
    # FTS5's part of the check misreads what a connection that has read the index still holds.
    with db.connect() as connection:
        lines = [row[0] for row in connection.execute('PRAGMA integrity_check(100)')]
    return [] if lines == ['ok'] else [line for text in lines for line in str(text).splitlines()]


def compact(db: Database) -> Done:
    """Give free room back to the disk where it is much; who writes waits meanwhile."""
    with db.read() as connection:
        size = upkeep(connection, db.path)
        has_checksums = checksums.are_kept(connection)
    if has_checksums and size.free < max(_WORTH_BYTES, size.file * _WORTH_SHARE):
        return Done(
            False,
            f'{size.free / 1e6:.1f} MB of {size.file / 1e6:.1f} are free: too little to compact',
        )
    room = shutil.disk_usage(db.path.parent).free
    if room < 2 * size.file:
        return Done(
            False,
            f'{room / 1e6:.0f} MB of disk space left; compacting requires '
            f'{2 * size.file / 1e6:.0f}',
        )
    with db.connect(alone=True) as connection:
        checksums.write_anew(connection)
    with db.read() as connection:
        gained = size.file - upkeep(connection, db.path).file
    return Done(True, f'{gained / 1e6:.1f} MB released')


def checkpoint(db: Database) -> Done:
    """Bring the log (WAL) into the file, and empty it unless somebody still reads from it."""
    with db.connect() as connection:
        connection.set_busy_timeout(100)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            _, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            return Done(True, f'{moved} pages checkpointed; the WAL still has readers')
    return Done(True, 'the WAL is empty')
