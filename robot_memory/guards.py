"""What two texts must share to be duplicates, whatever their words: numbers, units, negations."""

import re
from functools import cache

from robot_memory.texts import fold

_UNITS = {
    'n': 'n newton newtons 牛 牛顿 н', 'kn': 'kn 千牛', 'nm': 'nm n·m n*m n.m 牛米 牛·米',
    'um': 'um μm micron microns 微米', 'mm': 'mm millimeter millimetre 毫米 мм',
    'cm': 'cm centimeter centimetre 厘米 см', 'm': 'm meter metre 米 м', 'km': 'km 公里 千米',
    'inch': 'inch inches 英寸', 'ms': 'ms msec millisecond 毫秒', 's': 's sec secs second 秒 秒钟',
    'min': 'min mins minute 分钟', 'h': 'h hr hrs hour 小时', 'day': 'day 天',
    'hz': 'hz hertz 赫 赫兹', 'khz': 'khz', 'mhz': 'mhz', 'fps': 'fps 帧',
    'g': 'g gram 克', 'kg': 'kg kilogram kilo 公斤 千克 кг', 'deg': '° deg degree 度',
    'degc': '°c celsius 摄氏度', 'rad': 'rad radian 弧度', '%': '% percent pct',
    'v': 'v volt 伏', 'ma': 'ma 毫安', 'amp': 'amp ampere 安', 'w': 'w watt 瓦', 'kw': 'kw',
    'rpm': 'rpm 转', 'px': 'px pixel 像素', 'times': 'times 次', 'fold': '倍',
    'pa': 'pa pascal 帕', 'kpa': 'kpa 千帕', 'bar': 'bar',
    'm/s': 'm/s mps 米/秒 米每秒', 'mm/s': 'mm/s 毫米/秒', 'cm/s': 'cm/s 厘米/秒',
    'm/s2': 'm/s2 m/s^2', 'rad/s': 'rad/s 弧度/秒', 'deg/s': '°/s deg/s 度/秒',
}  # fmt: skip
_ALIASES = {alias: unit for unit, names in _UNITS.items() for alias in names.split()}
_ALIASES |= {a + 's': u for a, u in _ALIASES.items() if re.fullmatch('[a-z]{3,}[^sz]', a)}
_ALIASES |= {
    f'{a}s per second': _ALIASES[a] + '/s' for a in ('meter', 'metre', 'radian', 'degree')
}
# Units that also say which unit is meant without a number ('depth in mm'), and mean no more.
_BARE = {
    alias: unit
    for alias, unit in _ALIASES.items()
    if len(alias) > 1 and unit not in ('times', 'bar', 'day', 'degc', 'ma', 'pa')
    and alias not in ('sec', 'second', 'min', 'mins', 'minute', 'hour', 'degree', 'volt', 'inch')
}  # fmt: skip
_BARE_HAN = '|'.join(sorted((a for a in _BARE if a[0] >= '一'), key=len)[::-1])
_NO_LETTER = r'(?![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])'
_QUANTITY = (
    r'(?:(?P<order>(?<![-=<>])[<>]=?|[≤≥≠])\s*)?'
    r'(?P<number>(?:(?<![a-z0-9_.-])-)?(?:\d+(?:\.\d+)*|(?<![\w.])\.\d+)'
    rf'(?:e[-+]?\d+{_NO_LETTER})?)'
    rf'(?:\s?(?P<unit>{"|".join(map(re.escape, sorted(_ALIASES, key=len)[::-1]))}){_NO_LETTER}'
    r'|(?P<glued>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+))?'
)
_CARDINALS = 'zero one two three four five six seven eight nine ten eleven twelve'.split()
_ORDINALS = 'second third fourth fifth sixth seventh eighth ninth tenth'.split()
_COUNT = {name: str(i) for i, name in enumerate(_CARDINALS)}
_COUNT |= {name: str(i) for i, name in enumerate(_ORDINALS, 2)}
_COUNT |= {'twice': '2', 'twenty': '20', 'thirty': '30', 'forty': '40', 'fifty': '50'}
# 'one' as a pronoun and 'second' as a time are no numbers.
_COUNT_WORD = (
    r'(?<![\w-])(?:(?!one\b|second\b)(?:' + '|'.join(_COUNT) + r')(?!\w)'
    r'|(?<!this )(?<!that )(?<!the )(?<!each )(?<!no )(?<!any )(?<!which )one'
    r'(?= (?!of\b|another\b|can\b|is\b|that\b|should\b|must\b|has\b|by\b)[a-z])'
    r'|(?<!\d )(?<!per )(?<!one )(?<!two )(?<!five )(?<!ten )(?<!split )second(?!\w))'
)
_HAN = {c: i for i, c in enumerate('零一二三四五六七八九')} | {'两': 2, '〇': 0}
_HAN_SCALE = {'十': 10, '百': 100, '千': 1000, '万': 10000}
_HAN_NUMBER = (
    r'百分之(?P<share>[\d.]+|[零一二三四五六七八九十百]{1,12})'
    r'|第(?P<order>[一二三四五六七八九十百]{1,12})'
    r'|(?<=关节|货架|机器|相机|工位|通道|房间|区域)(?P<name>[一二三四五六七八九十]{1,12})(?![起般样定直些次])'
    r'|(?P<count>[零一二两三四五六七八九十百千万]{1,12}(?:点[零一二三四五六七八九]{1,12})?)'
    r'(?=[号层楼台轴指米秒毫厘公千牛度克弧赫伏瓦转帧倍帕]|分钟|小时|自由度|摄氏|英寸|像素)'
    r'|(?P<few>(?!一)[二两三四五六七八九十百千万]{1,12})(?=[个只次种条张块根辆名位把件天步排])'
)
_NEGATIONS = frozenset(
    """
    not cannot never no nor none neither nothing nobody nowhere without unless unable lack lacks
    lacking avoid avoids avoided avoiding forbidden forbid forbids prohibited disallowed dont
    cant wont doesnt didnt isnt hardly rarely barely seldom unsafe impossible incorrect invalid
    unreliable unstable unavailable inaccurate disabled
    nicht nichts nie niemals ohne weder kein keine keinen keinem keiner keines
    не нет ни нельзя никогда без
    """.split()
)
_FAIL = frozenset(('fail', 'fails', 'failed', 'failing'))
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_HAN_NEGATION = (
    '特别|分别|级别|类别|识别|区别|别名|判别|辨别|差别|个别|性别|非常|无人|无线|无论|无刷|无缝|无穷|未来|'
    '不仅|不但|不锈钢|不过|不断|不管|不论|不久|差不多|不同|沉没|淹没|没收|没关系|(少ない)|'
    '(?P<no>[不没無无别勿非未]|禁止|严禁|避免|ません|ない|않|없)'
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a long pattern at its first use, which keeps the import short."""
    return re.compile(pattern)


def _han_value(text: str) -> str:
    """Return a Chinese numeral as digits: 十二 as '12', 十二点五 as '12.5', 二五 as '25'."""
    whole, _, rest = text.partition('点')
    total = section = digit = 0
    for c in whole:
        if c in _HAN:
            digit = digit * 10 + _HAN[c]
        elif c == '万':
            total, section, digit = (total + section + digit or 1) * 10000, 0, 0
        else:
            section, digit = section + (digit or 1) * _HAN_SCALE[c], 0
    total += section + digit
    return f'{total}.{"".join(str(_HAN[c]) for c in rest)}' if rest else str(total)


def _han_digits(match: re.Match[str]) -> str:
    numeral = match[match.lastgroup or 0]
    value = numeral if numeral[0] not in _HAN and numeral[0] not in _HAN_SCALE else ''
    return (value or _han_value(numeral)) + ('%' if match.lastgroup == 'share' else '')


def _plain(number: str) -> str:
    """Return a number in one spelling: '12.50', '012.5' and '1.25e1' as '12.5'."""
    if 'e' in number:
        return repr(float(number)).removesuffix('.0')
    sign, digits = ('-', number[1:]) if number[0] == '-' else ('', number)
    whole, point, rest = digits.partition('.')
    whole = whole.lstrip('0') or '0'
    if '.' not in rest:
        rest = rest.rstrip('0')
    return f'{sign}{whole}{point}{rest}' if rest else sign + whole


def guard(text: str) -> str:
    """
    Return what two texts must share to be duplicates: numbers, units, how often it says no.

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
    if max(folded, default='') >= '\u3040':
        negations += sum(m['no'] is not None for m in _compiled(_HAN_NEGATION).finditer(folded))
        named.update(_BARE[alias] for alias in _compiled(_BARE_HAN).findall(folded))
        folded = _compiled(_HAN_NUMBER).sub(_han_digits, folded)
    folded = _compiled(_COUNT_WORD).sub(lambda m: _COUNT[m[0]], folded)
    found: list[tuple[str, str]] = []
    for match in _compiled(_QUANTITY).finditer(folded):
        order, number, unit, glued = match.groups()
        unit = _ALIASES[unit] if unit else glued or ''
        unit = '' if unit in ('st', 'nd', 'rd', 'th') else unit
        found.append((unit, (order or '') + _plain(number) + unit))
    named.difference_update(*(unit.split('/') for unit, _ in found))
    found.sort(key=lambda pair: pair[0])
    said = [f'not*{negations}'] if negations else []
    return ' '.join([*(quantity for _, quantity in found), *sorted(named), *said])
