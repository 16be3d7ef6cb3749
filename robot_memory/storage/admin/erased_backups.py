"""The backups of a store, which hold what was erased from it: rewritten, or named."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.files import hold_file, keep_file
from robot_memory.core.settings import Settings
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.admin import backup_folders
from robot_memory.storage.admin.backup import (
    backups,
    compress_file,
    copy_backup,
    has_backups,
    name_lock,
    plan_of,
)
from robot_memory.storage.admin.backup_folders import Noted
from robot_memory.storage.admin.stray_backups import (
    find_strays,
    list_logs,
    name_with,
)
from robot_memory.storage.replacement import list_replaced
from robot_memory.storage.store_files import hold_scratch, remove_stores
from robot_memory.storage.tables import erasable, erased_texts, erasures
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.upgrade import copy_of
from robot_memory.storage.vector_extension import load_vectors

HELD = ': delete it'
"""Ends what is said of a backup that surely holds what was erased, and was not rewritten."""
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


def list_folders(connection: apsw.Connection, settings: Settings) -> dict[Path, Noted]:
    """Return the folders of a store's backups, and what it notes of them."""
    plan = plan_of(settings)
    known = backup_folders.read_noted(connection)
    if plan is not None and plan.folder.is_dir():
        known.setdefault(plan.folder.absolute(), Noted(was_used=False))
    return known


def rewrite_all(
    path: Path, store_id: str, folders: Mapping[Path, Noted], ids: Sequence[int], erase: Erase
) -> Answered:
    """Answer for each backup and copy of a store: rewrite it where it has a memory of the ids."""
    found = Answered()
    away = backup_folders.find_away(folders, path.stem)
    for folder, noted in folders.items():
        why = _say_not_searched(folder, noted, away[folder], path.stem)
        if why:
            found = _name(found, folder, why)
        if not folder.is_dir():
            continue
        with hold_file(name_lock(folder, path.stem)) as alone:
            if not alone:
                return Answered(waits_for=f'a backup is being made in {folder}')
            remove_stores(folder, f'.{path.stem}-*.part')
            files = [file for _, file in backups(folder, path.stem)]
            found = _add(found, files, store_id, ids, erase)
            known = {path, *files, *_list_copies(path)}
        strays = find_strays(folder, known, store_id, lambda one: _has_any(one, ids))
        found = replace(found, clean=(*found.clean, *strays.clean))
        for file, why in strays.unread:
            found = _name(found, file, why)
        for file in strays.holding:
            copy = name_with(list_logs(file))
            why = f'{copy} is a copy of the store, but not named as a backup of it is{HELD}'
            found = _name(found, file, why)
    remove_stores(path.parent, f'.{path.name}.before-upgrade*.part')
    return _add(found, _list_copies(path), store_id, ids, erase)


def _say_not_searched(folder: Path, noted: Noted, away: Sequence[str], stem: str) -> str:
    """Say why backups of a folder are not searched, '' where all are that were made there."""
    if not folder.is_dir():
        gone = 'the folder is not there: delete the backups that it had'
        return gone if away or not noted.marks else ''  # its disk may be mounted elsewhere
    if not away and (noted.marks or not noted.was_used):
        return ''
    if not has_backups(folder, stem):
        return 'it has neither backups nor the list of them: is a disk that had them away?'
    if not noted.marks:
        return ''
    if len(away) == len(noted.marks):
        return 'it is not the folder where backups were made: is a disk that had them away?'
    return (
        f'backups were made there on {len(away)} more disks, or in the folder below a mounted '
        'one, which are not there now'
    )


def _name(known: Answered, place: Path, why: str) -> Answered:
    """Return the answer with a file or folder that may hold what was erased."""
    return replace(known, holding=(*known.holding, (place, why)))


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
        logs = list_logs(file)
        if logs:
            named = ' and '.join(map(str, logs))
            raise OSError(f'it has a log, {named}, that could not be read into it: delete both')
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
                f'it has schema version {schema_runner.version_of(connection)}, '
                f'of an earlier release{HELD}'
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
    row: Any = connection.execute(
        'SELECT 1 FROM memories WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1',
        (json.dumps(list(ids)),),
    ).fetchone()
    return row is not None or erasures.has_words(connection)
