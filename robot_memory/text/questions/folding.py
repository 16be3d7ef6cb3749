"""Text in one width and case, character for character, so that spans hold in the original."""

from __future__ import annotations

import re
import unicodedata

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern


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


_HEAD = compile_pattern('头一(?=[根颗箱块把扇台张只枚回次])')
_TIMES = compile_pattern(
    '(?<=[第一二两三四五六七八九十几哪那这每上多某头末后]|\\d)回(?![合来去头家到收放桩复答应])'
)
_CLOCK = compile_pattern('(?<=十)来分(?!钟)|刚才(?=[\\d一二两三四五六七八九十]{1,3}[点:])')
_WHETHER = compile_pattern(r'(?!有没有)([\u4e00-\u9fff])没(?=\1)')
_SEPARABLE = {
    '停': '机 工 车', '断': '连接 连 线 网', '掉': '线', '撞': '车 机', '打': '滑', '松': '手',
    '脱': '手', '滑': '丝 牙', '堵': '转', '卡': '壳 死', '跳': '闸', '失': '联 速', '开': '门',
    '换': '刀', '码': '垛', '过': '热', '闷': '车', '报': '警',
}  # fmt: skip
"""Chinese verbs that are one word with their object, and stand apart from it: 停过机."""
_SEPARATED = compile_pattern(
    f'({"|".join(_SEPARABLE)})'
    r'((?:了|过)(?:(?:几|好几|多少|[一两二三四五六七八九十]{1,3}|\d{1,3})[次回趟])?)'
    f'({"|".join(dict.fromkeys(" ".join(_SEPARABLE.values()).split()))})'
    '(?![械器架柜床间络关缆束报示具片])'
)


def fold_forms(folded: str) -> str:
    """
    Return a folded text with what Chinese says in several forms in one, as long as before.

    头一根 is told as 第一根, 哪回 as 哪次, 见没见过 as 是否见过, and 停过两次机 as 停机过两次.
    """
    if folded.isascii():
        return folded
    if '头一' in folded:
        folded = _HEAD.sub('第一', folded)
    if '回' in folded:
        folded = _TIMES.sub('次', folded)
    if '来分' in folded or '刚才' in folded:
        folded = _CLOCK.sub(lambda match: '左右' if match[0] == '来分' else '今天', folded)
    if '没' in folded:
        folded = _WHETHER.sub('是否', folded)
    return _SEPARATED.sub(_join, folded) if '了' in folded or '过' in folded else folded


def find_separated(folded: str) -> list[tuple[int, int]]:
    """Return where a text, folded by characters alone, has verbs apart from their objects."""
    if '了' not in folded and '过' not in folded:
        return []
    return [one.span() for one in _SEPARATED.finditer(folded) if _join(one) != one[0]]


def _join(match: re.Match[str]) -> str:
    verb, between, thing = match.groups()
    return f'{verb}{thing}{between}' if thing in _SEPARABLE[verb].split() else match[0]


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
_LONG_WORD = compile_pattern('[a-z]{5,13}')


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
