"""
Lives: sequences of calls that follow from a seed, and the rows of the store after each.

Two runs of one life leave the same rows but for random ids, salts, tokens and proofs, which
`read_rows` leaves out or names by their order.
"""

from __future__ import annotations

import functools
import gzip
import math
import random
import re
import string
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
from disk import find_fast_folder
from robots import MovableClock, Robot

from robot_memory.archive.reader import import_archive
from robot_memory.core.settings import Settings
from robot_memory.ingest import EventWriter, SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.memory import Memory
from robot_memory.storage import checksums
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part

ROOT = Path(__file__).resolve().parents[1]
STORE = 'memory.db'
ARCHIVE = 'other.jsonl'
BACKUPS = 'backups'
CALLS = 10
CANARY = 12
"""Letters of a word that no other text has."""
WORDS = (
    'red blue green white cup plate tray door valve arm lift ramp drawer handle bottle gripper'
).split()
OLD = (10, 12, 15, 18, 20, 21)
"""Schema versions whose fixtures are upgraded."""
LEFT_OUT = {'changes', 'confirmations', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'}
HIDDEN = {'salt', 'digest', 'note', 'chain', 'digests', 'receipt', 'waits_for', 'words', 'token'}
META = {'audit_checkpoint', 'audit_backup', 'secure_delete', 'audit_heads'}
"""Facts that a proof or a check moves without a change of any memory."""
RANDOM = '(?<=event-)[0-9a-f]{16}|(?<=")[0-9a-f]{16}(?:[0-9a-f]{16}){0,3}(?=")'
"""What stands for random ids, salts and salted digests in texts."""
Rows = dict[str, list[tuple[Any, ...]]]
Call = Callable[[Robot, random.Random, Path], None]


def learn(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Learn a fact with a position."""
    robot.learn(make_text(chance), make_context(chance))


def observe(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Say a known fact again, on another occasion."""
    text = make_text(chance)
    robot.learn(text, make_context(chance))
    robot.learn(text, {'task': {'success': True}, **make_context(chance)})


def update(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Give a memory another text."""
    robot.update(pick(robot, chance), make_text(chance), context=make_context(chance))


def forget(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Forget a memory."""
    robot.forget(pick(robot, chance), 'it was wrong')


def undo(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Forget a memory and take that back."""
    forgotten = pick(robot, chance)
    robot.forget(forgotten, 'it was wrong')
    robot.undo(memory_id=forgotten, reason='it was right')


def perceive(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Save a perception with a signal."""
    robot.save_perception(
        f'a {make_text(chance)} was seen',
        'visual',
        {'series': [chance.random() for _ in range(chance.choice([3, 900]))]},
        stamp={'sec': chance.randrange(10**9), 'nanosec': chance.randrange(10**9)},
    )


def converse(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Save two turns."""
    robot.save_conversation(f'where is the {make_text(chance)}', f'near {make_text(chance)}')


def try_skill(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Store what came of a trial."""
    robot.record_outcome(
        'strike',
        'brass disc on the tray',
        params={'speed': f'{chance.uniform(0.5, 2):.2f} m/s'},
        results={'slide': f'{chance.randint(5, 60)} cm'},
        success=chance.choice(['true', 'false']),
    )


def work(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Work in a session, and end it."""
    session = robot.start_session(context={'robot': 'arm'}).session_id
    robot.learn(make_text(chance), session_id=session)
    robot.end_session(session, 0.7)


def maintain(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Put the store in order."""
    robot.maintain(all=True)


def erase(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Erase some memories, with proof."""
    ids = sorted({pick(robot, chance) for _ in range(3)})
    preview = robot.erase(memory_ids=ids, reason='asked for')
    robot.erase(token=str(preview.token))


def take_in(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Import the archive of another store."""
    import_archive(robot.memory, folder / ARCHIVE)


def back_up(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Make a backup."""
    robot.memory.backups.make_due()


def sense(robot: Robot, chance: random.Random, folder: Path) -> None:
    """Keep what taps found together: one of them twice, and one that is refused."""
    found = []
    for _ in range(4):
        at = chance.randrange(10**18)
        topic, series = '/wrench', chance.randbytes(chance.choice([40, 9000]))
        found.append(
            Perception(
                f'a push at the {make_text(chance)}',
                'tactile',
                stamp=at,
                context={'sense': {'topic': topic, 'detector': 'contact', 'source': ''}},
                data={'peak_force': float(chance.randrange(40))},
                parts=[Part('signal', 'application/x-npz', len(series), series)],
                identity=Identity('', topic, 'contact', at, at + 10**8, at + 10**9),
            )
        )
    found[1:1] = [found[0], replace(found[1], data={'peak_force': math.nan})]
    taps = [make_tap('wrench', {'session': 'none'})]
    writer = EventWriter(robot.memory, taps, SessionFinder(robot.memory))
    writer.write_together([('wrench', one) for one in found])
    if writer.counts['wrench'] != {'events': 4, 'known': 1, 'refused': 1}:
        raise ValueError(f'wrong counts: {writer.counts}')


CALLED: tuple[Call, ...] = (
    learn, observe, update, forget, undo, perceive, converse, try_skill, work, maintain, erase,
    take_in, back_up, sense,
)  # fmt: skip
OF_MANY_STEPS = {
    'observe', 'undo', 'work', 'maintain', 'erase', 'take_in', 'back_up', 'upgrade', 'open',
}  # fmt: skip
"""Those of several transactions: each of the others is one, and leaves no state between."""


def make_text(chance: random.Random) -> str:
    """Return a text that is no duplicate of another: a word and a number are its own."""
    words = ' '.join(chance.choices(WORDS, k=4))
    canary = ''.join(chance.choices(string.ascii_lowercase, k=CANARY))
    return f'the {words} {canary} weighs {chance.randrange(10**6)} grams'


def make_context(chance: random.Random) -> dict[str, Any]:
    """Return a context with values and a position."""
    place = [round(chance.uniform(-5, 5), 3) for _ in range(3)]
    return {
        'spatial': {'object_position': place},
        'params': {chance.choice(WORDS): chance.randrange(100)},
        'env': {'sim_or_real': chance.choice(['sim', 'real'])},
    }


def pick(robot: Robot, chance: random.Random) -> int:
    """Return an active memory that may be changed."""
    found = robot.query_records(where={'status': 'active', 'type': 'fact'}, limit=1000).records
    return chance.choice(sorted(record.memory_id for record in found))


class Living(Robot):
    """A robot whose clock is moved by its life."""

    def __enter__(self) -> Living:
        """Return itself, to be closed at the end of the block."""
        return self

    def __init__(self, memory: Memory, clock: MovableClock) -> None:
        """Keep the clock of a memory beside it."""
        super().__init__(memory)
        self.clock = clock


@dataclass(frozen=True)
class Life:
    """
    A seed; the store that it begins with; how durable; and whether it begins by an upgrade.

    `only` is the one call that is made, by its place in `CALLED`; `begins` is the seed of the life
    whose store it begins with, where that is not its own.
    """

    seed: int
    durability: str = 'full'
    old: int = 0
    only: int | None = None
    begins: int | None = None

    @property
    def calls(self) -> list[Call]:
        """Return the calls of this life in their order."""
        if self.only is not None:
            return [CALLED[self.only]]
        chance = random.Random(self.seed)
        return [chance.choice(CALLED) for _ in range(3 if self.old else CALLS)]

    @property
    def names(self) -> list[str]:
        """Return what happens in each step: opening, the calls, closing."""
        opening = 'upgrade' if self.old else 'open'
        return [opening, *(call.__name__ for call in self.calls), 'close']

    def prepare(self, folder: Path) -> None:
        """Make the store that this life begins with, and an archive of another one."""
        folder.mkdir(parents=True)
        of = self.seed if self.begins is None else self.begins
        for name, content in _make_beginning(Life(of, self.durability, self.old)).items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o600)

    def live(
        self, folder: Path, opened: Callable[[Living], None] = lambda robot: None
    ) -> Iterator[int]:
        """Open the store, make the calls and close it; yield how many steps are done."""
        robot = open_robot(self, folder, 1)
        opened(robot)
        yield 1
        for place in range(len(self.calls)):
            self.call(robot, place, folder)
            yield place + 2
        robot.close()
        yield len(self.calls) + 2

    def call(self, robot: Living, place: int, folder: Path) -> None:
        """Make one of the calls; it does the same wherever the store is in the same state."""
        set_clock(robot, place + 2)
        self.do(robot, place, folder)

    def do(self, robot: Living, place: int, folder: Path) -> None:
        """Make one of the calls at whatever time it is."""
        self.calls[place](robot, random.Random(f'{self.seed} call {place}'), folder)


@functools.lru_cache(maxsize=8)
def _make_beginning(life: Life) -> dict[str, bytes]:
    """Return the files that a life begins with: several rounds may have the same one."""
    with tempfile.TemporaryDirectory(dir=find_fast_folder()) as name:
        folder, made = Path(name), {}
        with open_robot(replace(life, old=0), folder / 'other', 0) as other:
            for place in range(30):
                CALLED[place % 9](other, random.Random(f'{life.seed} other {place}'), folder)
            made[ARCHIVE] = other.export('all', 'jsonl').content.encode()
        if life.old:
            packed = ROOT / f'test/fixtures/schema/v{life.old}.db.gz'
            return {**made, STORE: gzip.decompress(packed.read_bytes())}
        with open_robot(life, folder / 'own', 0) as robot:
            for place in range(72):
                CALLED[place % 9](robot, random.Random(f'{life.seed} {place}'), folder)
        files = (path for path in (folder / 'own').rglob('*') if path.is_file())
        return {**made, **{path.name: path.read_bytes() for path in files}}


def set_clock(robot: Living, step: int) -> None:
    """Set the clock of a robot to a step of its life: a day further each time."""
    clock = robot.clock
    clock.forward(days=step - clock.passed / 86_400)


def open_robot(life: Life, folder: Path, step: int) -> Living:
    """Open a store as an operator, at a step of the life."""
    clock = MovableClock()
    clock.forward(days=step)
    return open_again(life, folder, clock)


def open_again(life: Life, folder: Path, clock: MovableClock) -> Living:
    """Open a store as an operator, with a clock."""
    folder.mkdir(exist_ok=True)
    settings = Settings(
        db_path=str(folder / STORE),
        model='none',
        python_role='operator',
        durability=life.durability,
        backup_folder=str(folder / BACKUPS),
        backup_keep=3,
    )
    memory = Memory(settings, resident=False, clocks=clock, upgrade=bool(life.old))
    return Living(memory, clock)


def read_rows(folder: Path) -> Rows:
    """Return all rows of the store in a folder, in an order, without what is random."""
    connection = checksums.connect(folder / STORE, apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.execute('BEGIN')
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE"
                " 'CREATE VIRTUAL%' AND name NOT LIKE 'memories_fts_%' ORDER BY 1"
            )
        ]
        names = _name_sessions(connection, folder)
        return {
            table: sorted(_read_table(connection, table, names), key=repr)
            for table in tables
            if table not in LEFT_OUT
        }
    finally:
        connection.close()


def read_version(folder: Path) -> int:
    """Return the schema version of the store in a folder."""
    connection = checksums.connect(folder / STORE)
    try:
        return int(connection.pragma('user_version'))
    finally:
        connection.close()


def read_holding(folder: Path) -> set[str]:
    """Return the names of the backups of which a receipt says that they hold what was erased."""
    connection = checksums.connect(folder / STORE)
    try:
        rows: Any = connection.execute(
            "SELECT h.value FROM erasures, json_each(receipt, '$.still_holding') AS h"
        ).fetchall()
        return {Path(value.split(': ')[0]).name for (value,) in rows}
    finally:
        connection.close()


def _name_sessions(connection: apsw.Connection, folder: Path) -> dict[str, str]:
    rows = connection.execute('SELECT id FROM sessions ORDER BY created_at, saved_at, title, id')
    return {
        **{row[0]: f'session {place}' for place, row in enumerate(rows)},
        str(folder.absolute()): 'folder',
    }


def _read_table(
    connection: apsw.Connection, table: str, names: dict[str, str]
) -> Iterator[tuple[Any, ...]]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    kept = [name for name in columns if name not in HIDDEN]
    wanted = ', '.join(f'"{name}"' for name in kept)
    pattern = re.compile('|'.join([*map(re.escape, names), RANDOM]))
    for row in connection.execute(f'SELECT {wanted} FROM "{table}"'):
        if table == 'meta' and row[0] in META:
            continue
        yield tuple(
            pattern.sub(lambda found: names.get(found[0], 'random'), value)
            if isinstance(value, str)
            else value
            for value in row
        )


def describe_difference(one: Rows, other: Rows) -> str:
    """Say in which tables two states differ, with the first rows of each."""
    told = []
    for table in sorted({*one, *other}):
        before, after = {*one.get(table, [])}, {*other.get(table, [])}
        if before != after:
            gone, new = sorted(before - after, key=repr), sorted(after - before, key=repr)
            told.append(f'{table}: -{len(gone)} {gone[:1]} +{len(new)} {new[:1]}')
    return '; '.join(told)[:2000]
