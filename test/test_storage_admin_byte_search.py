"""Looking for many words in the bytes of a file at once."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from robot_memory.storage.admin import byte_search


def test_words_are_found_wherever_they_lie_and_however_they_begin(tmp_path: Path) -> None:
    chance = random.Random(7)
    # Many begin alike, some are in others, some end where the file does.
    words = [f'Trial {number}' for number in range(200)]
    words += [f'Trial {number} failed' for number in range(0, 200, 3)] + [
        'Trial ',
        '盘子很重',
        'abcdefg',
    ]
    there = set(chance.sample(words, 120))
    text = ''.join(chance.choice('xyz ') * chance.randrange(50) + word for word in sorted(there))
    file = tmp_path / 'bytes'
    file.write_bytes(text.encode())
    assert byte_search.search_file(file, words) == {word for word in words if word in text}
    packed = tmp_path / 'bytes.gz'
    packed.write_bytes(gzip.compress(text.encode()))
    assert byte_search.search_file(packed, words) == {word for word in words if word in text}
    assert byte_search.search_file(tmp_path / 'nothing', words) == set()
    assert byte_search.search_file(file, []) == set()


def test_words_across_chunks_are_found(tmp_path: Path) -> None:
    size = byte_search._CHUNK
    file = tmp_path / 'long'
    with file.open('wb') as out:
        out.write(b'\0' * (size - 3) + b'marmalade' + b'\0' * (size - 20) + b'zwetschge')
    assert byte_search.search_file(file, ['marmalade', 'zwetschge', 'apricot']) == {
        'marmalade',
        'zwetschge',
    }
