"""One round: a life is lived in a fork, disturbed, and what it left is judged."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import re
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw
import checker
import disk
import histories
from disk import Disk
from histories import Life, Rows

from robot_memory.core.errors import RobotMemoryError
from robot_memory.storage import Connection, Database

WORD = re.compile(rf'\b[a-z]{{{histories.CANARY}}}\b')


@dataclass
class Verdict:
    """
    Say what became of a round: how many calls were answered, and what is wrong, if anything.

    `struck` says whether the call on a file at which it was to be disturbed came.
    """

    answered: int
    kind: str = ''
    detail: str = ''
    struck: bool = True


@dataclass
class Reference:
    """
    A life that nobody disturbed.

    `states` has for each step the rows after each of its transactions, the last of them after it;
    `erased` the words that each proved erasure took, `counts` how many calls on files there were
    by the end of each step, `calls_with_reads` how many with reads.
    """

    life: Life
    base: Path
    states: list[list[Rows]]
    journal: list[disk.Event]
    counts: list[int] = field(default_factory=list)
    calls_with_reads: int = 0
    erased: list[set[str]] = field(default_factory=list)
    version: int = 0

    @property
    def calls(self) -> int:
        """Return how many calls on files there were in all."""
        return self.counts[-1]

    def find_halves(self) -> Iterator[str]:
        """Yield calls that leave states between, and are not known to have several steps."""
        for place, name in enumerate(self.life.names):
            before, after = self.states[place][-1], self.states[place + 1][-1]
            between = [one for one in self.states[place + 1] if one not in (before, after)]
            if between and name not in histories.OF_MANY_STEPS:
                yield f'{name} (step {place + 1}) has {len(between)} states between'


def fork(work: Callable[[], None], log: Path) -> int:
    """Do something in a process of its own; return its status as `os.waitpid` does."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 3
    try:
        with open(log, 'w', encoding='utf-8') as told:
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def live_undisturbed(disk_: Disk, life: Life, folder: Path) -> Reference:
    """Live a life twice: once for the journal and the number of calls, once for the rows."""
    base = folder / 'base'
    life.prepare(base)
    log = folder / 'log'
    ran, noted, journal = folder / 'run', folder / 'states', folder / 'journal'

    def journaled() -> None:
        descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        disk_.watch(ran, descriptor)
        counts = []
        for step in life.live(ran):
            disk_.mark(step)
            counts.append(disk_.count)
        noted.write_bytes(pickle.dumps(counts))

    def counted_with_reads() -> None:
        disk_.watch(ran)
        disk_.arm(disk.PASS, 0, reads=True)
        for _ in life.live(ran):
            pass
        noted.write_text(str(disk_.count))

    def read() -> None:
        states = [[histories.read_rows(ran)]]
        seen: list[Rows] = []
        with _reading_each_write(lambda: seen.append(histories.read_rows(ran))):
            for _ in life.live(ran):
                states.append([*seen, histories.read_rows(ran)])
                seen.clear()
        noted.write_bytes(pickle.dumps(states))

    calls = []
    for work in (journaled, counted_with_reads, read):
        shutil.rmtree(ran, ignore_errors=True)
        shutil.copytree(base, ran)
        status = fork(work, log)
        if status:
            raise RuntimeError(
                f'the undisturbed life of {life} ended with {status}:\n{log.read_text()}'
            )
        calls.append(noted.read_bytes())
    problems = checker.check(ran / histories.STORE)
    if problems:
        raise RuntimeError(f'{life} leaves an inconsistent store: {problems[:5]}')
    version = histories.read_version(ran)
    shutil.rmtree(ran)
    found = Reference(
        life,
        base,
        pickle.loads(calls[2]),
        disk.read_journal(journal),
        pickle.loads(calls[0]),
        int(calls[1]),
    )
    found.version = version
    journal.unlink()
    for place, name in enumerate(life.names):
        if name == 'erase':
            before, after = (_find_words(found.states[at][-1]) for at in (place, place + 1))
            found.erased.append(before - after)
    return found


def _find_words(rows: Rows) -> set[str]:
    return set(WORD.findall(repr(rows)))


@contextmanager
def _reading_each_write(read: Callable[[], None]) -> Iterator[None]:
    """Call something after each transaction that writes."""
    write = Database.write

    @contextmanager
    def noted(self: Database, **how: bool) -> Iterator[Connection]:
        with write(self, **how) as connection:
            yield connection
        read()

    Database.write = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Database.write = write  # type: ignore[method-assign]


def judge(reference: Reference, folder: Path, answered: int, *, may_lose: bool = False) -> Verdict:
    """
    Judge what a disturbed life left in a folder.

    It is looked at as it is, then opened by the package, which completes what was begun.
    """
    if not (folder / histories.STORE).exists():
        return Verdict(answered, 'lost', 'the file is not there')
    is_upgraded = histories.read_version(folder) == reference.version
    if reference.life.old and not (answered and (is_upgraded or not may_lose)):
        return _judge_upgraded(reference, folder)
    problems = checker.check(folder / histories.STORE)
    if problems:
        return Verdict(answered, 'inconsistent', '; '.join(problems[:5]))
    found = judge_rows(reference, histories.read_rows(folder), answered, may_lose=may_lose)
    if found.kind == 'half' and reference.life.old and may_lose:
        return _judge_upgraded(reference, folder)
    return found if found.kind else judge_opened(reference, folder, answered)


