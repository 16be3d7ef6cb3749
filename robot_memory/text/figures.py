"""Numbers, parts, times of day and amounts of a text as figures, English and Chinese; pure."""

from __future__ import annotations

import math
import re
from functools import cache, partial

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import convert_han_number
from robot_memory.text.vocabulary import NUMBERS

_TENS = {
    name: 10 * value
    for value, name in enumerate(
        'twenty thirty forty fifty sixty seventy eighty ninety'.split(), start=2
    )
}
_SCALES = {'hundred': 100, 'thousand': 1000, 'million': 1_000_000}
_ONES = {name: int(value) for name, value in NUMBERS.items()}
_NUMBER_WORDS = {**_ONES, **_TENS}
_PARTS = {
    'half': 2, 'third': 3, 'thirds': 3, 'quarter': 4, 'quarters': 4, 'fifth': 5, 'fifths': 5,
    'tenth': 10, 'tenths': 10,
}  # fmt: skip
_KILO = {'克': 'g', '瓦': 'w', '米': 'm', '牛': 'n', '帕': 'pa', '伏': 'v'}
_HAN = '零一二两三四五六七八九十百千'
_WEIGHTS_ZH = '公斤|千克|斤|吨|磅'
_HALVED_ZH = (
    f'小时|钟头|分钟|毫米|厘米|公分|公里|千米|英里|英尺|英寸|米|升|年|天|月|克|{_WEIGHTS_ZH}'
)
_COUNTERS_ZH = '个只件次袋箱包瓶桶盒罐条块天人份组盘碗筐辆台把张根位名趟遍层圈排车步'
"""Behind a number, what is counted: 十斤一袋 are ten in each bag."""
_UNITS_OF_PART = (
    '(?:an? )?(?P<unit>minute|hour|day|met(?:re|er)|kilo|kilogram|lit(?:re|er)|kilomet(?:re|er))s?'
)
_OF_DAY = r'(?: ?(?P<half>[ap])\.?m\b\.?| (?:in the|at) (?P<part>morning|afternoon|evening|night))'


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    some = '|'.join(_NUMBER_WORDS)
    word = rf'(?:{some}|{"|".join(_SCALES)})'
    han = rf'(?:\d+(?:\.\d+)?|[{_HAN}]+)'
    return {
        'kilo': compile_pattern(r'(?<=\d)\s?千(?=[克瓦米牛帕伏])'),
        'number': compile_pattern(r'(?<![\w-])(?:no\.|nr\.|number|#) ?(?=\d)'),
        'thousands': compile_pattern(r'(?<=\d),(?=\d{3}(?!\d))'),
        'words': compile_pattern(
            rf'(?<![\w-])(?:an? )?(?:(?:{some})|(?<=a )(?:hundred|thousand|dozen))'
            rf'(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and ){word})*(?![\w-])'
        ),
        'part': compile_pattern(
            rf'(?<![\w-])(?:(?P<count>\d+|{"|".join(_ONES)}) )?(?P<part>{"|".join(_PARTS)})'
            rf' (?:of )?{_UNITS_OF_PART}(?![\w-])'
        ),
        'and_half': compile_pattern(
            rf'(?<![\w.-])(?P<count>\d+|{"|".join(_ONES)}|an?) and a half (?P<unit>[a-z]+)'
        ),
        'then_half': compile_pattern(
            rf'(?<![\w.-])(?P<count>\d+|{"|".join(_ONES)}|an?)'
            r' (?P<unit>minute|hour|day|week|year)s? and a half'
        ),
        'other': compile_pattern(
            r'(?<=\bevery )other (?=(?:minute|hour|day|night|week|month|year)\b)'
        ),
        'days': compile_pattern(r'(?<=\d) days\b'),
        'noon': compile_pattern(r'(?<![\w-])(?:12 )?(?P<name>noon|midday|midnight)(?![\w-])'),
        'dozens': compile_pattern(r'(?<![\d.])(?P<count>\d{1,3}) dozen\b(?: of\b)?'),
        'fortnight': compile_pattern(r'(?<!\d )\b(?:an? )?fortnight\b'),
        'counter_zh': compile_pattern(rf'(?<=[{_HAN}\d半])个(?=小时|钟头|星期|礼拜)'),
        'below_zero': compile_pattern(rf'零下(?={han})'),
        'quarters_zh': compile_pattern('(?P<count>[一两三])刻钟'),
        'han_part': compile_pattern(rf'(?P<below>[{_HAN}]+)分之(?P<above>[{_HAN}]+)'),
        'slash': compile_pattern(r'(?<![\d/.])(\d{1,2})/(\d{1,2})(?![\d/])'),
        'han_short': compile_pattern(
            rf'(?P<whole>{han})(?P<unit>米|块|{_WEIGHTS_ZH})(?P<rest>[一二三四五六七八九]|\d)'
            rf'(?![{_HAN}\d.{_COUNTERS_ZH}])'
        ),
        'han_half': compile_pattern(
            rf'(?P<count>{han})个?(?:(?P<unit>{_HALVED_ZH})半'
            r'|(?<=个)半(?P<after>小时|钟头|月))'
            rf'|(?<!一)半(?P<few>个)?(?P<one>{_HALVED_ZH})'
        ),
        'jin': compile_pattern(rf'(?P<count>{han})斤'),
        'times': compile_pattern(rf'(?P<count>{han})[回趟遍](?![家来去到收])'),
        'clock': compile_pattern(
            r'(?<![\d:.])(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d)| ?o\'?clock'
            r'|(?= ?[ap]\.?m\b| in the (?:morning|afternoon|evening)\b))'
            rf'(?!:?\d){_OF_DAY}?'
        ),
        'past': compile_pattern(
            r'(?<![\w-])(?P<minute>half|(?:a )?quarter|\d{1,2}(?: minutes|(?= past)))'
            rf' (?P<side>past|to) (?P<hour>\d{{1,2}})(?!\d){_OF_DAY}?'
        ),
        'han_clock': compile_pattern(
            rf'(?P<part>凌晨|早上|上午|清晨|中午|下午|傍晚|晚上)?(?P<hour>{han})点'
            rf'(?:(?P<half>半)|(?P<quarter>[一三])刻|钟|整|(?P<minute>{han})分?(?![{_HAN}\d]))?(?![{_HAN}\d])'
        ),
    }


