"""An embedder that runs a sentence model from a directory with onnxruntime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import Internal, InvalidArgument, Unavailable
from robot_memory.embedding.calibration import Calibration, measure_calibration
from robot_memory.embedding.export_files import MAX_TOKENS
from robot_memory.embedding.manifest import (
    Measurement,
    identify,
    read_manifest,
    read_measurement,
    write_measurement,
)
from robot_memory.embedding.onnx_graph import OnnxGraph
from robot_memory.embedding.token_ids import encode, open_tokenizer

MAX_BATCH_TOKENS = 1024
"""Tokens of one run: bounds the memory of a batch (some 25 MB of attention at 512 tokens)."""

MAX_SENTENCES = 64
_SENTENCE_END = re.compile(r'(?<=[.!?])\s+(?=[A-Z"])|(?<=[。！？])')
_HAN = re.compile('[\u3400-\u9fff]')


class OnnxEmbedder:
    """
    Embed with `model.onnx` and `tokenizer.json`, as a hub's export gives them.

    `robot_memory.json` and the files of sentence-transformers beside them say which prefixes and
    which pooling the model wants: docs/models.md.
    """

    def __init__(self, directory: Path, threads: int = 1) -> None:
        """
        Load the model; check and measure it when first met.

        Raise Unavailable for files that cannot be read, InvalidArgument for ones that misfit.
        """
        self.directory = directory
        manifest = read_manifest(directory)
        self._prefixes = (manifest.query_prefix, manifest.passage_prefix)
        self._max_tokens = manifest.max_tokens or MAX_TOKENS
        self.languages, self.turns = manifest.languages, manifest.turns
        self.same_as = manifest.same_as
        self._graph = OnnxGraph(directory, manifest, threads)
        self.tokenizer = open_tokenizer(directory, manifest.pieces, self._max_tokens)
        self.dimension = self._graph.find_dimension(self.tokenize('robot'), manifest.dimension)
        self._center = _read_center(directory, manifest.center, self.dimension)
        measured = read_measurement(directory, manifest)
        if measured is None:
            self._graph.check_tokens(
                self.tokenizer.path, self.tokenizer.find_largest_id(), self._max_tokens
            )
            measured = Measurement(
                identify(directory, manifest), measure_calibration(self, manifest.languages)
            )
            write_measurement(directory, measured)
        self.name: str = measured.name
        self.calibration: Calibration = manifest.calibration or measured.calibration

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """
        Embed texts that are kept; shape (n, dimension), rows of length 1.

        A text of several sentences is the mean of two views of it: as a whole, and its sentences
        one by one. A question about one of them is nearer to that than to the whole.
        """
        parts = [_split_sentences(text) for text in texts]
        flat = [sentence for sentences in parts for sentence in sentences]
        vectors = self._embed([*texts, *flat], kind=1)
        wholes, rest = vectors[: len(texts)], vectors[len(texts) :]
        if not flat:
            return wholes
        sums = np.zeros_like(wholes)
        np.add.at(sums, np.repeat(np.arange(len(texts)), [len(found) for found in parts]), rest)
        return _normalize_rows(wholes + _normalize_rows(sums))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a text that is searched with, as a whole; shape (dimension,), length 1."""
        vector: NDArray[np.float32] = self._embed([text], kind=0)[0]
        return vector

    def _embed(self, texts: Sequence[str], kind: int) -> NDArray[np.float32]:
        """Embed as queries (kind 0) or as passages (1)."""
        rows = [self.tokenize(self._prefixes[kind] + text) for text in texts]
        vectors: NDArray[np.float32] = np.zeros((len(rows), self.dimension), np.float32)
        for batch in _group_by_length(rows):
            vectors[batch] = self._graph.run(np.array([rows[i] for i in batch]))
        vectors = _normalize_rows(vectors)
        if self._center is not None:
            vectors = _normalize_rows(
                vectors - self._center[kind, [_is_chinese(text) for text in texts]]
            )
        if not np.isfinite(vectors).all():
            raise Internal('the model returned a non-finite vector; choose another model')
        return vectors

    def tokenize(self, text: str) -> list[int]:
        """Return the token ids of a text, those of begin and end included; at least one."""
        return encode(self.tokenizer, text)


def _read_center(directory: Path, name: str, dimension: int) -> NDArray[np.float32] | None:
    if not name:
        return None
    path = directory / name
    try:
        center = np.load(path)
    except (OSError, ValueError) as error:
        raise Unavailable(f'cannot read {path}: {error}') from error
    shape = (2, 2, dimension)
    if center.shape != shape or center.dtype.kind != 'f' or not np.isfinite(center).all():
        raise InvalidArgument(
            f'{path} must hold finite floats of shape {shape}, not {center.dtype} of shape '
            f'{center.shape}'
        )
    return np.asarray(center, np.float32)


def _group_by_length(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Give the indices of rows of one length, as many as one run may hold."""
    groups: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(len(row), []).append(index)
    for length, group in groups.items():
        step = max(1, MAX_BATCH_TOKENS // length)
        for start in range(0, len(group), step):
            yield group[start : start + step]


def _split_sentences(text: str) -> list[str]:
    """Return the sentences of a text of several."""
    found = [part for part in _SENTENCE_END.split(text) if part.strip()][:MAX_SENTENCES]
    return found if len(found) > 1 else []


def _is_chinese(text: str) -> int:
    """Say 1 where over a fifth of the characters is Chinese: a word there has one or two."""
    return int(5 * len(_HAN.findall(text)) > len(text))


def _normalize_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, 1e-12)
    return unit
