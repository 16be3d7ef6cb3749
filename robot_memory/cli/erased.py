"""What an erasure takes, and how far it is proved, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_memory.cli.text import Paint, render_rows, render_table
from robot_memory.core.fields import to_plain
from robot_memory.text.controls import blank_controls

_HOLDS = {True: 'proved', False: 'NOT PROVED', None: 'UNKNOWN'}


def render_erase(response: Any, paint: Paint) -> str:
    """Return a preview, or how far an erasure is; of its proof first what it comes to."""
    plain = to_plain(response)
    if response.receipt is not None:
        return '\n'.join([*_list_proof(response, paint), render_table(plain, paint)])
    rows = [(one.memory_id, one.status, one.content, '') for one in response.memories or ()]
    rest = {name: value for name, value in plain.items() if name != 'memories'}
    return '\n'.join([*(render_rows(rows, paint) if rows else []), render_table(rest, paint)])


def _list_proof(response: Any, paint: Paint) -> list[str]:
    receipt: Mapping[str, Any] = response.receipt
    lines = [f'  {one}' for one in receipt.get('not_searched', ())]
    if 'to_finish' in receipt:
        lines.append(f'  to finish: {receipt["to_finish"]}')
    if 'too_short' in receipt:
        lines.append(f'  {receipt["too_short"]}')
    first = f'Erasure {response.erasure}: {paint.bold(_HOLDS[receipt["holds"]])}'
    return [first, *map(blank_controls, lines)]
