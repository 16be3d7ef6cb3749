"""The vectors of a set's texts, made once: embedding takes most of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sets import ROOT, RetrievalSet

from robot_memory.core.progress import make_progress_bar
from robot_memory.embedding import BackgroundEmbedder, Embedder

Vectors = NDArray[np.float32]
CACHE = ROOT / 'bench/.cache'
_BATCH = 64


class Known:
    """Be an embedder that has the vectors of a set's texts already."""

    def __init__(
        self, embedder: Embedder, chosen: RetrievalSet, kept: Vectors, asked: Vectors
    ) -> None:
        """Take the vectors of the memories and of the questions, row by row."""
        self.name, self.dimension = embedder.name, embedder.dimension
        self.calibration = embedder.calibration
        self._embedder = embedder
        texts = (memory.text for memory in chosen.memories)
        self._kept = dict(zip(texts, kept, strict=True))
        questions = (question.text for question in chosen.questions)
        self._asked = dict(zip(questions, asked, strict=True))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts to keep, shape (n, dimension)."""
        if all(text in self._kept for text in texts):
            return np.stack([self._kept[text] for text in texts])
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,)."""
        known = self._asked.get(text)
        return self._embedder.embed_query(text) if known is None else known


class Loaded(BackgroundEmbedder):
    """Give an embedder that is there already to a memory."""

    def __init__(self, embedder: Embedder) -> None:
        """Be ready at once."""
        super().__init__()
        self._embedder = embedder
        self.state, self.reason = 'ready', ''

    def start(self) -> None:
        """Load nothing."""


def load_model() -> tuple[Embedder | None, str]:
    """Return the default model, or None and why there is none."""
    loader = BackgroundEmbedder()
    loader.start()
    return loader.wait(), loader.reason


def embed_memories(embedder: Embedder, chosen: RetrievalSet) -> Vectors:
    """Return the vectors of a set's memories, shape (memories, dimension)."""
    return _load_or_embed(
        embedder, [memory.text for memory in chosen.memories], 'passages', chosen.name
    )


def embed_questions(embedder: Embedder, chosen: RetrievalSet) -> Vectors:
    """Return the vectors of a set's questions, shape (questions, dimension)."""
    return _load_or_embed(
        embedder, [asked.text for asked in chosen.questions], 'queries', chosen.name
    )


def _load_or_embed(embedder: Embedder, texts: list[str], kind: str, name: str) -> Vectors:
    digest = hashlib.sha256('\0'.join(texts).encode('utf-8', 'replace')).hexdigest()[:16]
    path = CACHE / embedder.name / f'{name}-{kind}-{digest}.npy'
    if path.exists():
        known: Vectors = np.load(path)
        return known
    vectors = np.zeros((len(texts), embedder.dimension), np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    with make_progress_bar(
        title=f'{name}: vectors of {kind}', unit='text', total=len(texts)
    ) as bar:
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            if kind == 'passages':
                vectors[batch] = embedder.embed_passages([texts[place] for place in batch])
            else:
                vectors[batch] = [embedder.embed_query(texts[place]) for place in batch]
            bar.update(len(batch))
    path.parent.mkdir(parents=True, exist_ok=True)
    (CACHE / '.gitignore').write_text('*\n')
    np.save(path, vectors)
    return vectors
