"""What is kept of texts that callers give is bounded in number and in length."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import robot_memory
from robot_memory.text.caching import LONGEST, cache_texts

OWN_KEYS = {
    '_compile',
    '_compile_asked',
    '_compile_comparisons',
    '_compile_cue',
    '_compile_pattern',
    '_compile_table',
    '_compile_told',
    '_find_family',
    '_load_zone',
    '_make_own_caller',
    '_read_characters',
    'derive_keys',
    'find_words',
    'get_environment',
    'get_tool',
    'list_kinds_of',
    'list_possible_kinds_of',
    'load_pattern',
    'load_table',
}
"""Functions whose texts are of the code, of its tables, or few (`derive_keys` keeps 8)."""


def test_the_latest_short_texts_are_kept_and_no_long_one() -> None:
    calls: Counter[str] = Counter()

    @cache_texts(10)
    def read(text: str) -> str:
        calls[text] += 1
        return text.upper()

    short, long = 'a' * LONGEST, 'b' * (LONGEST + 1)
    for _ in range(3):
        assert (read(short), read(long)) == (short.upper(), long.upper())
    assert (calls[short], calls[long]) == (1, 3)
    for number in range(10):
        read(str(number))
    read(short)
    assert calls[short] == 2


def test_no_cache_without_bounds_is_of_texts_that_callers_give() -> None:
    found = set()
    for path in Path(robot_memory.__file__).parent.rglob('*.py'):
        text = path.read_text(encoding='utf-8')
        for node in ast.walk(ast.parse(text)) if 'cache' in text else ():
            if isinstance(node, ast.FunctionDef):
                decorators = ' '.join(map(ast.unparse, node.decorator_list))
                takes_text = any(
                    one.annotation is not None and ast.unparse(one.annotation) == 'str'
                    for one in node.args.args
                )
                if takes_text and ('lru_cache' in decorators or decorators.endswith('cache')):
                    found.add(node.name)
    assert found == OWN_KEYS
