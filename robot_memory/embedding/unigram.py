"""
A unigram tokenizer whose vocabulary is read bucket by bucket.

The `tokenizers` package builds a trie of all 250,000 pieces of e5 before the first word: 0.9 s and
280 MB. A sentence touches a few dozen buckets of this file, parsed when first met: no start-up.

Layout, little endian: magic, uint32 numbers of buckets and of pieces, int32 ids of begin, end and
unknown; uint32 offsets of the buckets (one more than there are); float32 scores by id; then one
JSON object a bucket, from piece to id. A piece lives in the bucket of its first two characters.
"""

from __future__ import annotations

import json
import os
import re
import struct
import unicodedata
import weakref
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

from robot_memory.core.errors import Unavailable
from robot_memory.text.caching import cache_texts

MAGIC = b'RMP1'
HEADER = struct.Struct('<4sIIiii')
BUCKETS = 4096
UNKNOWN_PENALTY = 10.0
"""How far below the rarest piece SentencePiece scores a character that no piece covers."""

LONGEST_PIECE = 16
CONTROLS = ''.join(map(chr, [*range(9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]))
SPACES = '\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd'
"""What SentencePiece's nmt_nfkc removes and what it reads as a space, beside NFKC."""

_CLEAN = str.maketrans({**dict.fromkeys(CONTROLS, ''), **dict.fromkeys(SPACES, ' ')})
_RUN_OF_SPACES = re.compile(' {2,}')
_WORD = re.compile('▁[^▁]*')
"""A word with the mark before it: no piece reaches over a mark, so that each is split alone."""
_WORDS = 4096
"""Words whose pieces are kept: a site says the same ones."""


class PieceTokenizer:
    """Split text into the ids of e5's pieces; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Read the tables of a piece file; raises Unavailable when it is not one."""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            # Not as the interpreter leaves: a thread that still loads a model is waited for then.
            weakref.finalize(self, os.close, self._file).atexit = False
            head = os.pread(self._file, HEADER.size, 0).ljust(HEADER.size, b'\0')
            magic, buckets, pieces, self._begin, self._end, self._unknown = HEADER.unpack(head)
            cut = HEADER.size + 4 * (buckets + 1)
            self.pieces, self._begin_of_text = pieces, cut + 4 * pieces
            if magic != MAGIC or os.fstat(self._file).st_size < self._begin_of_text:
                raise Unavailable(
                    f'{path} is not a piece file; delete its folder to convert again'
                )
            self._offsets = array('I', os.pread(self._file, cut - HEADER.size, HEADER.size))
            self._scores = array('f', os.pread(self._file, self._begin_of_text - cut, cut))
        except OSError as error:
            raise Unavailable(f'cannot read {path}: {error}') from error
        self._unknown_score = min(self._scores) - UNKNOWN_PENALTY
        self._buckets: dict[int, dict[str, int]] = {}
        self._split_word = cache_texts(_WORDS)(self._find_best_path)

    def __call__(self, text: str, limit: int) -> list[int]:
        """Give at most `limit` ids, the ones of begin and end included."""
        line = _normalise(text)[: limit * LONGEST_PIECE]
        ids: list[int] = []
        for word in _WORD.findall(line):
            for piece in self._split_word(word):
                if piece != self._unknown or ids[-1:] != [piece]:
                    ids.append(piece)
        return [self._begin, *ids[: limit - 2], self._end]

    def _find_best_path(self, line: str) -> list[int]:
        """Find the pieces of the greatest summed score (Viterbi)."""
        size = len(line)
        best = [0.0] + [float('-inf')] * size
        last = [(0, 0)] * (size + 1)
        scores = self._scores
        for start in range(size):
            reached = best[start]
            score = reached + self._unknown_score
            if score > best[start + 1]:
                best[start + 1], last[start + 1] = score, (start, self._unknown)
            single, longer = (
                self._get_bucket(line[start]),
                self._get_bucket(line[start : start + 2]),
            )
            for stop in range(start + 1, min(start + LONGEST_PIECE, size) + 1):
                piece = (longer if stop > start + 1 else single).get(line[start:stop])
                if piece is not None and reached + scores[piece] > best[stop]:
                    best[stop], last[stop] = reached + scores[piece], (start, piece)
        path = []
        while size:
            size, piece = last[size]
            path.append(piece)
        return path[::-1]

    def _get_bucket(self, head: str) -> dict[str, int]:
        key = _pack_key(head, len(self._offsets) - 1)
        found = self._buckets.get(key)
        if found is None:
            begin, end = self._offsets[key : key + 2]
            found = json.loads(os.pread(self._file, end - begin, self._begin_of_text + begin))
            self._buckets[key] = found
        return found


def write_pieces(
    path: Path,
    pieces: Sequence[str],
    scores: Iterable[float],
    special: frozenset[int],
    ends: tuple[int, int, int],
) -> None:
    """Write a piece file; `special` ids never match text, `ends` are begin, end and unknown."""
    tables: list[dict[str, int]] = [{} for _ in range(BUCKETS)]
    for identity, piece in enumerate(pieces):
        if identity not in special:
            tables[_pack_key(piece[:2], BUCKETS)][piece] = identity
    texts = [json.dumps(table, ensure_ascii=False).encode() for table in tables]
    offsets = array('I', [0])
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    head = HEADER.pack(MAGIC, BUCKETS, len(pieces), *ends)
    path.write_bytes(
        b''.join([head, offsets.tobytes(), array('f', scores).tobytes(), *texts]),
    )


def _pack_key(head: str, buckets: int) -> int:
    return (ord(head[0]) * 131 + (ord(head[1]) if len(head) > 1 else 0)) % buckets


def _normalise(text: str) -> str:
    plain = unicodedata.normalize('NFKC', text.translate(_CLEAN))
    return '▁' + _RUN_OF_SPACES.sub(' ', plain).strip(' ').replace(' ', '▁')
