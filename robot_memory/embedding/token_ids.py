"""Text to token ids: with `tokenizer.json`, or with a piece file that the manifest names."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.embedding.locate import TOKENIZER_FILE
from robot_memory.embedding.unigram import PieceTokenizer


class TokenIds(Protocol):
    """Turn text into token ids; safe to call from several threads."""

    path: Path

    def encode(self, text: str) -> list[int]:
        """Return at most `max_tokens` ids, those of begin and end included."""

    def find_largest_id(self) -> int:
        """Return the largest id that a text can give."""


def open_tokenizer(directory: Path, pieces: str, max_tokens: int) -> TokenIds:
    """Open the piece file where one is named, else tokenizer.json; raise Unavailable."""
    if pieces:
        return PieceIds(directory / pieces, max_tokens)
    return JsonIds(directory / TOKENIZER_FILE, max_tokens)


def encode(tokenizer: TokenIds, text: str) -> list[int]:
    """Return the token ids of a text, those of begin and end included; at least one."""
    valid = text.strip().encode('utf-8', 'replace').decode('utf-8')
    return tokenizer.encode(valid) or [0]


class PieceIds:
    """Read the ids from a piece file."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        self.path = path
        self._max_tokens = max_tokens
        self._tokenize = PieceTokenizer(path)

    def encode(self, text: str) -> list[int]:
        """Return at most `max_tokens` ids."""
        return self._tokenize(text, self._max_tokens)

    def find_largest_id(self) -> int:
        """Return the largest id of a piece."""
        largest: int = self._tokenize.pieces - 1
        return largest


class JsonIds:
    """Read the ids from a `tokenizer.json`."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        """Load the file; raise Unavailable, or InvalidArgument for token types other than 0."""
        from tokenizers import Tokenizer

        self.path = path
        self._max_tokens = max_tokens
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise Unavailable(f'tokenizers cannot load {path}: {error}') from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        types = set(self._tokenizer.encode('robot').type_ids)
        if types - {0}:
            raise InvalidArgument(
                f'{path} gives one text the token types {sorted(types)}; accepted: 0 only'
            )

    def encode(self, text: str) -> list[int]:
        """Return at most `max_tokens` ids."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids[: self._max_tokens]

    def find_largest_id(self) -> int:
        """Return the largest id of the vocabulary, added tokens included."""
        ids: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return max(ids.values(), default=0)
