"""
Print what the export of a whole store with many sessions takes, by each format, into a file.

Each session has a memory and two turns. Each export is a process of its own, so that its memory is
its own; beside it stands that of a command that only opens the store.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measured_process import run_measured

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.records import Record, Session
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage.tables import memories, sessions

START = 1_770_000_000_000_000
FORMATS = ('jsonl', 'json', 'markdown', 'text')


def fill(path: Path, count: int) -> None:
    """Keep so many sessions, each with what was said in it."""
    settings = Settings(db_path=str(path), durability='normal')
    with Memory(settings, resident=False) as memory, memory.db.write() as connection:
        for number in make_progress_bar(range(count), unit='session'):
            at = START + number * 60_000_000
            context = {'robot': {'id': f'arm-{number % 7}'}, 'env': {'name': f'cell {number % 5}'}}
            session = Session(f'ses_{number:06d}', 'default', context, 'ended', at, ended_at=at)
            sessions.insert(connection, session)
            said = ((None, 'fact'), ('user', 'turn'), ('assistant', 'turn'))
            for place, (role, kind) in enumerate(said):
                record = Record(
                    type=kind,
                    collection='default',
                    content=f'{role or "Fact"} {number}: crate {number * 37} is in aisle {place}',
                    category='observation',
                    confidence=0.9,
                    session_id=session.id,
                    context=context,
                    role=role,
                    turn_id=place or None,
                    created_at=at + place,
                )
                memories.insert(connection, record, None)


def run(*words: str) -> tuple[float, float]:
    """Run a command; return its seconds of the processor, and the MB that it had at most."""
    done = run_measured(sys.executable, '-m', 'robot_memory', *words)
    if done.status:
        sys.exit(f'{" ".join(words)} ended with status {done.status}: {done.said}')
    return done.seconds, done.most_mb


def main() -> None:
    """Fill a store, export it by each format, and print what each takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--sessions', type=int, default=100_000)
    parser.add_argument('--store', type=Path, help='file of the store, which is kept')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.store or Path(folder) / 'memory.db'
        if not path.exists():
            # What this process had at most would count as that of those that it starts.
            filling = multiprocessing.Process(target=fill, args=(path, options.sessions))
            filling.start()
            filling.join()
        model = ('--model', 'none', '--db', str(path))
        seconds, most = run('get-memory-stats', *model)
        print(f'opened and counted: {seconds:.1f} s of the processor, {most:.0f} MB at most')
        for format in FORMATS:
            target = Path(folder) / f'all.{format}'
            words = ('export', 'all', '--format', format, '--output', str(target))
            seconds, most = run(*words, *model)
            print(
                f'{format}: {seconds:.1f} s of the processor, {most:.0f} MB at most, a file of'
                f' {target.stat().st_size / 1e6:.0f} MB',
                flush=True,
            )
    print(f'{options.sessions} sessions; load {os.getloadavg()[0]:.2f}')


if __name__ == '__main__':
    main()