@cache_texts(1024)
def write_figures(text: str) -> str:
    """Return a folded text with its numbers, parts and times of day in figures and one unit."""
    found = _compile()
    if not text.isascii():
        text = found['kilo'].sub(' k', text)
        text = found['counter_zh'].sub('', text)
        text = re.sub(r'(?<=\d k)[克瓦米牛帕伏]', lambda m: _KILO[m[0]], text)
        text = found['han_part'].sub(_write_share, text)
        text = found['han_clock'].sub(_write_han_clock, text)
        text = found['quarters_zh'].sub(lambda m: f'{15 * int(_read(m["count"]))}分钟', text)
        text = found['below_zero'].sub('-', text)
        text = write_han_parts(text)
        text = found['jin'].sub(lambda m: f'{float(_read(m["count"])) / 2:g}公斤', text)
        text = found['times'].sub(lambda m: f'{_read(m["count"])}次', text)
    text = found['thousands'].sub('', text)
    text = found['number'].sub('number ', text)
    text = found['and_half'].sub(_write_and_half, text)
    text = found['then_half'].sub(_write_and_half, text)
    text = found['other'].sub('2 ', text)
    text = found['part'].sub(_write_part, text)
    text = found['words'].sub(_write_words, text)
    if 'dozen' in text:
        text = found['dozens'].sub(lambda m: str(12 * int(m['count'])), text)
    if 'fortnight' in text:
        text = found['fortnight'].sub('2 week', text)
    text = found['days'].sub(' day', text)
    text = found['noon'].sub(
        lambda m: _format_clock(24 if m['name'] == 'midnight' else 12, 0, None), text
    )
    text = found['past'].sub(_write_past, text)
    text = found['clock'].sub(_write_clock, text)
    return found['slash'].sub(_write_slash, text)


