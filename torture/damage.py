"""
Bits flipped and pages overwritten in a store at rest: which texts are told, and what is noticed.

The store is written by the package and closed. Of a copy one bit is flipped in a page that is in
use, or one such page is overwritten, with noise or with zeros, whose checksum is zero. A process
then reads every memory by some calls and puts
the store in order; each text that it is told is compared.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import histories
from histories import STORE, Life
from robots import fill
from rounds import fork

from robot_memory.core.errors import RobotMemoryError
from robot_memory.storage import damage
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.page_file import open_pages

HEADER = 100
"""Bytes of the file's header; SQLite reads few of them."""
FACTS = 150


class Damaged:
    """A store that is damaged again and again, and what it holds."""

    def __init__(self, folder: Path, seed: int) -> None:
        """Make the store."""
        self._folder = folder
        self._life = Life(seed)
        self._base = folder / 'base'
        self._life.prepare(self._base)
        with histories.open_robot(self._life, self._base, 1) as robot:
            fill(robot, FACTS, seed=seed)
        self._content = (self._base / STORE).read_bytes()
        with open_pages(self._base / STORE) as file:
            self._page, self._free = file.page_size, file.list_unused()
        self._known = self._read(self._base)
        self.found: Counter[str] = Counter()

    def strike(self, chance: random.Random) -> tuple[str, str]:
        """Damage a copy; return what became of it, '' where nothing was told wrongly."""
        # First of all that is drawn: so a seed has the same kinds in any store.
        kind = chance.choice(('flip', 'flip', 'page', 'blank page'))
        ran = self._folder / 'run'
        shutil.rmtree(ran, ignore_errors=True)
        shutil.copytree(self._base, ran)
        content = bytearray(self._content)
        pages = len(content) // self._page
        page = chance.choice([one for one in range(1, pages + 1) if one not in self._free])
        start = (page - 1) * self._page
        if kind == 'flip':
            place = start + chance.randrange(HEADER if page == 1 else 0, self._page)
            content[place] ^= 1 << chance.randrange(8)
        else:
            noise = chance.randbytes(self._page) if kind == 'page' else bytes(self._page)
            content[start : start + self._page] = noise
        if content == self._content:  # it was all zeros
            return '', ''
        (ran / STORE).write_bytes(content)
        found = self._read(ran)
        self.found[f'{kind}s'] += 1
        if 'ended' in found:
            return 'ended', f'{kind} in page {page}: {found["ended"]}'
        wrong = [
            memory_id
            for memory_id, told in found['told'].items()
            if told != self._known['told'].get(memory_id)
        ]
        missing = len(self._known['told'].keys() - found['told'].keys())
        self.found[f'{kind}s: wrong texts told'] += bool(wrong)
        self.found[f'{kind}s: memories missing without an error'] += bool(
            missing and not found['errors']
        )
        self.found[f'{kind}s: detected at read'] += bool(found['errors'])
        self.found[f'{kind}s: detected by maintain'] += found['maintain'] != 'whole'
        self.found[f'{kind}s: an index made anew from the rows'] += bool(found['mended'])
        noticed = found['errors'] or found['mended'] or found['maintain'] != 'whole'
        if not noticed:
            (ran / STORE).write_bytes(content)
            noticed = not all(check.holds for check in verify(ran / STORE))
            self.found[f'{kind}s: detected by verify alone'] += noticed
        if wrong:
            first = wrong[0]
            told, true = (one['told'].get(first) for one in (found, self._known))
            return (
                'wrong',
                f'{kind} in page {page}: memory {first}: {told!r:.300}, not {true!r:.300}',
            )
        if not noticed:
            owner = damage.find_owners(self._base / STORE, [page]).get(page, 'nothing')
            return 'wrong', f'{kind} in page {page}, of {owner}: not noticed'
        return '', ''

    def _read(self, ran: Path) -> dict[str, Any]:
        """Read all of a store in a process of its own."""
        told = self._folder / 'told'
        told.unlink(missing_ok=True)
        status = fork(lambda: self._tell_into(told, ran), ran / 'log')
        if status:
            return {'ended': f'status {status}: {(ran / "log").read_text()[-800:]}'}
        found: dict[str, Any] = json.loads(told.read_text())
        return found

    def _tell_into(self, told: Path, ran: Path) -> None:
        told.write_text(json.dumps(self._tell(ran)))

    def _tell(self, ran: Path) -> dict[str, Any]:
        texts: dict[str, Any] = {}
        errors: list[str] = []
        maintain, mended = 'not opened', []
        try:
            with histories.open_robot(self._life, ran, 2) as robot:
                for read in (_list_records, _recall):
                    try:
                        for memory_id, told in read(robot):
                            texts.setdefault(memory_id, told)
                            if texts[memory_id] != told:
                                texts[memory_id] = [texts[memory_id], told]
                    except RobotMemoryError as error:
                        errors.append(str(error))
                try:
                    steps = {step.name: step for step in robot.maintain(all=True).steps}
                    is_whole = 'intact' in steps['integrity'].detail and steps['audit'].done
                    maintain = 'whole' if is_whole else steps['integrity'].detail
                except RobotMemoryError as error:
                    maintain = str(error)
                with contextlib.suppress(RobotMemoryError):
                    mended = robot.rows("SELECT detail FROM audit WHERE action = 'index_rebuilt'")
        except RobotMemoryError as error:
            errors.append(str(error))
        return {'told': texts, 'errors': errors, 'maintain': maintain, 'mended': mended}


def _list_records(robot: histories.Living) -> list[tuple[str, Any]]:
    wanted = {'status': {'$in': ['active', 'invalidated', 'superseded']}}
    found = robot.query_records(where=wanted, limit=1000).records
    return [(str(one.memory_id), one.record_content) for one in found]


def _recall(robot: histories.Living) -> list[tuple[str, Any]]:
    return [
        (str(one.id), one.content)
        for word in histories.WORDS
        for one in robot.recall(word, n=100, min_confidence=0).memories
    ]
