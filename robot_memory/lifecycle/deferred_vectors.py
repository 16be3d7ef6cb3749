"""Vectors made after the memories: a model is loaded when it is needed, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from robot_memory.core.heap import trim_heap
from robot_memory.memory import Memory


def load_models(memory: Memory, seconds: float) -> None:
    """Load both models, for what is compared by its vectors before it is stored; wait so long."""
    memory.embedder.start()
    memory.wait_for_models(seconds, seconds)
    memory.reindexer.adopt_model()


def load_in_turn(memory: Memory, seconds: float) -> Iterator[None]:
    """
    Yield while a model is loaded that forms of the store wait for: the larger, then the other.

    One that was loaded for it is dropped afterwards, so that both are never held at once. Where no
    form waits, none is loaded.
    """
    for number, model in ((1, memory.second), (0, memory.embedder)):
        if not memory.reindexer.list_waiting()[number]:
            continue
        trim_heap()
        is_held = model.get_if_loaded() is not None
        model.start()
        if model.wait(seconds) is not None:
            memory.reindexer.adopt_model()
            yield
        if not is_held:
            model.unload()
            memory.vectorizer.get_second()  # which forgets one that is gone