@cache
def _compile_units() -> dict[str, re.Pattern[str]]:
    digits = '一二两三四五六七八九'
    han = rf'(?P<count>\d+(?:\.\d+)?|[{_HAN}万]+点[零{digits}]+|(?<!点)[{_HAN}万]+|(?<!个)半)'
    alone = rf'(?<![{_HAN}第期拜周个\d.])'
    end = rf'{_OF_DAY}?(?=[.,;!]?\s*$|[,;] | (?:in|on|every|each|sharp|today|tomorrow)\b)'
    return {
        'tonne': compile_pattern(
            r'(?<![\w.])(?P<count>\d+(?:\.\d+)?|(?P<half>half )?an?) (?:metric )?ton(?:ne)?s?\b'
        ),
        'dotted': compile_pattern(
            r'(?P<before>\b(?:open|close|start|begin|end|leave|arrive|come|meet|serve|wake|go)(?:s|ed)?\b'
            rf'[^.;]{{0,40}}? at )(?P<hour>[1-9]|1\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\d){end}'
        ),
        'at_to': compile_pattern(
            rf'(?<=\bat )(?P<minute>5|10|20|25) (?P<side>to) (?P<hour>[1-9]|1[0-2]){end}'
        ),
        'ton_zh': compile_pattern(rf'{alone}{han}吨(?!半)'),
        'litre_zh': compile_pattern(rf'{alone}{han}升(?=$|[,。;、的以水油奶液酒汤]|左右)'),
        'week_zh': compile_pattern(
            rf'(?<!转)(?<!绕)(?<!环)(?<![巡走跑]){alone}{han}'
            r'(?:个?(?:星期|礼拜)(?!半)|(?<!四)周(?=$|[,。;、内后前左里]|[一二两三四五六]次|一[趟回遍]))'
        ),
        'half_month_zh': compile_pattern(r'(?<![\d.])0\.5个月'),
        'dozen_zh': compile_pattern(rf'(?<=[了买共有剩]){han}打(?=$|[,。;鸡鸭杯盒瓶双])'),
        'li_zh': compile_pattern(rf'{alone}{han}里(?=[路地远])'),
        'point_zh': compile_pattern(
            rf'(?<![{_HAN}点])(?P<count>十[一二]?|二十[一二三四]?|[{digits}])点(?![子心点零半十{digits}])'
        ),
    }


def write_common_units(text: str) -> str:
    """
    Return what `write_figures` wrote with amounts as they compare to others.

    Tonnes are in kilograms, and in Chinese litres in millilitres, weeks in days, 里 in kilometres
    and 打 in pieces; "opens at 7.30" and "at 20 to 8" are times of day.
    """
    found = _compile_units()
    if not text.isascii():
        for name, (factor, unit) in _SMALLER.items():
            text = found[name].sub(partial(_write_smaller, factor, unit), text)
        text = found['half_month_zh'].sub('15天', text)
        text = found['point_zh'].sub(lambda m: f'{_read(m["count"])}点', text)
    if 'ton' in text:
        text = found['tonne'].sub(_write_tonnes, text)
    text = found['dotted'].sub(lambda m: m['before'] + _write_clock(m), text)
    return found['at_to'].sub(_write_past, text)


_SMALLER = {
    'ton_zh': (1000.0, '公斤'),
    'litre_zh': (1000.0, '毫升'),
    'week_zh': (7.0, '天'),
    'dozen_zh': (12.0, '个'),
    'li_zh': (0.5, '公里'),
}
"""Patterns of amounts, how many one of them is, and of what."""


def _write_smaller(factor: float, unit: str, match: re.Match[str]) -> str:
    count = 0.5 if match['count'] == '半' else float(_read(match['count']))
    return f'{count * factor:g}{unit}'


def _write_tonnes(match: re.Match[str]) -> str:
    count = match['count']
    number = float(count) if count[0].isdigit() else 0.5 if match['half'] else 1.0
    return f'{1000 * number:g} kg'


def write_han_parts(text: str) -> str:
    """Return a text with 一米五, 两公斤半 and 半米 in figures: 1.5米, 2.5公斤, 0.5米."""
    found = _compile()
    text = found['han_short'].sub(
        lambda m: f'{_read(m["whole"])}.{_read(m["rest"])}{m["unit"]}', text
    )
    return found['han_half'].sub(_write_han_half, text)


