"""The documents name files, pages and messages that are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
NAMED = re.compile(r'`((?:[\w.-]+/)*[\w-]+\.(?:py|toml|md))`')


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_names_files_that_are_there(page: Path) -> None:
    for name in NAMED.findall(page.read_text(encoding='utf-8')):
        homes = (ROOT, ROOT / 'robot_memory', page.parent)
        assert any((home / name).exists() for home in homes), f'{page.name}: there is no {name}'


LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
CODE = re.compile(r'```.*?```|`[^`\n]*`', re.DOTALL)
DOCS = ROOT / 'docs'


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r'^#+ (.+)$', page.read_text(encoding='utf-8'), re.MULTILINE)
    plain = (re.sub(r'[^\w\- ]', '', head.lower()) for head in heads)
    return {head.replace(' ', '-') for head in plain}


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(CODE.sub('', page.read_text(encoding='utf-8'))):
        if '://' in link:
            continue
        name, _, anchor = link.partition('#')
        target = page.parent / name if name else page
        assert target.exists(), f'{page.name}: {link} leads nowhere'
        assert not anchor or anchor in anchors(target), f'{page.name}: {link} has no such heading'


def test_the_index_links_every_page() -> None:
    links = LINK.findall((DOCS / 'README.md').read_text(encoding='utf-8'))
    linked = {(DOCS / link.partition('#')[0]).resolve() for link in links}
    assert [
        str(page) for page in DOCS.rglob('*.md') if page not in {*linked, DOCS / 'README.md'}
    ] == []


def texts_of(module: Path) -> Iterator[str]:
    """Yield the texts of a module; what an f-string puts in is left out."""
    for node in ast.walk(ast.parse(module.read_text(encoding='utf-8'))):
        if isinstance(node, ast.JoinedStr):
            yield '\n'.join(
                str(part.value) if isinstance(part, ast.Constant) else '' for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r'%[sd]', '\n', node.value)


def quoted() -> list[tuple[str, list[str]]]:
    """Return the messages of the troubleshooting page, and their parts between what varies."""
    page = (DOCS / 'troubleshooting.md').read_text(encoding='utf-8')
    messages = re.findall(r'^```text\n(.*?)\n```$', page, re.MULTILINE | re.DOTALL)
    return [(text, [part.strip(' .,;:()') for part in text.split('...')]) for text in messages]


def test_a_message_of_the_troubleshooting_page_has_words_to_be_known_by() -> None:
    assert len(quoted()) > 20
    assert [
        message for message, parts in quoted() if max(len(part.split()) for part in parts) < 3
    ] == []


def test_every_message_of_the_troubleshooting_page_is_one_of_the_sources() -> None:
    sources = [text for path in (ROOT / 'robot_memory').rglob('*.py') for text in texts_of(path)]
    sources.append((ROOT / 'scripts/env').read_text().replace('\\', ''))
    assert [
        message
        for message, parts in quoted()
        if not any(all(part in text for part in parts) for text in sources)
    ] == []
