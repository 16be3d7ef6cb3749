"""
Erasures beside two other processes, each killed at any call on a file: all or nothing, no word.

One store lives through all rounds. In each a process stores memories of every kind and makes some
erasures, and half of them are killed at any call on a file from the first preview on; another one
opens the store and completes what was begun, and is killed, too, at times. Words are looked for in
the bytes of the file, its log and all backups, and as terms of the index. What is compressed is
not read: of parts it is the rows that must be gone.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import checker
import disk
from canaries import Words, fold, live, open_operator
from disk import Disk
from robots import MovableClock, Robot
from rounds import Verdict, fork, read_unpacked

from robot_memory.background import folding
from robot_memory.core.errors import RobotMemoryError, Unavailable
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage import checksums

LETTERS = 10
RUN = re.compile(rb'[a-z]{%d,}' % LETTERS)
DEEDS_A_ROUND = 12
ERASURES_A_ROUND = 3
WORDS_A_PLACE = 4
OTHERS = 2
TURNS_A_ROUND = 5
PATIENCE_SECONDS, PAUSE_SECONDS = 60.0, 0.02
"""How long an erasure that another process is at is waited for, and between looks at it."""
KNOWN_PREFIX = 7
"""Letters of a word that its stem keeps."""


class Store:
    """A store that outlives its erasers, and two processes that write to it all the time."""

    def __init__(self, disk_: Disk, folder: Path, seed: int) -> None:
        """Begin with an empty store, and start the other processes."""
        self._disk = disk_
        self._folder = folder
        self._seed = seed
        self._keep = random.Random(seed).choice((1, 1, 2, 3))
        self._path = folder / 'store' / 'memory.db'
        self._backups = folder / 'store' / 'backups'
        self._path.parent.mkdir(parents=True)
        self.known: dict[int, list[str]] = {}
        self.gone: set[str] = set()
        self.figures: Counter[str] = Counter()
        self._calls: dict[bool, int] = {}
        self._others: list[tuple[int, int]] = []

    def open(self, step: int) -> tuple[Robot, MovableClock]:
        """Open the store as an operator, some days on."""
        clock = MovableClock()
        clock.forward(days=step)
        memory = open_operator(
            self._path, clock, backup_folder=str(self._backups), backup_keep=self._keep
        )
        return Robot(memory), clock

    def start_others(self) -> None:
        """Start processes that learn and recall until they are told to end."""
        for name in range(OTHERS):
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                os.close(writer)
                _write_until_told(self._path, name, reader, self._folder / f'other{name}')
            os.close(reader)
            self._others.append((child, writer))

    def stop_others(self) -> list[str]:
        """Tell the others to end; return what is wrong with how they ended."""
        for _, writer in self._others:
            os.close(writer)
        wrong = []
        for name, (child, _) in enumerate(self._others):
            status = os.waitpid(child, 0)[1]
            told = self._folder / f'other{name}'
            if status or not told.exists():
                wrong.append(f'process {name} beside the erasures ended with status {status}')
                continue
            add_figures(self.figures, Counter(json.loads(told.read_text())))
        return wrong

    def erase(self, number: int, chance: random.Random) -> Verdict:
        """Store, erase, be killed in every other round, and judge what is left."""
        for _, writer in self._others:
            os.write(writer, b'.' * TURNS_A_ROUND)
        is_killed, again = chance.random() < 0.5, chance.random() < 0.25
        place = chance.randint(1, self._calls.get(False, 0) or 1) if is_killed else 0
        told = self._run(lambda tell: self._disturb(number, chance, place, tell))
        wanted: list[list[int]] = []
        confirmed, is_whole = 0, False
        for line in told:
            if 'problem' in line:
                return Verdict(number, 'ended', line['problem'])
            for memory_id, words in line.get('words', {}).items():
                self.known.setdefault(int(memory_id), []).extend(words)
            wanted += line.get('wanted', [])
            confirmed += 'confirmed' in line
            self._calls[False] = line.get('calls', self._calls.get(False, 0))
            is_whole = is_whole or 'calls' in line
        self.figures['processes killed while they erased'] += not is_whole
        if again and not is_whole and self._calls.get(True):
            place = chance.randint(1, self._calls[True])
            told = self._run(lambda tell: self._look(number, wanted, tell, place))
            self.figures['killed while they completed an erasure'] += not told
        found = self._run(lambda tell: self._look(number, wanted, tell))
        if not found or 'problem' in found[-1]:
            return Verdict(number, 'refused', str(found[-1:]))
        (look,) = found
        self._calls[True] = look['calls']
        return self._judge(number, wanted, confirmed, look)

    def _judge(
        self, number: int, wanted: list[list[int]], confirmed: int, look: dict[str, Any]
    ) -> Verdict:
        if look['problems']:
            return Verdict(number, 'inconsistent', '; '.join(look['problems'][:5]))
        if look['unfinished']:
            return Verdict(number, 'half', f'not completed: {look["unfinished"]}')
        for place, each in enumerate(wanted):
            gone = set(each) - set(look['there'])
            if gone and gone != set(each):
                return Verdict(number, 'half', f'{len(gone)} of {len(each)} memories are gone')
            if place < confirmed and not gone:
                return Verdict(number, 'lost', 'an answered erasure took nothing')
            words = {word for one in gone for word in self.known.pop(one, [])}
            self.gone |= words
            self.figures['erasures begun'] += 1
            self.figures['of them erased'] += bool(gone)
            self.figures['of them untouched'] += not gone
            self.figures['memories erased'] += len(gone)
            self.figures['words erased'] += len(words)
        left = self.find_left()
        self.figures['words found'] += len(left)
        if left:
            return Verdict(number, 'half', f'{len(left)} erased words are left: {left[:3]}')
        return Verdict(number)

    def find_left(self) -> list[str]:
        """Return the erased words that are in a file, or in the index as a term."""
        found: set[bytes] = set()
        files = [*self._path.parent.glob('memory.db*'), *self._backups.glob('*.db*')]
        for path in files:
            if not path.name.endswith('-shm'):
                for run in RUN.findall(read_unpacked(path).lower()):
                    found.update(run[at : at + LETTERS] for at in range(len(run) - LETTERS + 1))
        left = {word for word in self.gone if word.encode() in found}
        return sorted(left | self._find_terms())

    def _find_terms(self) -> set[str]:
        connection = checksums.connect(self._path)
        try:
            connection.execute(
                'CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, memories_fts, row)'
            )
            terms = {
                row[0][:KNOWN_PREFIX] for row in connection.execute('SELECT term FROM temp.v')
            }
        finally:
            connection.close()
        return {word for word in self.gone if word[:KNOWN_PREFIX] in terms}

    def _run(self, work: Callable[[Callable[[Any], None]], None]) -> list[dict[str, Any]]:
        """Do something in a process of its own; return what it told until its end."""
        told = self._folder / 'told'
        with open(told, 'wb', buffering=0) as file:

            def tell(one: Any) -> None:
                file.write(json.dumps(one).encode() + b'\n')

            status = fork(lambda: work(tell), self._folder / 'log')
        lines = [json.loads(line) for line in told.read_bytes().splitlines()]
        if status not in (0, signal.SIGKILL):
            log = (self._folder / 'log').read_text()[-1500:]
            lines.append({'problem': f'status {status}: {log}'})
        return lines

    def _disturb(
        self, number: int, chance: random.Random, place: int, tell: Callable[[Any], None]
    ) -> None:
        words = Canaries(self._seed * 10**6 + number, tell)
        robot, _ = self.open(number)
        live(robot, words, chance, DEEDS_A_ROUND, 100 * number)
        if number % 3 == 0:
            robot.memory.backups.make_due()
        if number % 3 == 1:
            folding.RARE = 2
            fold(robot)
        there = self._find_there(robot, [*self.known])
        there = there or self._find_there(robot, range(1 << 40))[-ERASURES_A_ROUND:]
        chance.shuffle(there)
        self._disk.watch(self._path.parent)
        self._disk.arm(disk.KILL if place else disk.PASS, place)
        for one in range(ERASURES_A_ROUND):
            wanted = sorted(there[one :: 2 * ERASURES_A_ROUND])
            if not wanted:
                continue
            token = robot.erase(memory_ids=wanted, reason='asked for').token
            tell({'wanted': [wanted]})
            robot.erase(token=str(token))
            tell({'confirmed': True})
        tell({'calls': self._disk.count})
        robot.close()

    def _look(
        self,
        number: int,
        wanted: list[list[int]],
        tell: Callable[[Any], None],
        place: int = 0,
    ) -> None:
        """Open the store, complete what was begun, and tell what is there, unless it is killed."""
        self._disk.watch(self._path.parent)
        self._disk.arm(disk.KILL if place else disk.PASS, place)
        try:
            robot, clock = self.open(number)
            until = time.monotonic() + PATIENCE_SECONDS
            while True:
                unfinished = robot.rows("SELECT id, waits_for FROM erasures WHERE state <> 'done'")
                if not unfinished or time.monotonic() > until:
                    break
                time.sleep(PAUSE_SECONDS)
                clock.forward(seconds=6)
                robot.memory.eraser.run()
            there = self._find_there(robot, [one for each in wanted for one in each])
            calls = self._disk.count
            robot.close()
        except RobotMemoryError as error:
            tell({'problem': str(error)})
            return
        problems = checker.check(self._path)
        tell({'there': there, 'unfinished': unfinished, 'problems': problems, 'calls': calls})

    @staticmethod
    def _find_there(robot: Robot, ids: Any) -> list[int]:
        """Return those of some ids that are memories or folded events."""
        rows = robot.rows('SELECT id FROM memories UNION SELECT id FROM events WHERE id > 0')
        known = set(ids) if not isinstance(ids, range) else ids
        return sorted(row[0] for row in rows if row[0] in known)


class Canaries(Words):
    """Several words in place of each, told of at once: a kill may come before the end."""

    def __init__(self, seed: int, tell: Callable[[Any], None]) -> None:
        """Make the words that follow from a seed."""
        super().__init__(seed)
        self._told = tell

    def make(self) -> str:
        """Return some new words."""
        return ' '.join(super(Canaries, self).make() for _ in range(WORDS_A_PLACE))

    def tell(self, memory_id: int, *words: str) -> int:
        """Tell of the words of a memory."""
        self._told({'words': {memory_id: [one for each in words for one in each.split()]}})
        return memory_id


class RunningClock(MovableClock):
    """Stand still but for the steady clock: what is retried after a pause is retried."""

    def steady(self) -> float:
        """Return seconds."""
        return time.monotonic()


def add_figures(known: Counter[str], more: Counter[str]) -> None:
    """Add counts to those that are known; of what is the longest the longer one stays."""
    for name, count in more.items():
        known[name] = max(known[name], count) if 'longest' in name else known[name] + count


def _write_until_told(path: Path, name: int, reader: int, told: Path) -> None:
    """Learn and recall for each byte of a pipe until it is closed; this process ends here."""
    code = 3
    try:
        figures: Counter[str] = Counter()
        chosen = Settings(db_path=str(path), model='none', durability='normal')
        with Memory(chosen, resident=True, clocks=RunningClock()) as memory:
            robot, turn = Robot(memory), 0
            while os.read(reader, 1):
                turn += 1
                start = time.monotonic()
                try:
                    robot.learn(f'the handle of process {name} in turn {turn} is made of steel')
                except Unavailable as error:
                    if 'another process is writing' not in str(error):
                        raise
                    figures['writes beside them refused: they waited too long'] += 1
                took = round(1000 * (time.monotonic() - start))
                figures['ms the longest write beside them took'] = max(
                    figures['ms the longest write beside them took'], took
                )
                figures['writes beside them'] += 1
                robot.recall('handle', n=3)
        told.write_text(json.dumps(figures))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
