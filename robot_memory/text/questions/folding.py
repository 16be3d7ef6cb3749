"""Text in one width and case, character for character, so that spans hold in the original."""

from __future__ import annotations

import re
import unicodedata

from robot_memory.text.caching import cache_texts


class _Fold(dict[int, str]):
    """Map a code point to one folded character, learned as characters come in."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = unicodedata.normalize('NFKC', character).casefold()
        if len(folded) != 1:
            lower = character.lower()
            folded = lower if len(lower) == 1 else character
        self[code] = folded
        return folded


# Quotes, dashes and signs as they are typed; the traditional characters that the tables use.
_FOLD = _Fold(
    {ord(one): other for one, other in zip('’‘–—−〜～℃', "''---~~c", strict=True)}
    | {
        ord(one): other
        for one, other in zip(
            '點週個後時鐘幾長過轉數壓撞牛這發現間錯誤報務當從總討規則見動強熱會話嗎麼兩級場務測',
            '点周个后时钟几长过转数压撞牛这发现间错误报务当从总讨规则见动强热会话吗么两级场务测',
            strict=True,
        )
    }
)


def fold_characters(text: str) -> str:
    """Return the text folded to lower case and usual width; as long as the text itself."""
    return text.lower() if text.isascii() else text.translate(_FOLD)


_HEAD = re.compile('头一(?=[根颗箱块把扇台张只枚])')


def fold_ordinals(folded: str) -> str:
    """Return a folded text with the first of things told in one way: 头一根 as 第一根."""
    return _HEAD.sub('第一', folded) if '头一' in folded else folded


# Words that are read through a typo: two neighbouring letters changed places.
_MEANT = (
    'yesterday today morning afternoon evening monday tuesday wednesday thursday friday saturday '
    'sunday january february march april august september october november december contact '
    'contacts collision collisions pushes faults errors alarms warnings changes change average '
    'total motion motions session sessions protective emergency hardest strongest longest '
    'shortest fastest slowest hottest weakest latest first happened between number often since '
    'calibration insertion insertions force torque temperature duration recent '
    'movement movements failures failure pushed touched stopped overheated overheating gripper '
    'heaviest lightest palletized disconnected connection connections temperatures insertions '
    'calibrations recording recordings measured dropped during screwing screwdriver overheating '
    'palletizing palletising cabinet insertion camera lightest longest shortest strongest '
    'seized protective happened collisions housings temperature pressed button'
).split()
_BY_LETTERS = {(word[0], len(word), ''.join(sorted(word))): word for word in _MEANT}
_KNOWN = frozenset(
    (*_MEANT, 'canton', 'contract', 'contracts', 'emotion', 'emotions', 'terrors', 'gripped')
)
_REMEMBERED = 4096
"""Words of which it is remembered what is meant: those of questions come again."""
_LONG_WORD = re.compile('[a-z]{5,13}')


def correct_words(folded: str) -> str:
    """Return a folded text with letters put right in words of the tables; as long as before."""
    return _LONG_WORD.sub(lambda match: _correct(match[0]), folded)


def _list_holes(word: str) -> list[str]:
    """Return a word with each one of its inner letters left open."""
    return [f'{word[:at]}*{word[at + 1 :]}' for at in range(1, len(word))]


_NUMBERS = ('twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety')
_WITH_HOLES = {hole: word for word in _NUMBERS for hole in _list_holes(word)}
_NO_NUMBERS = frozenset(('fifth', 'sixth', 'forth', 'party', 'sixths', 'fifths', 'eighth'))


@cache_texts(_REMEMBERED)
def _correct(word: str) -> str:
    if word in _KNOWN:
        return word
    if len(word) < 8 and word not in _NO_NUMBERS:
        number = next((_WITH_HOLES[one] for one in _list_holes(word) if one in _WITH_HOLES), None)
        if number:
            return number
    meant = _BY_LETTERS.get((word[0], len(word), ''.join(sorted(word))))
    if meant is None:
        return word
    wrong = [i for i, (one, other) in enumerate(zip(word, meant, strict=True)) if one != other]
    return meant if len(wrong) == 2 and wrong[1] == wrong[0] + 1 else word


def _list_shorter(word: str) -> set[str]:
    """Return a word without each one of its inner letters."""
    return {word[:at] + word[at + 1 :] for at in range(1, len(word) - 1)}


_MENDED = frozenset((*_NUMBERS, *(word for word in _MEANT if len(word) > 6)))
_SHORTER = {short: word for word in _MENDED for short in _list_shorter(word)}
_VOWELS = str.maketrans('aeiou', '*****')
_BY_VOWELS = {word.translate(_VOWELS): word for word in _MENDED if len(word) > 7}


def mend_words(text: str, folded: str) -> tuple[str, str, list[tuple[int, int]]]:
    """
    Return a text and its folded form with words mended that lack a letter or have one too many.

    A wrong vowel in a long word is mended too. Third come the places in the mended text from
    which on it is longer than the text, and by how many characters.
    """
    moves: list[tuple[int, int]] = []
    shift = 0
    for match in _LONG_WORD.finditer(folded):
        meant = _find_meant(match[0])
        if meant is None:
            continue
        start, end = match.start() + shift, match.end() + shift
        text = text[:start] + meant + text[end:]
        shift += len(meant) - len(match[0])
        moves.append((start + len(meant), shift))
    if not moves:
        return text, folded, moves
    return text, correct_words(fold_characters(text)), moves


@cache_texts(_REMEMBERED)
def _find_meant(word: str) -> str | None:
    if word in _KNOWN or len(word) < 6:
        return None
    if word in _SHORTER:
        return _SHORTER[word]
    longer = min(_MENDED & _list_shorter(word), default='')
    return longer or _BY_VOWELS.get(word.translate(_VOWELS))
