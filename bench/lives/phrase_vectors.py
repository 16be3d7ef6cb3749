"""The vectors of phrases, by the default model; made once and kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from lives.environment import CACHE
from numpy.typing import NDArray

from robot_memory.embedding import BackgroundEmbedder, Embedder

Vectors = NDArray[np.float32]
_FILE = CACHE / 'phrases.npz'


class PhraseVectors:
    """Hold the vectors that were asked for."""

    def __init__(self, file: Path = _FILE) -> None:
        """Read those of the cache."""
        self._file = file
        self._known: dict[str, Vectors] = {}
        if file.exists():
            with np.load(file) as kept:
                self._known = dict(zip(kept['texts'].tolist(), kept['vectors'], strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (texts, dimension); a text that is new loads the model."""
        missing = sorted({*texts} - {*self._known})
        if missing:
            made = load_embedder().embed_passages(missing)
            self._known.update(zip(missing, made, strict=True))
        return np.stack([self._known[text] for text in texts])

    def save(self) -> None:
        """Write all that is known to the cache."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        made = self._file.with_suffix('.making.npz')
        np.savez(made, texts=np.array([*self._known]), vectors=np.stack([*self._known.values()]))
        os.replace(made, self._file)


def load_embedder() -> Embedder:
    """Return the default model; an error says where there is none."""
    loader = BackgroundEmbedder()
    loader.start()
    found = loader.wait()
    if found is None:
        raise RuntimeError(f'no embedding model: {loader.reason}')
    return found
