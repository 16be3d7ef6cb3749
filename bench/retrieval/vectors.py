"""The vectors of a set's texts, made once: embedding takes most of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sets import ROOT, RetrievalSet

from robot_memory.core.progress import make_progress_bar
from robot_memory.embedding import BackgroundEmbedder, Embedder
from robot_memory.embedding.loader import open_second_model
from robot_memory.embedding.packaged import SECOND_MODEL, is_fetched
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.text.language import find_language

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
        self.languages = getattr(embedder, 'languages', ())
        self.turns = getattr(embedder, 'turns', True)
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


@dataclass(frozen=True)
class Models:
    """Hold the first model and the second one, None where it is not there."""

    first: Known
    second: Known | None

    def embed_passages(self, texts: Sequence[str]) -> list[TextVectors]:
        """Return the vectors of texts as the memory keeps them."""
        made = list(map(TextVectors, self.first.embed_passages(texts)))
        if self.second is None:
            return made
        others = self.second.embed_passages(texts)
        return [
            replace(one, second=other, second_model=self.second.name)
            if find_language(text) in self.second.languages
            else one
            for text, one, other in zip(texts, made, others, strict=True)
        ]

    def compute_relevance(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return how relevant texts are to a question, shape (texts,)."""
        first = self.first
        found: Vectors = first.calibration.to_relevance(
            first.embed_passages(texts) @ first.embed_query(question)
        )
        second = self.second
        if second is None or find_language(question) not in second.languages:
            return found
        other = second.calibration.to_relevance(
            second.embed_passages(texts) @ second.embed_query(question)
        )
        asked = np.array([find_language(text) in second.languages for text in texts])
        return np.where(asked, (found + other) / 2, found)


class Loaded(BackgroundEmbedder):
    """Give an embedder that is there already to a memory."""

    def __init__(self, embedder: Embedder) -> None:
        """Be ready at once."""
        super().__init__()
        self._embedder = embedder
        self.state, self.reason = 'ready', ''

    def start(self) -> None:
        """Load nothing."""


def load_models() -> tuple[list[Embedder], str]:
    """Return the default model and the second one, as far as they are there, and why not."""
    loader = BackgroundEmbedder()
    loader.start()
    first = loader.wait()
    if first is None:
        return [], loader.reason
    if not is_fetched(SECOND_MODEL):
        return [first], f'the second model is not there: robot-memory model get {SECOND_MODEL}'
    return [first, open_second_model('')], ''


def know(embedders: Sequence[Embedder], chosen: RetrievalSet) -> Models | None:
    """Return the models with the vectors of a set; None where there is no model."""
    known = [
        Known(one, chosen, embed_memories(one, chosen), embed_questions(one, chosen))
        for one in embedders
    ]
    return Models(known[0], known[1] if len(known) > 1 else None) if known else None


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
