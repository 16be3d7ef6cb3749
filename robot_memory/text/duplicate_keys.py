"""What two texts must share to be duplicates, whatever their words: numbers, units, negations."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.opposites import Opcodes, swaps_opposites
from robot_memory.text.prefixes import join_words
from robot_memory.text.token_sets import make_token_set
from robot_memory.text.tokenizer import fold, hash_content
from robot_memory.text.vocabulary import MONTHS, NEGATIONS, NUMBERS, UNITS

UNIT_NAMES = {alias: unit for unit, names in UNITS.items() for alias in names.split()}
UNIT_NAMES |= {a + 's': u for a, u in UNIT_NAMES.items() if re.fullmatch('[a-z]{3,}[^sz]', a)}
UNIT_NAMES |= {
    f'{a}s per second': UNIT_NAMES[a] + '/s' for a in ('meter', 'metre', 'radian', 'degree')
}
# Units that also say which unit is meant without a number ('depth in mm'), and mean no more.
_BARE = {
    alias: unit
    for alias, unit in UNIT_NAMES.items()
    if len(alias) > 1 and unit not in ('times', 'bar', 'day', 'week', 'month', 'degc', 'ma', 'pa')
    and alias not in ('sec', 'second', 'min', 'mins', 'minute', 'hour', 'degree', 'volt', 'inch')
}  # fmt: skip
_BARE_HAN = '|'.join(sorted((a for a in _BARE if a[0] >= '一'), key=len)[::-1])
_NO_LETTER = r'(?![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])'
_QUANTITY = (
    r'(?:(?P<order>(?<![-=<>])[<>]=?|[≤≥≠])\s*)?'
    r'(?P<number>(?:(?<![a-z0-9_.-])-)?(?:\d+(?:\.\d+)*|(?<![\w.])\.\d+)'
    rf'(?:e[-+]?\d+{_NO_LETTER})?)'
    rf'(?:\s?(?P<unit>{"|".join(map(re.escape, sorted(UNIT_NAMES, key=len)[::-1]))}){_NO_LETTER}'
    r'|(?P<glued>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+))?'
)
_ORDINALS = 'second third fourth fifth sixth seventh eighth ninth tenth'.split()
_COUNT = NUMBERS | {name: str(i) for i, name in enumerate(_ORDINALS, 2)}
_COUNT |= {
    'twice': '2',
    'dozen': '12',
    'twenty': '20',
    'thirty': '30',
    'forty': '40',
    'fifty': '50',
}
# 'one' as a pronoun and 'second' as a time are no numbers.
_COUNT_WORD = (
    r'(?<![\w-])(?:(?!one\b|second\b)(?:' + '|'.join(_COUNT) + r')(?!\w)'
    r'|(?<!this )(?<!that )(?<!the )(?<!each )(?<!no )(?<!any )(?<!which )one'
    r'(?= (?!of\b|another\b|can\b|is\b|that\b|should\b|must\b|has\b|by\b)[a-z])'
    r'|(?<!\d )(?<!per )(?<!one )(?<!two )(?<!five )(?<!ten )(?<!split )second(?!\w))'
)
_ANY_COUNT = rf'\b(?:{join_words({*_COUNT, "one", "second"})})'
_DIGIT = compile_pattern(r'\d')
_HAN = {c: i for i, c in enumerate('零一二三四五六七八九')} | {'两': 2, '〇': 0}
_HAN_SCALE = {'十': 10, '百': 100, '千': 1000, '万': 10000, '亿': 100_000_000}
_KILO = '千(?=[克米牛瓦帕伏赫])'
"""Of a unit, not of the number before it: 3千米, 三千米."""
_NUMERAL = f'(?:(?!{_KILO})[零〇一二两三四五六七八九十百千万]){{1,12}}'
_POINT = '点[零一二三四五六七八九]{1,12}'
_MEASURE = '[个只次种条张块根辆名位把件天步排]'
_HAN_UNIT = (
    f'[号层楼台轴指米秒毫厘公牛度克弧赫伏瓦转帧倍帕斤]|{_KILO}|分钟|小时|自由度|摄氏|英寸|像素'
)
_HAN_NUMBER = (
    rf'(?P<below>[百千])分之(?P<share>\d+(?:\.\d+)?|{_NUMERAL}(?:{_POINT})?)'
    r'|第(?P<order>[一二三四五六七八九十百]{1,12})'
    r'|(?<=关节|货架|机器|相机|工位|通道|房间|区域)(?P<name>[一二三四五六七八九十]{1,12})(?![起般样定直些次])'
    rf'|(?P<whole>\d+|{_NUMERAL})(?P<of>米|公斤|斤)(?:(?P<and_half>半)'
    rf'|(?<=米)(?P<tenths>[一二三四五六七八九])(?!{_NUMERAL}|[\d点]|{_MEASURE}|{_HAN_UNIT}))'
    r'|(?<![上下前后大小多一\d])(?P<half>半)(?=米|公斤|斤|个?小时|分钟|升)'
    rf'|(?P<scaled>\d+(?:\.\d+)?\s?(?:(?!{_KILO}|千万[不别勿要记])[百千万亿]\d*)+)'
    rf'|(?P<count>{_NUMERAL}(?:{_POINT}万?)?)(?={_HAN_UNIT})'
    rf'|(?P<few>(?!一){_NUMERAL})(?={_MEASURE})'
)
_NEGATIONS = NEGATIONS.union(
    """
    unless unable lack lacks lacking avoid avoids avoided avoiding forbidden forbid forbids
    prohibited disallowed dont cant wont doesnt didnt isnt hardly rarely barely seldom unsafe
    impossible incorrect invalid unreliable unstable unavailable inaccurate disabled
    """.split()
)
_FAIL = frozenset(('fail', 'fails', 'failed', 'failing'))
_WORD = compile_pattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_HAN_NEGATION = (
    '特别|分别|级别|类别|识别|区别|别名|判别|辨别|差别|个别|性别|非常|无人|无线|无论|无刷|无缝|无穷|未来|'
    '不仅|不但|不锈钢|不过|不断|不管|不论|不久|差不多|不同|沉没|淹没|没收|没关系|(少ない)|'
    '(?P<no>[不没無无别勿非未]|禁止|严禁|避免|ません|ない|않|없)'
)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a long pattern at its first use, which keeps the import short."""
    return compile_pattern(pattern)


