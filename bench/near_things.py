"""Print how fast filters, places and times are answered, and what leads to them costs."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_memory.catalog import list_tools
from robot_memory.core.clock import format_instant
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.records import Record
from robot_memory.core.settings import Settings
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.memory import Memory
from robot_memory.storage.indexes import facets, positions
from robot_memory.storage.tables import memories

START = 1_770_000_000_000_000
TRIES = 30
CALLS = {tool.name: tool for tool in list_tools()}


def make_fact(i: int, chance: random.Random) -> Record:
    """Return a short fact with a context of eight facets and a position."""
    thing = chance.choice('cup plate bottle tray door drawer handle valve'.split())
    colour = chance.choice('red blue green white black'.split())
    force = round(chance.uniform(2, 30), 1)
    return Record(
        type='fact',
        collection='default',
        content=f'Trial {i}: the {colour} {thing} was pushed with {force} N and stood still',
        category='observation',
        confidence=0.9,
        context={
            'params': {'force': {'value': force, 'unit': 'N'}},
            'spatial': {'object_position': [round(chance.uniform(0, 10), 3) for _ in range(3)]},
            'robot': {'id': f'arm-{i % 7}', 'type': 'UR5e'},
            'task': {'name': 'push', 'success': chance.random() < 0.1, 'steps': i % 50},
        },
        stamp=START * 1000 + i * 10**9 if i % 100 == 0 else None,
        actor_id=f'actor {i % 1000}' if i % 50 == 0 else None,
        created_at=START + i * 1_000_000,
    )


def fill(
    memory: Memory, count: int, make_vectors: Callable[[], TextVectors | None] = lambda: None
) -> None:
    """Keep facts, and print what each and its indexes take."""
    chance = random.Random(5)
    with memory.db.write() as connection:
        start = time.thread_time()
        for i in make_progress_bar(range(count), unit='memory'):
            memories.insert(connection, make_fact(i, chance), make_vectors())
        spent = time.thread_time() - start
    print(f'\n{count} memories, {spent / count * 1e6:.0f} us to insert one, of them for')
    record = make_fact(0, chance)
    with memory.db.write() as connection:
        indexes: tuple[tuple[str, Callable[[int], None]], ...] = (
            ('facets', lambda i: facets.put(connection, i, record.context)),
            ('places', lambda i: positions.put(connection, i, 'default', record.context)),
        )
        for name, put in indexes:
            start = time.thread_time()
            for i in range(10**9, 10**9 + 1000):
                put(i)
            spent = time.thread_time() - start
            connection.execute(f'DELETE FROM {name} WHERE memory_id >= ?', (10**9,))
            ((size,),) = connection.execute(
                'SELECT sum(pgsize) FROM dbstat WHERE name = ?', (name,)
            )
            print(f'  {name} {spent / 1000 * 1e6:.0f} us and {size / count:.0f} bytes')


def show(label: str, run: Callable[[int], Any]) -> None:
    """Print the median and the 95th percentile of the processor's time of a call."""
    spent = []
    for i in range(TRIES):
        start = time.thread_time()
        run(i)
        spent.append((time.thread_time() - start) * 1e3)
    spent.sort()
    print(f'  {label:44s}{spent[TRIES // 2]:8.2f} ms{spent[TRIES * 95 // 100]:8.2f} ms')


def measure(memory: Memory, count: int) -> None:
    """Ask each kind of question."""
    chance = random.Random(9)
    targets = [[chance.uniform(0, 10) for _ in range(3)] for _ in range(TRIES)]
    narrow = {'params.force.value': {'$gte': 10, '$lt': 11}, 'robot.id': 'arm-3'}
    rare = {**narrow, 'params.force.value': 10.1, 'task.steps': 7}

    def recall(**fields: Any) -> Callable[[int], Any]:
        return lambda i: CALLS['recall'].run(memory, fields)

    def near(max_distance: float | None = None, **fields: Any) -> Callable[[int], Any]:
        def run(i: int) -> Any:
            sort = {
                'field': 'spatial.object_position',
                'target': targets[i],
                'max_distance': max_distance,
            }
            return CALLS['recall'].run(memory, {'spatial_sort': sort, **fields})

        return run

    def query(**fields: Any) -> Callable[[int], Any]:
        return lambda i: CALLS['query_records'].run(memory, fields)

    def minute(field: str, seconds: int) -> dict[str, Any]:
        middle = START + count * 500_000
        return {
            field: {
                '$gte': format_instant(middle),
                '$lt': format_instant(middle + seconds * 1_000_000),
            }
        }

    show('filter: a tenth passes', recall(context_filter={'task.success': True}))
    show('filter: a range and a text', recall(context_filter=narrow))
    show('filter: three conditions, rare', recall(context_filter=rare))
    show('filter: nothing passes', recall(context_filter={'robot.id': 'arm-9'}))
    show('nearest 5', near())
    show('nearest 100', near(n=100))
    show('nearest 5 within 0.1', near(0.1))
    show('nearest 5, a tenth passes', near(context_filter={'task.success': True}))
    show('nearest 5, a range and a text', near(context_filter=narrow))
    show('nearest 5 with frequent words', near(query='red cup'))
    show('nearest 5 with a rare word', near(query='777'))
    show('records: all', query())
    show('records: created in a minute', query(where=minute('created_at', 60)))
    show('records: measured in an hour', query(where=minute('stamp', 3600)))
    show('records: of an actor', query(actor_id='actor 50'))
    show('records: a tenth, with their number', query(where={'task.success': True}))


def main() -> None:
    """Fill stores of the asked sizes and measure each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sizes', nargs='*', type=int, default=[10_000, 100_000])
    for count in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db_path=str(Path(folder) / 'memory.db'), durability='normal')
            with Memory(settings, resident=False) as memory:
                fill(memory, count)
                measure(memory, count)


if __name__ == '__main__':
    main()
