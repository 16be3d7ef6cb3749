"""
Whether a newer statement replaces an older one, or says the same, by a model that reads both.

It is the default embedding model with a low-rank adapter (LoRA, Hu et al. 2022), trained on
labelled pairs by bench/pairs/train_cross_encoder.py. `cross_encoder.onnx` holds what was trained
and names the default model's weights by their place in its file, which both then share.
docs/decisions/cross-encoder.md says why, and what it reaches.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np

from robot_memory.core.errors import Unavailable
from robot_memory.core.heap import trim_heap
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.embedding.onnx_graph import open_session
from robot_memory.embedding.protocol import Embedder
from robot_memory.embedding.token_ids import encode

GRAPH = Path(__file__).with_name('cross_encoder.onnx')
MODEL = 'multilingual-e5-small@8a5c42b6'
"""The model whose weights the graph names."""
WEIGHTS, WEIGHTS_BYTES = 'model.onnx.data', 76_826_112
"""The file of the weights, and its size: in another one they lie elsewhere."""
LONGEST = 64
"""Tokens of a statement that are read."""

logger = logging.getLogger(__name__)
_LOADING = Lock()
_loaded: WeakKeyDictionary[OnnxEmbedder, CrossEncoder | None] = WeakKeyDictionary()
"""Those of the embedders that are in memory; changed under `_LOADING`."""


class Scores(NamedTuple):
    """Hold log odds of what a newer statement is to an older one."""

    replaces: float
    restates: float


class CrossEncoder:
    """Judge pairs of statements, in English and Chinese; safe to call from several threads."""

    def __init__(self, embedder: OnnxEmbedder) -> None:
        """Load the adapter beside the model of an embedder; raise Unavailable."""
        directory = embedder.directory
        try:
            found = (directory / WEIGHTS).stat().st_size
            graph = GRAPH.read_bytes()
        except OSError as error:
            raise Unavailable(f'cannot read {error.filename}: {error.strerror}') from error
        if found != WEIGHTS_BYTES:
            raise Unavailable(
                f'{directory / WEIGHTS} has {found} bytes; accepted: {WEIGHTS_BYTES}, as the '
                'default model has them'
            )
        self._session = open_session(graph, directory, threads=1, is_lean=True)
        # Not the embedder: a loaded cross-encoder would keep the model in memory for good.
        self._tokenizer = embedder.tokenizer

    def score(self, older: str, newer: str) -> Scores:
        """Return the log odds that the newer statement replaces, and restates, the older one."""
        first, second = (encode(self._tokenizer, text) for text in (older, newer))
        ids = np.array([join_pair(first, second)])
        feed = {'input_ids': ids, 'attention_mask': np.ones_like(ids)}
        return Scores(*self._session.run(None, feed)[0][0].tolist())


def join_pair(older: Sequence[int], newer: Sequence[int]) -> list[int]:
    """
    Return the ids of two statements as of one text: begin, older, end, end, newer, end.

    Of each LONGEST are read.
    """
    end = older[-1]
    return [*older[:-1][: LONGEST - 1], end, end, *newer[1:-1][: LONGEST - 2], end]


def has_cross_encoder(embedder: Embedder | None) -> TypeGuard[OnnxEmbedder]:
    """Say whether there is a cross-encoder of an embedder's model."""
    return isinstance(embedder, OnnxEmbedder) and embedder.name == MODEL


def load_cross_encoder(embedder: OnnxEmbedder) -> CrossEncoder | None:
    """
    Return the cross-encoder, which the first call loads; None, and logged why, if it cannot.

    It goes with its embedder.
    """
    with _LOADING:  # else several threads would load one each
        if embedder not in _loaded:
            _loaded[embedder] = _load(embedder)
        return _loaded[embedder]


def _load(embedder: OnnxEmbedder) -> CrossEncoder | None:
    try:
        return CrossEncoder(embedder)
    except Unavailable as error:
        logger.warning('corrections and restated facts are told by their words alone: %s', error)
        return None
    finally:
        trim_heap()
