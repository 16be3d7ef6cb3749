"""Completing erasures: backups, the words' index, free pages and the log; then the proof."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Any

from robot_memory.background import erasing, proof
from robot_memory.background.erasing import Order
from robot_memory.core.clock import Clock, SteadyClock, format_instant
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.files import claim_file
from robot_memory.core.settings import Settings
from robot_memory.core.zones import get_zone
from robot_memory.storage import Connection, Database
from robot_memory.storage.admin import byte_search, cleaning
from robot_memory.storage.admin.erased_backups import (
    Answered,
    find_held,
    list_folders,
    rewrite_all,
)
from robot_memory.storage.tables import erased_texts, erasures, meta
from robot_memory.storage.tables.doomed import Doomed
from robot_memory.storage.tables.erasable import find_left
from robot_memory.storage.tables.erased_texts import Sought
from robot_memory.storage.tables.erasures import Erasure

logger = logging.getLogger(__name__)

STEPS = ('backups', 'file', 'log', 'checks')
"""What completing an erasure consists of."""
_PAUSE_SECONDS = 5.0
"""How long an erasure that waits for another process is left alone."""
_PATIENCE_SECONDS, _LATER_PATIENCE_SECONDS = 2.0, 0.2
"""How long readers, and behind them writers, are waited for: at first, and again after a pause."""


class _Waiting(Exception):
    """An erasure cannot be completed now; the text says what it waits for."""


class Eraser:
    """
    Complete the erasures of a store that have no receipt yet, whichever process began them.

    The words that a proof looks for are in the file until the proof begins, then in this process
    alone: where they are lost, the file is written anew from the rows that are there.
    """

    def __init__(
        self,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        steady: SteadyClock,
    ) -> None:
        """Begin with nothing known of any erasure."""
        self._db = db
        self._settings = settings
        self._clock = clock
        self._steady = steady
        self._lock = threading.Lock()
        self._words: dict[int, Sought] = {}
        self._answered: dict[int, Answered] = {}
        self._cleaned: dict[int, str] = {}
        self._retry_at = 0.0
        self._claimed: int | None = None

    def run(self) -> None:
        """Complete what is unfinished, if it was not tried just now; the worker's job."""
        if self._steady() < self._retry_at:
            return
        with self._db.read() as connection:
            waiting = erasures.find_unfinished(connection)
        if waiting is not None:
            self.complete(waiting.id)

    def complete(self, number: int, tell: Callable[[str], None] = lambda step: None) -> Erasure:
        """
        Complete an erasure as far as it can be now; return how far it is.

        `tell` is told each of the STEPS before it begins; where it raises Cancelled, the erasure
        goes on later.
        """
        with self._lock:
            found = self._read(number)
            if found.state == 'done' or not self._claim():
                return found
            try:
                # Another process may have done it before it let go of the claim.
                found = self._read(number)
                if found.state != 'done':
                    self._finish(found, self._prove(found, tell))
            except _Waiting as waiting:
                self._wait(found, str(waiting))
            except RobotMemoryError as error:
                self._wait(found, str(error))
            finally:
                if not self._words:  # nobody else has the words of what is unfinished
                    self._release()
            return self._read(number)

    def close(self) -> None:
        """Leave what is unfinished to others."""
        with self._lock:
            self._release()

    def _claim(self) -> bool:
        """Say whether no other process is at it; none begins until this one lets go or ends."""
        if self._claimed is None:
            self._claimed = claim_file(self._db.path.with_name(f'.{self._db.path.name}.erasing'))
        return self._claimed is not None

    def _release(self) -> None:
        if self._claimed is not None:
            os.close(self._claimed)
            self._claimed = None

    def _read(self, number: int) -> Erasure:
        with self._db.read() as connection:
            return erasures.get(connection, number)

    def _wait(self, found: Erasure, reason: str) -> None:
        self._retry_at = self._steady() + _PAUSE_SECONDS
        if reason != found.waits_for:
            logger.warning('erasure %d is pending: %s', found.id, reason)
            with self._db.write() as connection:
                erasures.wait(connection, found.id, reason)

    def _finish(self, found: Erasure, receipt: dict[str, Any]) -> None:
        with self._db.write() as connection:
            erasures.finish(connection, found.id, receipt)
        for known in (self._words, self._answered, self._cleaned):
            known.pop(found.id, None)
        self._retry_at = 0.0

    def _prove(self, found: Erasure, tell: Callable[[str], None]) -> dict[str, Any]:
        """Clean the files, and return the receipt; raise _Waiting where a check does not hold."""
        doomed = Doomed.read(found.items)
        tell('backups')
        answered = self._answer_backups(found, doomed)
        words = found.words if found.words is not None else self._words.get(found.id)
        is_first = found.id not in self._cleaned
        tell('file')
        if is_first:
            self._cleaned[found.id] = self._clean(
                is_known=words is not None, had_folded=bool(doomed.events)
            )
        tell('log')
        self._empty_log(_PATIENCE_SECONDS if is_first else _LATER_PATIENCE_SECONDS)
        if found.words is not None:  # not before the log can be emptied: they go with this process
            self._words[found.id] = found.words
            with self._db.write() as connection:
                erasures.remove_words(connection, found.id)
            self._empty_log(_PATIENCE_SECONDS)
        tell('checks')
        checks, left = self._check(doomed, words, answered)
        if _list_failed(checks) and not self._cleaned[found.id]:
            cleaning.compact(self._db)
            self._cleaned[found.id] = 'compacted: a check did not hold'
            self._empty_log(_PATIENCE_SECONDS)
            checks, left = self._check(doomed, words, answered)
        failed = _list_failed(checks)
        if failed:
            details = '; '.join(f'{name}: {checks[name]["detail"]}' for name in failed)
            raise _Waiting(f'the proof does not hold yet: {details}')
        return {
            'completed_at': format_instant(self._clock()),
            'checks': checks,
            'file': self._cleaned[found.id] or 'overwritten in place',
            'rewritten': [str(path) for path in answered.rewritten],
            'still_holding': [*_name_unread(answered), *left],
        }

    def _answer_backups(self, found: Erasure, doomed: Doomed) -> Answered:
        known = self._answered.get(found.id)
        if known is not None:
            return known
        settings = self._settings()
        zone = get_zone(settings.time_zone)
        with self._db.read() as connection:
            store_id = meta.get_store_id(connection)
            folders = list_folders(connection, settings)

        def erase(connection: Connection) -> bool:
            at = found.at
            number = erasures.begin(connection, found.writer, found.reason, at)
            order = Order(number, doomed, found.writer, found.reason, at, zone)
            has_any = any(erasing.erase(connection, order).values())
            if has_any:
                erasures.finish(connection, number, {})
            else:
                erasures.drop(connection, number)
            return has_any

        ids = [*doomed.created, *doomed.events]
        answered = rewrite_all(self._db.path, store_id, folders, ids, erase)
        if answered.waits_for:
            raise _Waiting(answered.waits_for)
        self._answered[found.id] = answered
        return answered

    def _clean(self, *, is_known: bool, had_folded: bool) -> str:
        """Clean the file; return why it was compacted, '' where it was not."""
        if not cleaning.is_overwritten(self._db):
            why = 'compacted: it was not written with secure_delete since its creation'
        elif not is_known:
            why = 'compacted: the erasure was interrupted'
        elif had_folded:
            # What SQLite moves within a page leaves copies in its gaps: folding knew the words.
            why = 'compacted: the texts of folded events are not known any more'
        else:
            cleaning.remove_words(self._db)
            return ''
        cleaning.compact(self._db)
        return why

    def _empty_log(self, patience: float) -> None:
        reader = cleaning.empty_log(self._db, patience)
        if reader:
            raise _Waiting(reader)

    def _check(
        self, doomed: Doomed, sought: Sought | None, answered: Answered
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """
        Return of each check whether it holds, None where that is not known, and why.

        And the backups that hold words in bytes that no row uses: nothing here can mend these.
        """
        with self._db.read() as connection:
            left = find_left(connection, [*doomed.created, *doomed.events])
        words = sought.words if sought is not None else []
        terms = cleaning.find_terms(self._db, words)
        pages = cleaning.find_pages(self._db)
        if pages is None:
            raise _Waiting('a process reads an earlier state of the store')
        found = self._search(words, answered)
        in_backups = {
            name: found.pop(name) for name in map(str, answered.searched) if name in found
        }
        left_over = proof.name_left(in_backups)
        checks = {
            'rows': {'holds': not left, 'detail': f'rows left in {left or "no table"}'},
            'terms': proof.check_terms(sought, terms),
            'pages': {
                'holds': not pages,
                'detail': f'{len(pages)} free pages are not zero',
            },
            'bytes': proof.check_bytes(sought, found, _name_unread(answered), left_over),
        }
        return checks, left_over

    def _search(self, words: list[str], answered: Answered) -> dict[str, set[str]]:
        """Return the erased words that no row has, by the files that they are in."""
        path, log = self._db.files[:2]
        found = {str(path): byte_search.search_store(path, words)}
        for file in (log, *answered.searched):
            found[str(file)] = byte_search.search_file(file, words)
        with self._db.read() as connection:
            held = erased_texts.find_held(connection, sorted(set().union(*found.values())))
        for file in answered.searched:
            left = sorted(found[str(file)] - held)
            found[str(file)] -= find_held(file, left) if left else set()
        return {name: rest for name, some in found.items() if (rest := some - held)}


def _list_failed(checks: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, one in checks.items() if one['holds'] is False]


def _name_unread(answered: Answered) -> list[str]:
    return [f'{path}: {why}' for path, why in answered.holding]
