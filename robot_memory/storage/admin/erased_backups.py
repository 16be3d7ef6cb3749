"""The backups of a store, which hold what was erased from it: rewritten, or named."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from robot_memory.core.files import hold_file, keep_file
from robot_memory.core.settings import Settings
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.admin.backup import (
    FOLDERS,
    backups,
    compress_file,
    copy_backup,
    name_lock,
    plan_of,
)
from robot_memory.storage.replacement import list_replaced
from robot_memory.storage.store_files import LOG, hold_scratch, name_file, remove_stores
from robot_memory.storage.tables import erasable, erased_texts, erasures, meta
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.upgrade import copy_of
from robot_memory.storage.vector_extension import load_vectors

OF_EARLIER = 'of an earlier release: delete it'
"""Ends what is said of a backup that surely holds what was erased, and cannot be rewritten."""
Erase = Callable[[apsw.Connection], bool]
"""Removes from a backup what was erased, in a transaction; says whether there was any."""


@dataclass(frozen=True)
class Answered:
    """Name the backups that were rewritten, never held it, and still hold it, and why."""

    rewritten: tuple[Path, ...] = ()
    clean: tuple[Path, ...] = ()
    holding: tuple[tuple[Path, str], ...] = ()
    waits_for: str = ''

    @property
    def searched(self) -> tuple[Path, ...]:
        """Return the backups in which nothing of it must be found."""
        return (*self.rewritten, *self.clean)


def list_folders(connection: apsw.Connection, settings: Settings) -> list[Path]:
    """Return the folders that backups of a store were made in, by any process, or will be."""
    plan = plan_of(settings)
    known = [Path(one) for one in json.loads(meta.get(connection, FOLDERS) or '[]')]
    if plan is not None and plan.folder.is_dir():
        known.append(plan.folder.absolute())
    return [*dict.fromkeys(known)]


def rewrite_all(
    path: Path, store_id: str, folders: Sequence[Path], ids: Sequence[int], erase: Erase
) -> Answered:
    """Answer for each backup and copy of a store: rewrite it where it has a memory of the ids."""
    found = Answered()
    for folder in folders:
        if not folder.is_dir():
            gone = (folder, 'the folder is not there: delete the backups that it had')
            found = replace(found, holding=(*found.holding, gone))
            continue
        with hold_file(name_lock(folder, path.stem)) as alone:
            if not alone:
                return Answered(waits_for=f'a backup is being made in {folder}')
            remove_stores(folder, f'.{path.stem}-*.part')
            files = [file for _, file in backups(folder, path.stem)]
            found = _add(found, files, store_id, ids, erase)
    remove_stores(path.parent, f'.{path.name}.before-upgrade*.part')
    return _add(found, _list_copies(path), store_id, ids, erase)


def _list_copies(path: Path) -> list[Path]:
    """Return what an upgrade, a restore and salvage left beside a store."""
    named = (copy_of(path), path.with_name(f'{path.name}.salvaged'))
    return [*(file for file in named if file.exists()), *list_replaced(path)]


def _add(
    known: Answered, files: Sequence[Path], store_id: str, ids: Sequence[int], erase: Erase
) -> Answered:
    """Return the answer for files beside that for others."""
    rewritten, clean, holding = [*known.rewritten], [*known.clean], [*known.holding]
    for file in files:
        try:
            done = _rewrite(file, store_id, ids, erase)
        except (OSError, EOFError, zlib.error, apsw.Error, _TooOld) as error:
            holding.append((file, str(error)))
        else:
            (rewritten if done else clean).append(file)
    return Answered(tuple(rewritten), tuple(clean), tuple(holding))


class _TooOld(Exception):
    """A backup has the schema of an earlier release."""


def _rewrite(file: Path, store_id: str, ids: Sequence[int], erase: Erase) -> bool:
    """Rewrite a backup without some memories, whole or not at all; say whether it had any."""
    packed = file.suffix == '.gz'
    with (
        hold_scratch(file.with_name(f'.{file.name}.erasing.part')) as part,
        hold_scratch(file.with_name(f'.{file.name}.erasing.gz.part')) as again,
    ):
        if name_file(file, LOG).exists():
            raise OSError('it has a log that could not be read into it: delete both')
        copy_backup(file, part)
        if not _erase(part, store_id, ids, erase):
            return False
        if packed:
            compress_file(part, again)
        whole = again if packed else part
        shutil.copystat(file, whole)
        keep_file(whole, file)
        return True


def _erase(part: Path, store_id: str, ids: Sequence[int], erase: Erase) -> bool:
    """Erase from a copy of a backup; say whether it had anything of it."""
    connection = checksums.connect(part, apsw.SQLITE_OPEN_READWRITE)
    try:
        load_vectors(connection)
        connection.execute('PRAGMA secure_delete = ON')
        connection.execute('PRAGMA foreign_keys = ON')
        connection.execute('PRAGMA journal_mode = DELETE')
        if get_store_id(connection) != store_id:
            return False
        if not schema_runner.is_current(connection):
            if not _has_any(connection, ids):
                return False
            raise _TooOld(
                f'it has schema version {schema_runner.version_of(connection)}, {OF_EARLIER}'
            )
        connection.execute('BEGIN IMMEDIATE')
        had_any = erase(connection)
        connection.execute('COMMIT')
        # Backups of earlier releases have the words of erasures that were not proved then.
        had_words = erasures.remove_all_words(connection)
        if had_any:
            connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('optimize')")
            connection.execute('VACUUM')
            left = erasable.find_left(connection, ids)
            if left:
                raise OSError(f'rows are left in {", ".join(left)}')
        return had_any or had_words
    finally:
        connection.close()


def find_held(file: Path, words: Sequence[str]) -> set[str]:
    """Return those of some words that a row of a backup holds."""
    with hold_scratch(file.with_name(f'.{file.name}.reading.part')) as part:
        copy_backup(file, part)
        connection = checksums.connect(part, apsw.SQLITE_OPEN_READONLY)
        try:
            return erased_texts.find_held(connection, words)
        finally:
            connection.close()


def _has_any(connection: apsw.Connection, ids: Sequence[int]) -> bool:
    """Say whether a backup of any schema has a memory of the ids, or words of an erasure."""
    row = connection.execute(
        'SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1',
        (json.dumps(list(ids)),),
    ).fetchone()
    return row is not None or erasures.has_words(connection)