def _read(numeral: str) -> str:
    return numeral if numeral[0].isdigit() else convert_han_number(numeral)


def _write_share(match: re.Match[str]) -> str:
    below, above = int(_read(match['below'])), int(_read(match['above']))
    if below == 100:
        return f'{above}%'
    return f'{above / below:.4g}' if below else match[0]


def _write_slash(match: re.Match[str]) -> str:
    above, below = int(match[1]), int(match[2])
    is_part = 0 < above < below and math.gcd(above, below) == 1
    return f'{above / below:.4g}' if is_part else match[0]


def _write_part(match: re.Match[str]) -> str:
    count = match['count'] or '1'
    number = int(count) if count.isdigit() else _ONES[count]
    seconds = {'minute': 60, 'hour': 60}.get(match['unit'])
    if seconds:
        smaller = 'seconds' if match['unit'] == 'minute' else 'minutes'
        return f'{seconds * number / _PARTS[match["part"]]:g} {smaller}'
    return f'{number / _PARTS[match["part"]]:.4g} {match["unit"]}'


def _write_and_half(match: re.Match[str]) -> str:
    count = match['count']
    number = int(count) if count.isdigit() else _ONES.get(count, 1)
    return f'{number + 0.5:g} {match["unit"]}'


def _write_words(match: re.Match[str]) -> str:
    words = [word for word in re.split(r'[ -]', match[0]) if word not in ('a', 'an', 'and', '')]
    # 'one' alone is often no number: the other readers know which.
    if words in (['one'], ['dozen'], []):
        return match[0]
    total = section = 0
    for word in words:
        if word == 'dozen':
            section = (section or 1) * 12
        elif word in _SCALES and _SCALES[word] == 100:
            section = (section or 1) * 100
        elif word in _SCALES:
            total, section = total + (section or 1) * _SCALES[word], 0
        else:
            section += _NUMBER_WORDS[word]
    return str(total + section)


def _write_han_half(match: re.Match[str]) -> str:
    if match['one']:
        return f'0.5{match["few"] or ""}{match["one"]}'
    before = '个' if '个' in match[0] else ''
    return f'{float(_read(match["count"])) + 0.5:g}{before}{match["unit"] or match["after"]}'


def _format_clock(hour: int, minute: int, later: bool | None) -> str:
    if later is not None and hour <= 12:
        hour = hour % 12 + (12 if later else 0)
    return f'{hour % 24:02}:{minute:02}'


def _is_later(match: re.Match[str]) -> bool | None:
    """Say whether a time is in the second half of the day; None: it is not said."""
    half, part = match['half'], match['part']
    if half in ('a', 'p'):
        return half == 'p'
    return None if part is None else part in ('afternoon', 'evening', 'night')


def _write_clock(match: re.Match[str]) -> str:
    if int(match['hour']) > 24:
        return match[0]
    return _format_clock(int(match['hour']), int(match['minute'] or 0), _is_later(match))


def _write_past(match: re.Match[str]) -> str:
    named = {'half': 30, 'quarter': 15, 'a quarter': 15}.get(match['minute'])
    minutes = int(match['minute'].split()[0]) if named is None else named
    hour = int(match['hour'])
    if not 1 <= hour <= 12 or minutes > 59:
        return match[0]
    signed = 60 * hour + (minutes if match['side'] == 'past' else -minutes)
    return _format_clock(signed // 60 or 12, signed % 60, _is_later(match))


def _write_han_clock(match: re.Match[str]) -> str:
    hour = int(float(_read(match['hour'])))
    if hour > 24 or '.' in match['hour'] or not match.end() - match.start() > 1:
        return match[0]
    minute = 30 if match['half'] else 0
    if match['quarter']:
        minute = 15 if match['quarter'] == '一' else 45
    if match['minute']:
        minute = int(float(_read(match['minute'])))
    part = match['part']
    is_named = part or match['half'] or match['quarter'] or match[0].endswith(('钟', '整', '分'))
    if minute > 59 or not is_named:
        return match[0]
    later = None if part is None else part in ('下午', '傍晚', '晚上')
    return _format_clock(hour, minute, later)
