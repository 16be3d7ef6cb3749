"""Fill a store below the tool `learn` with vectors made of words, under the models' names."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from facts import make_fact, make_vector

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.records import make_record
from robot_memory.core.settings import Settings
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.memory import Memory
from robot_memory.storage.indexes import other_vectors
from robot_memory.storage.tables import memories
from robot_memory.text.categories import Classification

_AT_ONCE = 20_000
_SAME = Classification('observation', 0.9, ('observation',), ())


def fill_store(path: Path, size: int, *, with_second: bool) -> None:
    """Keep so many facts with vectors of the first model, or of both."""
    settings = Settings(db_path=str(path), second_model='' if with_second else 'none')
    memory = Memory(settings, resident=False)
    memory.embedder.wait()
    second = memory.second.wait() if with_second else None
    memory.reindexer.adopt_model()
    numbers = iter(make_progress_bar(range(size), f'{size:,} memories: fill', unit='memory'))
    while batch := list(islice(numbers, _AT_ONCE)):
        with memory.db.write() as connection:
            for number in batch:
                text, context = make_fact(number)
                made = make_vector(text)
                vectors = TextVectors(made)
                if second is not None:
                    vectors = TextVectors(made, np.roll(made, 1), second.name)
                record = make_record('fact', text, _SAME, context, memory.clock(), memory.caller)
                record = replace(record, collection='default')
                memories.insert(connection, record, vectors)
    with memory.db.read() as connection:
        missing = other_vectors.count_missing(connection)
    memory.close()
    if missing:
        raise RuntimeError(f'{missing} memories have no vector of the second model')
