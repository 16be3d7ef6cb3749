"""What the proof of an erasure says: found, not found, or not known where it did not search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_memory.storage.admin.erased_backups import HELD
from robot_memory.storage.tables.erased_texts import LEAST_BYTES, Sought

_SEARCHED = ('terms', 'bytes')
"""The checks that look for words, which are known to the process that erases alone."""
_NOT_SEARCHED = 'not searched'
_ALL_SHORT = f'{_NOT_SEARCHED}: all words are too short'
_NONE_SOUGHT = '0 of 0 words'
"""What earlier releases said where all words were too short."""
_FINISH_WORDS = (
    'the words that were erased are known no more: search the file, the log and the backups for '
    'those that you know; the file itself was written anew from the rows that are there'
)
_FINISH_FILES = (
    'delete what is named, or, where a folder or its disk is away, connect it and delete the '
    'backups in it that were made before the erasure; if it is gone for good, '
    '`robot-memory backup --drop-folder DIR` takes it off the list for later erasures'
)
_FINISH_SHORT = (
    f'no search tells words of fewer than {LEAST_BYTES} bytes from bytes that files hold by '
    'chance; the files were cleaned of them as of longer ones'
)
_FINISH_REST = 'search the files for the texts that you know, with a program such as grep'


def check_terms(sought: Sought | None, left: Sequence[Any]) -> dict[str, Any]:
    """Say whether terms of the full-text index lead to no row; not known without words."""
    if sought is None:
        return {'holds': None, 'detail': f'{_NOT_SEARCHED}: the words are known no more'}
    if _are_all_short(sought):
        return {'holds': None, 'detail': _ALL_SHORT}
    return {'holds': not left, 'detail': f'{len(left)} terms lead to no row'}


def check_bytes(
    sought: Sought | None,
    found: Mapping[str, set[str]],
    unread: Sequence[str],
    left: Sequence[str] = (),
) -> dict[str, Any]:
    """
    Say how many erased words the files of a store hold: false where any does.

    Else it is true only if all was searched; `unread` names the backups that were not, `left`
    those whose bytes hold a word. Neither is what cleaning the store would mend.
    """
    if sought is None:
        why = 'the words went with the process that was interrupted'
        return {'holds': None, 'detail': f'{_NOT_SEARCHED}: {why}'}
    number = len(set().union(*found.values()))
    if _are_all_short(sought):
        details = [_ALL_SHORT]
    elif not sought.words:
        details = ['there were no words']
    else:
        places = f' in {", ".join(found)}' if found else ''
        details = [f'{number} of {len(sought.words)} words found{places}']
    if sought.left_out:
        details.append(f'{sought.left_out} more words {_NOT_SEARCHED} for: they are too many')
    if unread:
        details.append(f'{_NOT_SEARCHED}: {len(unread)} of still_holding')
    if left:
        details.append(f'words are in the bytes of {len(left)} of still_holding')
    is_partial = unread or left or sought.left_out or _are_all_short(sought)
    holds = False if number else None if is_partial else True
    told: dict[str, Any] = {'holds': holds, 'detail': '; '.join(details)}
    if sought.short:
        told['too_short'] = sought.short
    return told


def name_left(found: Mapping[str, set[str]]) -> list[str]:
    """Name the backups in whose bytes words are that none of their rows has."""
    return [
        f'{file}: bytes that none of its rows uses hold {len(words)} of the erased words{HELD}'
        for file, words in found.items()
    ]


def _are_all_short(sought: Sought) -> bool:
    """Say whether there were words, but none that can be looked for."""
    return bool(sought.short and not sought.words)


def sum_up(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return a receipt with `holds` of the whole, and, where that is not so, what finishes it.

    A check of a receipt of an earlier release may hold though it searched nothing.
    """
    checks = {name: dict(one) for name, one in receipt.get('checks', {}).items()}
    unread = list(receipt.get('still_holding', ()))
    said = checks.get('bytes', {}).get('detail', '')
    were_short = said.startswith((_ALL_SHORT, _NONE_SOUGHT))
    were_known = were_short or not said.startswith(_NOT_SEARCHED)
    for name in _SEARCHED:
        if name in checks and checks[name]['holds'] and (were_short or not were_known):
            checks[name]['holds'] = None
    if unread and 'bytes' in checks:
        is_found = any(one.endswith(HELD) for one in unread)
        checks['bytes']['holds'] = False if is_found else None
    told = {one['holds'] for one in checks.values()}
    holds = False if False in told else True if told == {True} else None
    summed = {**receipt, 'checks': checks, 'holds': holds}
    if holds is not True:
        open_ones = [name for name, one in checks.items() if one['holds'] is None]
        names = [f'{name}: {checks[name]["detail"]}' for name in open_ones]
        summed['not_searched'] = [*(names if checks else ['the receipt has no checks']), *unread]
        finish = [_FINISH_SHORT] if were_short else [] if were_known else [_FINISH_WORDS]
        finish += [_FINISH_FILES] if unread else []
        summed['to_finish'] = '; '.join(finish or [_FINISH_REST])
    short = checks.get('bytes', {}).get('too_short')
    if short:
        unsought = (
            f'{short} words of fewer than {LEAST_BYTES} bytes were not looked for in the files'
        )
        summed['too_short'] = unsought if were_short else f'{unsought}; holds is of the others'
    return summed
