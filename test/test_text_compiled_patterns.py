"""Patterns that the build compiled are those that `re` compiles, and a bad file does no harm."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from robot_memory.text.compiled_patterns import CompiledPatterns, write

PATTERNS = [
    (r'\b(?P<number>\d+)\s?(?P<unit>n|newtons?)\b', 0),
    (r'(?<!不)(?:超过|大于)了?', 0),
    ('cup|glass', re.IGNORECASE | re.DOTALL),
    (r'(?i:red)|[^\W\d_]+(?=:)|\u2e80-\uffef', 0),
    ('', 0),
    ('(a)(b)?(?P<c>c)', re.ASCII),
    ('\ud800', 0),
]


def test_what_is_read_from_the_file_is_what_re_compiles(tmp_path: Path) -> None:
    place = str(tmp_path / 'patterns.bin')
    write([(pattern, int(flags)) for pattern, flags in PATTERNS], place)
    kept = CompiledPatterns(place)
    for pattern, flags in PATTERNS:
        found, expected = kept.compile(pattern, flags), re.compile(pattern, flags)
        assert found == expected  # of equal code
        assert found.groupindex == expected.groupindex
        assert found.groups == expected.groups
    assert kept.compiled == 0
    match = kept.compile(*PATTERNS[0]).search('over 15 newtons')
    assert match is not None
    assert match.groupdict() == {'number': '15', 'unit': 'newtons'}


def test_what_the_file_does_not_hold_is_compiled(tmp_path: Path) -> None:
    place = str(tmp_path / 'patterns.bin')
    write([('cup', 0)], place)
    kept = CompiledPatterns(place)
    assert kept.compile('cup', re.IGNORECASE) == re.compile('cup', re.IGNORECASE)
    assert kept.compiled == 1
    with pytest.raises(re.error):
        kept.compile('(')


@pytest.mark.parametrize('missing', [0, 1, 40, 200])
def test_a_file_that_is_cut_or_changed_is_not_read(tmp_path: Path, missing: int) -> None:
    place = tmp_path / 'patterns.bin'
    write([(pattern, int(flags)) for pattern, flags in PATTERNS], str(place))
    held = bytearray(place.read_bytes())
    del held[len(held) - missing :]
    held[-1] ^= 1
    place.write_bytes(held)
    kept = CompiledPatterns(str(place))
    assert kept.compile('cup|glass') == re.compile('cup|glass')
    assert kept.compiled == 1


def test_a_file_of_another_interpreter_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / 'patterns.bin'
    write([('cup', 0)], str(place))
    place.write_bytes(place.read_bytes().replace(sys.version.encode(), b'another'))
    kept = CompiledPatterns(str(place))
    assert kept.compile('cup') == re.compile('cup')
    assert kept.compiled == 1


def test_without_a_file_patterns_are_compiled(tmp_path: Path) -> None:
    for place in (tmp_path / 'none.bin', tmp_path):
        kept = CompiledPatterns(str(place))
        assert kept.compile('cup') == re.compile('cup')
        assert kept.compiled == 1


READ = """
import sys
from robot_memory.text.compiled_patterns import COMPILED
COMPILED.place = sys.argv[1]
from datetime import datetime, timezone
from zoneinfo import ZoneInfo
from robot_memory.text.categories import classify
from robot_memory.text.questions.warm_up import warm_up
warm_up()
classify('Never lift more than 5 kg near people.')
print(COMPILED.compiled)
"""


def test_a_process_compiles_nothing_of_what_the_build_compiled(tmp_path: Path) -> None:
    place = str(tmp_path / 'patterns.bin')
    subprocess.run([sys.executable, '-m', 'robot_memory.text.keep_patterns', place], check=True)
    done = subprocess.run(
        [sys.executable, '-c', READ, place], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) == 0
