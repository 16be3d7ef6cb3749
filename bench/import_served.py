"""
Import a recording with the package on the path, once for each line on stdin; print what it took.

The models are loaded as the command loads them, which is not counted: before the import, or after
it and one after the other. `import_speed.py` runs this for each checkout. The oldest that it knows
is that of before the package had `core` and `ingest`.
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PASSAGE = 'Contact for 1.3 s on tool0: push over 5 N'


class Checkout:
    """Hold what imports a recording, by the names that the package on the path has for it."""

    def __init__(self) -> None:
        """Import the package."""
        self.make_memory: Callable[..., Any] = _find('robot_memory.memory.Memory')
        self.make_settings: Callable[..., Any] = _find(
            'robot_memory.core.settings.Settings', 'robot_memory.settings.Settings'
        )
        self.import_recording: Callable[..., Any] = _find(
            'robot_memory.ingest.bag_import.import_recording',
            'robot_memory.senses.importing.import_recording',
        )
        self.make_plan: Callable[[], Any] = _find(
            'robot_memory.ingest.bag_import.ImportPlan', 'robot_memory.senses.importing.Plan'
        )
        self.load_in_turn: Callable[..., Any] | None = None
        with suppress(ImportError, AttributeError):
            self.load_in_turn = _find('robot_memory.lifecycle.deferred_vectors.load_in_turn')

    def open(self, settings: Any) -> Any:
        """Return a memory whose models are loaded after the import, where the checkout can."""
        with suppress(TypeError):
            return self.make_memory(settings, resident=False, loads_models=False)
        return self.make_memory(settings, resident=False)

    def prepare(self, memory: Any) -> bool:
        """Have the model used by a memory before the import; return whether there is one."""
        if self.load_in_turn is not None:
            return False
        embedder = memory.embedder.wait(60.0)
        getattr(memory, 'reindexer', memory).adopt_model()
        second = getattr(memory, 'second', None)
        if second is not None:
            second.wait(60.0)
        embed = getattr(memory, 'embed_passage', None) or memory.passage_vector
        embed(PASSAGE)
        return embedder is not None


def _find(*names: str) -> Any:
    """Return what the first of some names that is there stands for."""
    for name in names[:-1]:
        module, _, attribute = name.rpartition('.')
        with suppress(ImportError):
            return getattr(importlib.import_module(module), attribute)
    module, _, attribute = names[-1].rpartition('.')
    return getattr(importlib.import_module(module), attribute)


def import_into(checkout: Checkout, memory: Any, bag: Path) -> dict[str, Any]:
    """Return the times, in s of the recording a s, and the memory of an import in MB."""
    has_model = checkout.prepare(memory)
    with suppress(ImportError, AttributeError):  # as the command does
        _find('robot_memory.core.heap.freeze_objects')()
    resident = int(Path('/proc/self/statm').read_text().split()[1]) * resource.getpagesize()
    start, busy = time.perf_counter(), time.process_time()
    done = checkout.import_recording(
        memory, bag, checkout.make_plan(), lambda _: None, lambda done, total: None
    )
    wall, processor = time.perf_counter() - start, time.process_time() - busy
    for _ in checkout.load_in_turn(memory, 60.0) if checkout.load_in_turn else ():
        start, busy = time.perf_counter(), time.process_time()  # loading them is not counted
        memory.reindexer.embed_forms()
        has_model = True
        wall += time.perf_counter() - start
        processor += time.process_time() - busy
    gc.unfreeze()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        'wall': done.seconds / wall,
        'processor': done.seconds / processor,
        'beyond_model_mb': max(0, peak - resident) >> 20,
        'peak_mb': peak >> 20,
        'kept': done.kept,
        'has_model': has_model,
    }


def main() -> None:
    """Import into a new store for each line."""
    bag, model = Path(sys.argv[1]), sys.argv[2]
    with suppress(ImportError):  # as the command does, in checkouts that have it
        _find('robot_memory.core.heap.use_one_heap')()
    checkout = Checkout()
    for _ in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            settings = checkout.make_settings(db_path=str(Path(folder) / 'memory.db'), model=model)
            with checkout.open(settings) as memory:
                print(json.dumps(import_into(checkout, memory, bag)), flush=True)


if __name__ == '__main__':
    main()
