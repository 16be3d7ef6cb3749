"""What users and models read has the terms of docs/glossary.md, and none that it bans."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import prepared
import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / 'docs' / 'glossary.md'
BANNED = re.compile(
    r'\b(shelf|shelves|guards?|guarded|glances?|whereabouts|clerk|doors?|fad(?:e|es|ed|ing)|films?'
    r'|ears?|hears?|meanwhile|(?:is|are|was|were) told|broken off|words? alone|a way of|the way'
    r'|finding/|keeping/)(?![\w-])',
    re.IGNORECASE,
)
MEANT = re.compile(
    r'`[^`\n]*`'  # names: parameters, files, parts
    r'|film with a number'
    r'|meanwhile: (?:attach|\.\.\.)|learned, meanwhile, both|"meanwhile: \.\.\."'
)
"""Names that users have written down, and so keep: what the English word means is not banned."""
CODE = re.compile(r'^```.*?^```', re.MULTILINE | re.DOTALL)
HISTORY = ('decisions', 'glossary.md')
PAGES = sorted(
    page
    for page in (*ROOT.glob('docs/**/*.md'), ROOT / 'README.md')
    if not set(page.relative_to(ROOT / 'docs').parts if 'docs' in page.parts else ()) & {*HISTORY}
)
GENERATED = sorted(
    [
        *ROOT.glob('srv/*.srv'),
        *ROOT.glob('msg/*.msg'),
        *ROOT.glob('action/*.action'),
        *ROOT.glob('config/*.yaml'),
    ]
)


def banned(text: str) -> list[str]:
    """Return the lines with a banned word."""
    lines = MEANT.sub('', CODE.sub('', text)).splitlines()
    return [line.strip() for line in lines if BANNED.search(line)]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_terms_of_the_glossary(page: Path) -> None:
    assert banned(page.read_text(encoding='utf-8')) == []


def test_generated_interfaces_use_the_terms_of_the_glossary() -> None:
    comments = '\n'.join(
        line
        for file in GENERATED
        for line in file.read_text(encoding='utf-8').splitlines()
        if line.lstrip().startswith('#')
    )
    assert banned(comments) == []


@pytest.mark.parametrize(
    'command', [(), ('recall',), ('import',), ('export',), ('plot',), ('call',), ('mcp',)], ids=str
)
def test_help_uses_the_terms_of_the_glossary(command: tuple[str, ...]) -> None:
    ran = prepared.run(
        [sys.executable, '-m', 'robot_memory', *command, '--help'],
        capture_output=True,
        text=True,
        env={**os.environ, 'COLUMNS': '300'},
        check=True,
    )
    assert banned(ran.stdout) == []


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('unused memories fade', True),
        ('who may come in through the door', True),
        ('the picture and the film around it', True),
        ('its parts `film.NN.STAMP`', False),
        ('the gripper appears near the doorstep', False),
    ],
)
def test_a_banned_word_is_seen_as_a_word(text: str, found: bool) -> None:
    assert bool(banned(text)) == found


def test_each_term_has_one_line_in_order() -> None:
    table = GLOSSARY.read_text(encoding='utf-8').partition('## ')[0]
    terms = re.findall(r'^\| ([^|]+?) \| [^|]+ \|$', table, re.MULTILINE)[1:]
    assert len(terms) > 40
    assert terms == sorted(set(terms), key=str.casefold)