def _judge_upgraded(reference: Reference, folder: Path) -> Verdict:
    """Judge a store whose upgrade may be at any of its steps: it must end as the undisturbed."""
    problems = checker.check_file(folder / histories.STORE)
    if problems:
        return Verdict(0, 'inconsistent', '; '.join(problems[:5]))
    try:
        histories.open_robot(reference.life, folder, 1).close()
    except RobotMemoryError as error:
        return Verdict(0, 'refused', str(error))
    rows, expected = histories.read_rows(folder), reference.states[1][-1]
    if rows != expected:
        return Verdict(0, 'half', histories.describe_difference(expected, rows))
    return judge_opened(reference, folder, 0)


def judge_opened(reference: Reference, folder: Path, answered: int) -> Verdict:
    """Judge a store once the package has opened it."""
    try:
        with histories.open_robot(reference.life, folder, answered + 1) as robot:
            robot.recall('the red cup')
            robot.memory.eraser.run()
            told = {step.name: step for step in robot.maintain(all=True).steps}
    except RobotMemoryError as error:
        return Verdict(answered, 'refused', str(error))
    for name in ('integrity', 'audit'):
        if not told[name].done:
            return Verdict(answered, 'inconsistent', f'{name}: {told[name].detail}')
    problems = checker.check(folder / histories.STORE) or _check_backups(folder)
    if problems:
        return Verdict(answered, 'inconsistent', 'once opened: ' + '; '.join(problems[:5]))
    left = _find_erased(reference, folder)
    if left:
        return Verdict(answered, 'half', f'erased words are left: {left}')
    return Verdict(answered)


def judge_rows(
    reference: Reference,
    rows: Rows,
    answered: int,
    *,
    may_lose: bool = False,
    may_wait: bool = False,
) -> Verdict:
    """
    Compare rows with those that may be after so many answered calls.

    With `may_lose` earlier ones may be, with `may_wait` the proof of an erasure may be due.
    """
    states = [
        [_pass_over_proofs(one) if may_wait else one for one in step] for step in reference.states
    ]
    rows = _pass_over_proofs(rows) if may_wait else rows
    allowed = [states[answered][-1], *(states[answered + 1] if answered + 1 < len(states) else [])]
    if rows in allowed:
        return Verdict(answered)
    if rows in [one for step in states[: answered + 1] for one in step]:
        return Verdict(answered) if may_lose else Verdict(answered, 'lost', f'of {answered} steps')
    difference = histories.describe_difference(allowed[0], rows)
    name = [*reference.life.names, 'nothing'][answered]
    return Verdict(answered, 'half', f'in {name}, unlike before: {difference}')


def _pass_over_proofs(rows: Rows) -> Rows:
    """Leave out how far erasures are, and where backups are."""
    kept = {table: rows[table] for table in rows if table not in ('erasures', 'meta')}
    return {**kept, 'erasures': [(row[0], *row[2:]) for row in rows.get('erasures', [])]}


def _check_backups(folder: Path) -> list[str]:
    """Say what is wrong with files that have the name of a backup or of a copy."""
    found = []
    for path in [*folder.glob(f'{histories.BACKUPS}/memory-*'), *folder.glob('*.before-upgrade')]:
        try:
            content = read_unpacked(path)
        except (OSError, EOFError) as error:
            found.append(f'{path.name}: {error}')
            continue
        connection = apsw.Connection(':memory:')
        try:
            connection.deserialize('main', content)
            told = connection.pragma('integrity_check')
            held = list(connection.execute('SELECT count(*) FROM memories'))
            if told != 'ok' or not held[0][0]:
                found.append(f'{path.name}: {told}')
        except apsw.Error as error:
            found.append(f'{path.name}: {error}')
        finally:
            connection.close()
    return found


