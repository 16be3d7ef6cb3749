"""
The folders in which backups of a store were made, as the store notes them.

A path does not tell which disk lies there: where one is not mounted, its mount point is a folder,
too. So the first backup in a folder leaves a mark in it, a random name, which the store notes with
the path. A folder without a mark that is noted for it is not the one where backups were made.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, NotFound
from robot_memory.core.files import keep_file
from robot_memory.storage.connection import Database
from robot_memory.storage.store_files import hold_scratch
from robot_memory.storage.tables import audit, meta

FOLDERS = 'backup_folders'
"""The fact about the store that lists the folders of its backups, as JSON."""
MARKS = 'backup_marks'
"""The fact that has the marks of each folder, as JSON: more than one where its disk changed."""
DROPPED = 'backup_folder_dropped'
"""The action of the line that tells who took a folder off the list."""
_UNMARKED = ''
"""Stands for the mark of a folder in which an earlier release made backups."""
_BYTES = 8
_MOST = 64
"""Characters of a mark that are read: a file of that name may be anything."""


@dataclass(frozen=True)
class Noted:
    """
    Hold what a store notes of a folder.

    `was_used` says whether backups were made there; `marks` are those of the folders that were
    there then, none where only earlier releases made some.
    """

    was_used: bool
    marks: tuple[str, ...] = ()


def read_noted(connection: apsw.Connection) -> dict[Path, Noted]:
    """Return the folders in which backups were made."""
    marks = json.loads(meta.get(connection, MARKS) or '{}')
    folders = json.loads(meta.get(connection, FOLDERS) or '[]')
    return {Path(one): Noted(was_used=True, marks=tuple(marks.get(one, ()))) for one in folders}


def read_mark(folder: Path, stem: str) -> str | None:
    """Return the mark of a folder, None where it has none."""
    try:
        return _name_mark(folder, stem).read_text(encoding='utf-8')[:_MOST].strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def note_folder(db: Database, folder: Path, *, had_backups: bool) -> None:
    """
    Note in the store where its backups are, and which folder that is: an erasure answers for them.

    Whoever calls keeps other processes from it. `had_backups` says whether some were there before.
    """
    if db.read_only_reason:
        return
    name, mark = str(folder.absolute()), read_mark(folder, db.path.stem)
    with db.read() as connection:
        known = read_noted(connection)
    noted = known.get(Path(name), Noted(was_used=False))
    if mark is None:
        mark = secrets.token_hex(_BYTES)
        _write_mark(_name_mark(folder, db.path.stem), mark)
    if mark in noted.marks:
        return
    before = list(noted.marks)
    if noted.was_used and not before and not had_backups:
        before = [_UNMARKED]  # those that were made here are elsewhere
    with db.write() as connection:
        folders = json.loads(meta.get(connection, FOLDERS) or '[]')
        marks = json.loads(meta.get(connection, MARKS) or '{}')
        marks[name] = [*before, mark]
        if name not in folders:
            meta.put(connection, FOLDERS, json.dumps([*folders, name]))
        meta.put(connection, MARKS, json.dumps(marks))


def _write_mark(path: Path, mark: str) -> None:
    """Write a mark that is on the disk before the store expects it there."""
    with hold_scratch(path.with_name(f'{path.name}.part')) as part:
        part.write_text(f'{mark}\n', encoding='utf-8')
        keep_file(part, path)


def find_away(noted: Mapping[Path, Noted], stem: str) -> dict[Path, list[str]]:
    """
    Return of each folder the marks that it should have and that none of the folders has now.

    A disk that is mounted elsewhere, in a folder that is noted as well, is not away.
    """
    there = {read_mark(folder, stem) for folder in noted}
    return {
        folder: [mark for mark in one.marks if mark not in there] for folder, one in noted.items()
    }


def drop_folder(db: Database, folder: Path, held: int, writer: Writer, at: int) -> str:
    """
    Take a folder that is gone for good off the list, with a line in the audit; say what went.

    Of one that is there and has backups (`held`), with its mark or without one, only those that
    were there before it go, as a disk that will not come back. Raise NotFound for what is not
    listed, and Conflict where there is nothing to take off.
    """
    writer.require_operator('taking a backup folder off the list')
    with db.write() as connection:
        return _drop(connection, folder, db.path.stem, held, writer, at)


def _drop(
    connection: apsw.Connection, folder: Path, stem: str, held: int, writer: Writer, at: int
) -> str:
    noted, name = read_noted(connection), str(folder.absolute())
    known = noted.get(Path(name))
    if known is None:
        listed = ', '.join(map(str, noted)) or 'none'
        raise NotFound(f'no backups are noted in {name}; folders that are: {listed}')
    mark = read_mark(folder, stem)
    is_kept = bool(held)
    away = [one for one in known.marks if one != mark]
    if is_kept and not away:
        raise Conflict(
            f'{name} is there and has {held} backups, which erasures search; delete them first'
        )
    folders = [one for one in json.loads(meta.get(connection, FOLDERS) or '[]') if one != name]
    marks = json.loads(meta.get(connection, MARKS) or '{}')
    marks.pop(name, None)
    if is_kept:
        folders.append(name)
        marks[name] = [one for one in known.marks if one == mark]
    meta.put(connection, FOLDERS, json.dumps(folders))
    meta.put(connection, MARKS, json.dumps(marks))
    what = 'the disks that were there before'
    reason = f'{what} are gone for good' if is_kept else 'the folder is gone for good'
    detail = {'folder': name, 'marks': away if is_kept else list(known.marks)}
    audit.record(connection, None, DROPPED, writer, reason, detail, at)
    return f'{what} ({name})' if is_kept else name


def _name_mark(folder: Path, stem: str) -> Path:
    return folder / f'.{stem}.mark'
