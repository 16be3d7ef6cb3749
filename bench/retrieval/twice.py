"""How many memories `learn` takes for known ones, in a set where none says what another does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sets import RetrievalSet
from vectors import Loaded, Models

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.tools.learn import learn


def count_refused(path: Path, chosen: RetrievalSet, known: Models | None) -> dict[str, int]:
    """Learn a set's memories one by one; return how many were refused, by the method."""
    settings = Settings(db_path=str(path), model='none', durability='normal')
    counts: Counter[str] = Counter()
    with Memory(settings, embedder=None if known is None else Loaded(known.first)) as memory:
        memory.reindexer.adopt_model()
        for item in make_progress_bar(chosen.memories, f'{chosen.name}: learn', unit='memory'):
            given = {'insight': item.text, 'collection': item.collection}
            counts[learn.run(memory, given).method or ''] += 1
    del counts['']
    return dict(counts)