def read_unpacked(path: Path) -> bytes:
    """Return the bytes of a file, unpacked where it is packed with gzip."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == '.gz' else content


def _find_erased(reference: Reference, folder: Path) -> list[str]:
    """Return words of proved erasures that are in a file which no receipt names."""
    proved = histories.read_rows(folder).get('erasures', [])
    if any('done' not in row for row in proved):
        return []
    words = {word for erased in reference.erased[: len(proved)] for word in erased}
    files = [path for path in folder.rglob('*') if path.is_file()]
    named = histories.read_holding(folder)
    files = [path for path in files if path.name not in {histories.ARCHIVE, *named}]
    held = {path.name: read_unpacked(path) for path in files}
    return [
        f'{word} in {name}'
        for word in sorted(words)
        for name, content in held.items()
        if word.encode() in content
    ][:5]


def kill(
    disk_: Disk, reference: Reference, folder: Path, place: int, mode: int = disk.KILL
) -> Verdict:
    """Live a life that is killed at a call on a file, and judge it."""
    ran = _copy(reference, folder)
    reader, writer = os.pipe()

    def disturbed() -> None:
        disk_.watch(ran)
        disk_.arm(mode, place)
        for _ in reference.life.live(ran):
            os.write(writer, b'.')

    status = fork(disturbed, folder / 'log')
    os.close(writer)
    with os.fdopen(reader, 'rb') as told:
        answered = len(told.read())
    if status not in (0, signal.SIGKILL):
        return Verdict(answered, 'ended', f'status {status}: {_read_log(folder)}')
    return replace(judge(reference, ran, answered), struck=status != 0)


def cut(reference: Reference, folder: Path, chance: random.Random) -> Verdict:
    """Cut the power at a random place of a journal, and judge what is left."""
    ran = folder / 'run'
    shutil.rmtree(ran, ignore_errors=True)
    ran.mkdir()
    replay = disk.Replay(reference.base, ran)
    for event in reference.journal[: chance.randrange(len(reference.journal) + 1)]:
        replay.step(event)
    replay.cut(chance, ran)
    return judge(reference, ran, replay.answered, may_lose=reference.life.durability != 'full')


def fail(
    disk_: Disk, reference: Reference, folder: Path, place: int, mode: int, error: int
) -> Verdict:
    """
    Live a life whose disk fails at a call, and judge it.

    The process must live on: the call under way is answered or fails in words, and once the disk
    works again the next one is answered.
    """
    ran = _copy(reference, folder)
    told = folder / 'told'

    def disturbed() -> None:
        answered = 0
        robots: list[histories.Living] = []
        disk_.watch(ran)
        disk_.arm(mode, place, error, reads=mode == disk.FAIL)
        with suppress(RobotMemoryError):
            for step in reference.life.live(ran, robots.append):
                answered = step
        struck = disk_.count >= place
        disk_.arm(disk.PASS, 0)
        rows = histories.read_rows(ran)
        if robots and answered <= len(reference.life.calls):
            robots[0].learn('the disk works again')
            robots[0].close()
        told.write_bytes(pickle.dumps((answered, rows, struck)))

    told.unlink(missing_ok=True)
    status = fork(disturbed, folder / 'log')
    if status:
        return Verdict(0, 'ended', f'status {status}: {_read_log(folder)}')
    answered, rows, struck = pickle.loads(told.read_bytes())
    return replace(_judge_failed(reference, ran, answered, rows), struck=struck)


def _judge_failed(reference: Reference, ran: Path, answered: int, rows: Rows) -> Verdict:
    if reference.life.old and not answered:
        return _judge_upgraded(reference, ran)
    problems = checker.check(ran / histories.STORE)
    if problems:
        return Verdict(answered, 'inconsistent', '; '.join(problems[:5]))
    # A memory that cannot write recorded accesses says how many it loses, and is closed.
    before_close = min(answered, len(reference.life.calls) + 1)
    found = judge_rows(reference, rows, before_close, may_wait=True)
    return found if found.kind else judge_opened(reference, ran, answered)


def jump(
    life: Life, folder: Path, chance: random.Random, figures: Counter[str] | None = None
) -> Verdict:
    """Live a life twice, once with a clock that jumps and machines that start anew; compare."""
    figures = Counter() if figures is None else figures
    folder.mkdir()
    life.prepare(folder / 'base')
    told = []
    for name in ('straight', 'jumping'):
        ran = folder / name
        shutil.copytree(folder / 'base', ran)
        robot = histories.open_robot(life, ran, 1)
        for place in range(len(life.calls)):
            if name == 'straight':
                histories.set_clock(robot, place + 2)
            else:
                robot.clock.forward(days=chance.random())
                days = chance.choice([0, 0.1, 30, -0.1, -30, -9000])
                robot.clock.jump(days)
                figures['jumps of the clock'] += days != 0
                if chance.random() < 0.2:
                    figures['machines that started anew'] += 1
                    robot.close()
                    robot.clock.reboot()
                    robot = histories.open_again(life, ran, robot.clock)
            life.do(robot, place, ran)
        robot.close()
        problems = checker.check(ran / histories.STORE) or _check_backups(ran)
        if problems:
            return Verdict(0, 'inconsistent', f'{name}: {"; ".join(problems[:5])}')
        told.append(
            sorted((row[0], row[1], *row[4:5]) for row in histories.read_rows(ran)['memories'])
        )
    shutil.rmtree(folder)
    if told[0] != told[1]:
        return Verdict(0, 'lost', f'{[*{*told[0]} ^ {*told[1]}][:3]}')
    return Verdict(len(life.calls))


def _copy(reference: Reference, folder: Path) -> Path:
    ran = folder / 'run'
    shutil.rmtree(ran, ignore_errors=True)
    shutil.copytree(reference.base, ran)
    return ran


def _read_log(folder: Path) -> str:
    return (folder / 'log').read_text(encoding='utf-8')[-1500:]
