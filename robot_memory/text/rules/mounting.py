"""Which end effector a text says is mounted, and what a state says of tool and place."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.lexicon import Mention, find_mentions
from robot_memory.text.rules.normalising import normalise
from robot_memory.text.toml_tables import load_toml


class Named(NamedTuple):
    """Hold the words of what is told; None: it changed, and to what is not known."""

    words: str | None


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    table = load_toml(__file__, 'mounting.toml')
    found = {
        name: compile_pattern(f'(?:{table[name]["en"]})|(?:{table[name]["zh"]})')
        for name in ('onto', 'done', 'follows', 'change', 'doubtful')
    }
    found['change_of_tool'] = compile_pattern(
        f'(?:{table["change"]["tool_en"]})|(?:{table["change"]["tool_zh"]})'
    )
    return found | {name: compile_pattern(text) for name, text in table['state'].items()}


@cache_texts(1024)
def read_mounted(text: str) -> Named | None:
    """
    Return the end effector that a text says was mounted; None where it tells of no change.

    What is doubtful, undone, or of a tool that no table knows, is a change to what is not known.
    """
    folded = normalise(text)[1]
    patterns = _compile()
    tools = _find(folded, 'tool')
    if not (tools and patterns['change'].search(folded)):
        return Named(None) if patterns['change_of_tool'].search(folded) else None
    if patterns['doubtful'].search(folded):
        return Named(None)
    mounted = [one for one in tools if _is_mounted(folded, one)]
    return Named(mounted[-1].word if mounted else None)


def _is_mounted(folded: str, tool: Mention) -> bool:
    patterns = _compile()
    before, after = folded[: tool.start], folded[tool.end :]
    if not patterns['follows'].match(after):
        return False
    return bool(patterns['onto'].search(before) or patterns['done'].match(after))


def read_state(label: str, kind: str) -> Named | None:
    """Return the tool or the place (`kind`) that a state names, and nothing but that."""
    folded = normalise(label)[1]
    patterns = _compile()
    found = _find(folded, kind)
    rest = folded
    for one in reversed(found):
        rest = f'{rest[: one.start]} {rest[one.end :]}'
    if len(found) == 1 and not re.sub(r'[\W_]+', '', patterns[kind].sub(' ', rest)):
        return Named(found[0].word)
    about = patterns[f'names_{kind}'].match(re.sub(r'[\W_]+', ' ', folded).strip())
    return Named(None) if about else None


def _find(folded: str, kind: str) -> list[Mention]:
    """Return the mentions that name a tool or a place of the tables, and nothing else."""
    return [
        mention
        for mention in find_mentions(folded)
        if any(sense.level == 'is' for sense in mention.list_concepts(kind))
    ]