def convert_han_number(text: str) -> str:
    """Return a Chinese numeral as digits: 十二 as '12', 十二点五 as '12.5', 二五 as '25'."""
    whole, _, rest = text.removesuffix('万' if '点' in text else '').partition('点')
    total = section = digit = 0
    for c in whole:
        if c in _HAN:
            digit = digit * 10 + _HAN[c]
        elif c in '万亿':
            total, section, digit = (total + section + digit or 1) * _HAN_SCALE[c], 0, 0
        else:
            section, digit = section + (digit or 1) * _HAN_SCALE[c], 0
    total += section + digit
    if not rest:
        return str(total)
    value = f'{total}.{"".join(str(_HAN[c]) for c in rest)}'
    return value if text[-1] != '万' else f'{float(value) * 10000:.15g}'


def _convert_scaled(text: str) -> str:
    """Return digits with Chinese scales as digits: 1万2千 as '12000', 2千5 as '2500'."""
    total, section, scale = 0.0, 0.0, 1
    for number, name in re.findall(r'(\d+(?:\.\d+)?)?\s?([百千万亿]?)', text):
        if not name:
            section += float(number or 0) * (scale // 10 or 1)
        elif name in '万亿':
            scale = _HAN_SCALE[name]
            total, section = (total + section + float(number or 0) or 1) * scale, 0
        else:
            scale = _HAN_SCALE[name]
            section += float(number or 1) * scale
    return f'{total + section:.15g}'


def _replace_han_number(match: re.Match[str]) -> str:
    """Return a number that `_HAN_NUMBER` finds in digits."""
    kind = match.lastgroup or 0
    numeral = match[kind]
    if kind == 'scaled':
        return _convert_scaled(numeral)
    if match['of']:
        whole = match['whole'] if match['whole'].isdigit() else convert_han_number(match['whole'])
        return f'{whole}.{5 if match["and_half"] else _HAN[match["tenths"]]}{match["of"]}'
    if kind == 'half':
        return '0.5'
    value = numeral if numeral.isascii() else convert_han_number(numeral)
    if kind != 'share':
        return value
    return f'{value if match["below"] == "百" else format(float(value) / 10, "g")}%'


def _normalize_number(number: str) -> str:
    """Return a number in one spelling: '12.50', '012.5' and '1.25e1' as '12.5'."""
    if 'e' in number:
        return repr(float(number)).removesuffix('.0')
    sign, digits = ('-', number[1:]) if number[0] == '-' else ('', number)
    whole, point, rest = digits.partition('.')
    whole = whole.lstrip('0') or '0'
    if '.' not in rest:
        rest = rest.rstrip('0')
    return f'{sign}{whole}{point}{rest}' if rest else sign + whole


@dataclass(frozen=True)
class ContentKeys:
    """Hold what a text is found by as a duplicate: its hash, its duplicate key, its tokens."""

    hash: bytes
    duplicate_key: str
    tokens: frozenset[str]


@lru_cache(maxsize=8)
def derive_keys(text: str) -> ContentKeys:
    """Return the keys of a text; the latest are cached, for a text is looked up, then stored."""
    return ContentKeys(hash_content(text), duplicate_key(text), make_token_set(text))


@cache_texts(2048)
def duplicate_key(text: str) -> str:
    """
    Return what two texts must share to be duplicates: numbers, units, signs, how often it says no.

    Numbers stand by unit, and within a unit in the order of the text ('shelf 3 to shelf 4' is
    not 'shelf 4 to shelf 3'). Negations are counted, not only noted: 'never without gloves' is
    neither 'without gloves' nor 'with gloves'. Empty where the text has none of these.
    """
    folded = fold(text)
    words = _WORD.findall(folded)
    negations = 0
    named: set[str] = set()
    for i, word in enumerate(words):
        if word in _NEGATIONS or word.endswith("n't"):
            negations += not (word in ('not', 'no') and words[i + 1 : i + 2] == ['only'])
        elif word in _FAIL:
            negations += words[i + 1 : i + 2] == ['to']
        elif word in _BARE:
            named.add(_BARE[word])
    if not folded.isascii() and max(folded) >= '\u3040':
        negations += sum(m['no'] is not None for m in _compile(_HAN_NEGATION).finditer(folded))
        named.update(_BARE[alias] for alias in _compile(_BARE_HAN).findall(folded))
        folded = _compile(_HAN_NUMBER).sub(_replace_han_number, folded)
    if _compile(_ANY_COUNT).search(folded):
        folded = _compile(_COUNT_WORD).sub(lambda m: _COUNT[m[0]], folded)
    found: list[tuple[str, str]] = []
    for match in _compile(_QUANTITY).finditer(folded) if _DIGIT.search(folded) else ():
        order, number, unit, glued = match.groups()
        unit = UNIT_NAMES[unit] if unit else glued or ''
        unit = '' if unit in ('st', 'nd', 'rd', 'th') else unit
        found.append((unit, (order or '') + _normalize_number(number) + unit))
    named.difference_update(*(unit.split('/') for unit, _ in found))
    found.sort(key=lambda pair: pair[0])
    said = _compile(_SIGN).findall(folded) if _ANY_SIGN.search(folded) else []
    said += [f'not*{negations}'] if negations else []
    return ' '.join([*(quantity for _, quantity in found), *sorted(named), *said])


_SIGN = r'->|<-|=>|<=>|[<>≤≥]=?(?!\s*[-+]?\d)|(?<=[a-z])(?:\+\+|#)(?!\w)'
"""What words alone lose: which way a relation or an arrow goes, C++ and C#."""
_ANY_SIGN = compile_pattern('[<>≤≥+#]')
_GROUPS = (
    'red orange yellow green blue violet/purple pink brown white black grey/gray',
    'left right', 'upper lower', 'top bottom', 'front rear/back', 'north south east west',
    'inner outer', 'first last', 'open/opened closed/shut', 'hot cold', 'full empty', 'wet dry',
    'monday tuesday wednesday thursday friday saturday sunday',
    ' '.join(MONTHS),
    'over/above under/below', 'before after', 'yesterday today tomorrow',
    'spring summer autumn winter', 'morning afternoon evening night noon',
    '红 橙 黄 绿 蓝 紫 粉 棕 白 黑 灰', '左 右', '东 南 西 北', '冷 热',
)  # fmt: skip
_CONTRASTS = {
    name: (group, values.split('/')[0])
    for group, members in enumerate(_GROUPS)
    for values in members.split()
    for name in values.split('/')
}
_HAN_CONTRAST = (
    '(?:周|星期|礼拜)(?P<day>[一二三四五六日天])(?!次|回|趟|遍|天|个|小时)|(?P<part>凌晨|早上|早晨|清晨'
    '|上午|中午|正午|下午|午后|傍晚|晚上|夜里|半夜)|(?P<when>[昨今明])[天日晚早]'
    '|(?P<order>[大二三四五六小])(?P<kin>[姨舅叔伯姑嫂哥姐弟妹爷奶婶])'
)
_DAYS = dict(
    zip(
        '一二三四五六日天',
        'monday tuesday wednesday thursday friday saturday sunday sunday'.split(),
        strict=True,
    )
)
_PARTS_OF_DAY = {
    **dict.fromkeys(('凌晨', '早上', '早晨', '清晨', '上午'), 'morning'),
    **dict.fromkeys(('中午', '正午'), 'noon'),
    **dict.fromkeys(('下午', '午后'), 'afternoon'),
    '傍晚': 'evening',
    **dict.fromkeys(('晚上', '夜里', '半夜'), 'night'),
}
_WHEN = {'昨': 'yesterday', '今': 'today', '明': 'tomorrow'}
_FIXED = frozenset(
    """
    the a an this that these those my your our his her their its each every no of in on at to
    from for with by into onto near beside behind under over above below between and or
    """.split()
)
_VERB = compile_pattern('is|was|has|can|may|must|will|does|needs?|[a-z]+(?<!s)s|[a-z]{2,}ed')
_NAME = r'(?<=[a-z,;] )[A-Z][^\W\d_]+'
_LETTER = r'(?<=[A-Za-z] )[A-HJ-Z]\d*(?![\w-])|(?<![A-Za-z])[A-HJ-Z]\d*(?=[\u4e00-\u9fff])'
_HAN_BEFORE = frozenset('在把到从给将用抓取拿放夹和跟对')
_HAN_AFTER = frozenset('在是要有需被很不用喜的放')


def names_another(one: str, other: str) -> bool:
    """
    Say whether two texts that look alike speak of different things, so are no duplicates.

    They do where they name other colours, sides, days, people or letters, where one has the
    opposite of a word in its place, or where all that parts them is another thing in one place of
    the same sentence: 'the milk is in the fridge', 'the eggs are in the fridge'. Numbers, units
    and negations are for `duplicate_key`.
    """
    folded = [fold(text) for text in (one, other)]
    words = [_WORD.findall(text) for text in folded]
    first, second = (
        _find_contrasts([*found, *text]) | _find_han_contrasts(text)
        for found, text in zip(words, folded, strict=True)
    )
    if any(first[group] != second[group] for group in first.keys() & second.keys()):
        return True
    for named in (_find_proper_names, _find_letters):
        mine, others = named(one), named(other)
        if mine.difference(others, words[1]) and others.difference(mine, words[0]):
            return True
    is_han = max(''.join(folded), default='') >= '\u3040'
    left, right = map(list, folded) if is_han else words
    slot = _is_han_slot if is_han else _is_slot
    opcodes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return swaps_opposites(left, right, opcodes) or _differs_in_slot(left, right, opcodes, slot)


def _find_contrasts(words: Iterable[str]) -> dict[int | str, set[str]]:
    """Return by group what the words, or the characters of Chinese, say of it."""
    found: dict[int | str, set[str]] = {}
    for word in words:
        if word in _CONTRASTS:
            group, value = _CONTRASTS[word]
            found.setdefault(group, set()).add(value)
    return found


def _find_han_contrasts(folded: str) -> dict[int | str, set[str]]:
    """Return what Chinese words of more than one character say: days, parts of one, which aunt."""
    if folded.isascii():
        return {}
    found: dict[int | str, set[str]] = {}
    for match in _compile(_HAN_CONTRAST).finditer(folded):
        if match['kin']:
            found.setdefault(match['kin'], set()).add(match['order'])
            continue
        word = match['part'] and _PARTS_OF_DAY[match['part']]
        word = word or (_DAYS[match['day']] if match['day'] else _WHEN[match['when']])
        group, value = _CONTRASTS[word]
        found.setdefault(group, set()).add(value)
    return found


def _find_proper_names(text: str) -> set[str]:
    """Return the capitalised words that begin no sentence."""
    return {fold(match[0]) for match in _compile(_NAME).finditer(text)}


def _find_letters(text: str) -> set[str]:
    """Return what single capitals name: shelf B, shelf B3, but not 12 N."""
    return {match[0].lower() for match in _compile(_LETTER).finditer(text)}


Slot = Callable[[list[str], list[str], list[str], list[str]], bool]


def _differs_in_slot(one: list[str], other: list[str], opcodes: Opcodes, slot: Slot) -> bool:
    """Say whether two sentences are one, but for other things in its places."""
    found = False
    for kind, a, b, c, d in opcodes:
        if kind == 'equal':
            continue
        if kind != 'replace' or not slot(one[:a], one[a:b], other[c:d], one[b:]):
            return False
        found = True
    return found


def _is_slot(before: list[str], one: list[str], other: list[str], after: list[str]) -> bool:
    """Say whether the differing words stand where a thing is named."""
    said = {*one, *other} - {'of', 'the'}
    if not _FIXED.isdisjoint(said) or _is_similar_spelling(' '.join(one), ' '.join(other)):
        return False
    if before:
        return before[-1] in _FIXED
    names = max(len(one), len(other)) <= 2 and not any(word.endswith('ing') for word in said)
    return names and bool(after) and _VERB.fullmatch(after[0]) is not None


def _is_han_slot(before: list[str], one: list[str], other: list[str], after: list[str]) -> bool:
    if max(len(one), len(other)) > 4:
        return False
    return before[-1] in _HAN_BEFORE if before else after[:1] != [] and after[0] in _HAN_AFTER


def _is_similar_spelling(one: str, other: str) -> bool:
    """Say whether two spellings may be of one word."""
    return SequenceMatcher(None, one, other).ratio() > 0.75
