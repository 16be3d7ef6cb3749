"""The id of a memory as callers write it: 12, mem_12, #12, or [mem_12] as answers cite it."""

from __future__ import annotations

import re
import unicodedata

_ID = re.compile(r'(?:(?:mem(?:ory)?|id|#)[ _:#-]{0,3})?([0-9]{1,18})', re.ASCII | re.IGNORECASE)
_BRACKETS = re.compile(r'\[\s*([^\[\]]*?)\s*\]')


def read_memory_id(text: str) -> int | None:
    """Return the id that a text writes, None where it writes none."""
    match = _ID.fullmatch(drop_brackets(unicodedata.normalize('NFKC', text).strip()))
    return int(match[1]) if match else None


def drop_brackets(text: str) -> str:
    """Return what stands in a pair of brackets, as answers cite a memory: [mem_12]."""
    match = _BRACKETS.fullmatch(text)
    return match[1] if match else text
