"""Weights, temperatures and times of day that a text states."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern, match_any
from robot_memory.text.questions.numbers import ENGLISH, HAN, parse_number
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.units import MASSES

DAY = 24.0
_EN, _ZH = ENGLISH, HAN
_COMMAS = r'(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d+,\d{1,2})(?![\d,])'
_HOUR = r'(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)'
_PART = r'(?: in the (?:morning|afternoon|evening)| at night| (?:this|tomorrow) morning| tonight)'
_KILOGRAMS = {
    name: one.factor
    for symbol, one in MASSES.items()
    if symbol != 'mg'  # that is a dose, and not what its box weighs
    for name in one.list_names()
}
_NO_MASS = (
    r'(?!\s?[/·*]|力|每(?:平方|立方|秒|分|小时|升|米)'
    r'|[ -]?(?:of (?:force|thrust|pressure|torque|pull)|force|f|f(?:oo|ee)?t'
    r'|per (?:square|cubic|inch|met(?:re|er)|lit(?:re|er)|second|minute|hour))\b)'
)
"""Behind a name, what makes it a part of another unit: kg/m3, pounds of force."""
_PRICE = compile_pattern(
    r'\b(?:cost(?:s|ing)?|pays?|paid|paying|spends?|spent|spending|worth'
    r'|price(?:d at| of)?|for only)\s'
    r'(?:about |only |over |under |around |up to |at most |(?:no )?(?:more|less) than )?$'
)
_PAST = {'half past': 0.5, 'quarter past': 0.25, 'quarter to': -0.25}
_WORDS = {'noon': 12.0, 'midday': 12.0, 'midnight': 24.0}
_NIGHT = ('半夜', '午夜', '深夜', '夜里', '晚上', '今晚', '凌晨')
_AFTER_TEN = compile_pattern(
    r'\bafter (one|two|three|four|five|six|seven|eight|nine|ten|eleven)\b'
)


class Clock(NamedTuple):
    """Hold a time of day in hours, and where it is written."""

    hour: float
    start: int
    end: int


@cache
def _compile_weight() -> re.Pattern[str]:
    # Long patterns, of which few processes that ask once need any.
    names = match_any(filter(str.isascii, _KILOGRAMS))
    names_zh = match_any(name for name in _KILOGRAMS if not name.isascii())
    return compile_pattern(
        rf'(?P<en>{_COMMAS}|(?<!\d,){_EN})[\s-]?(?P<unit>{names})(?![a-z0-9_]){_NO_MASS}'
        rf'|(?P<zh>{_ZH})\s?(?P<han>{names_zh}|kg){_NO_MASS}(?P<half>半?)'
    )


@cache
def _compile_temperature() -> re.Pattern[str]:
    return compile_pattern(
        rf'(?P<en>-?{_EN})[\s-]?(?:°\s?c?\b|℃|degrees?(?: celsius)?|deg c)'
        rf'|(?P<zh>{_ZH})\s?(?:摄氏)?(?:度|℃)'
    )


@cache
def _compile_clock() -> re.Pattern[str]:
    return compile_pattern(
        r'(?P<early>今晚|晚上|夜里|凌晨|早上|清晨|上午|中午|下午|傍晚|半夜|午夜|深夜)?'
        rf'(?<![\d.])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?!\d)\s?(?P<ap>[ap]\.?m\b|{_PART})?'
        r'|\b(?P<past>half past|(?:a )?quarter past|(?:a )?quarter to) '
        rf'(?P<of>{_HOUR}|midnight|noon)'
        rf'(?P<ap3>{_PART})?'
        r'|\b(?P<word>noon|midday|midnight)\b'
        rf'|\b(?P<bare>{_HOUR})(?P<ap4>{_PART})'
        rf'|(?:(?<=before )|(?<=after )|(?<=until )|(?<=past )|(?<=till )|(?<=from ))'
        rf'(?P<alone>{_HOUR})(?=\s*(?:[,.;]|$|on (?:\w+days?|week)|to {_HOUR}))'
        rf'|\b(?P<hour>{_HOUR})\s?(?P<ap2>[ap]\.?m\b|o.clock(?:{_PART})?)'
        r'|(?P<part>今晚|晚上|夜里|凌晨|早上|清晨|上午|中午|下午|傍晚|半夜|午夜|深夜)?'
        r'(?P<zh>\d{1,2}|[一二两三四五六七八九十]{1,3})点'
        r'(?!多?(?:钱|儿|水|心|击|红|半径)|[零一二三四五六七八九\d]+'
        r'(?:公斤|千克|克|斤|吨|米|厘米|毫米|公分|度|牛|升|毫升|秒|倍|[kmgn%]))'
        r'(?P<half>半|[一三]刻|[零〇]?(?:\d{1,2}|[二三四五]?十?[一二三四五六七八九])分'
        r'|[零〇][一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?分?|\d\d(?!\d))?'
    )


@cache
def load_scene() -> dict[str, Any]:
    """Return scene.toml."""
    return load_toml(__file__, 'scene.toml')


def is_no_mass(folded: str, end: int) -> bool:
    """Say whether what stands behind the name of a mass makes it a part of another unit."""
    return _compile_no_mass().match(folded, end) is None


@cache
def _compile_no_mass() -> re.Pattern[str]:
    return compile_pattern(_NO_MASS)


def find_weights(folded: str) -> list[tuple[float, int, int]]:
    """Return the weights of a text in kilograms, with where they are."""
    found = []
    for match in _compile_weight().finditer(folded):
        if (match['unit'] or '').startswith('pound') and _PRICE.search(folded[: match.start()]):
            continue
        value = parse_number(_write_point(match['en'] or match['zh']))
        value += 0.5 if match['half'] else 0.0
        found.append((value * _KILOGRAMS[match['unit'] or match['han']], *match.span()))
    return found


def _write_point(number: str) -> str:
    """Return a number without commas: '5,000' is 5000, '3,5' is 3.5."""
    is_grouped = re.fullmatch(r'\d{1,3}(?:,\d{3})+', number)
    return number.replace(',', '' if is_grouped else '.')


def find_temperatures(folded: str) -> list[tuple[float, int, int]]:
    """Return the temperatures of a text in degrees Celsius, with where they are."""
    turning = load_scene()['turning']
    if re.search(f'{turning["en"]}|{turning["zh"]}', folded):
        return []
    return [
        (parse_number((match['en'] or match['zh']).lstrip('-')), *match.span())
        for match in _compile_temperature().finditer(folded)
    ]


def find_clocks(folded: str) -> list[Clock]:
    """Return the times of day of a text, afternoon and evening told by the words around."""
    found: list[Clock] = []
    for match in _compile_clock().finditer(folded):
        given = match.groupdict()
        if given['h']:
            hour = int(given['h']) + int(given['m']) / 60
            goes_on = found and folded[found[-1].end : match.start()] in ('到', '至')
            early = '下午' if goes_on and found[-1].hour >= 12 else given['early'] or ''
            half = given['ap'] or _tell_half_zh(early, hour)
        elif given['word']:
            hour, half = _WORDS[given['word']], ''
        elif given['past']:
            hour = _WORDS.get(given['of']) or parse_number(given['of'])
            hour += _PAST[given['past'].removeprefix('a ')]
            half = _tell_half(given['ap3'] or '', hour)
        elif given['hour'] or given['bare'] or given['alone']:
            hour = parse_number(given['hour'] or given['bare'] or given['alone'])
            half = _tell_half(given['ap2'] or given['ap4'] or '', hour)
        else:
            hour = parse_number(given['zh'])
            hour += _read_minutes(given['half'] or '') / 60
            part = given['part'] or ''
            if not part and found and found[-1].hour >= 12 and hour < found[-1].hour % 12 + 6:
                part = '下午'
            half = _tell_half_zh(part, hour)
        if half.startswith('p') and hour < 12:
            hour += 12
        if 12 <= hour < 13 and (half == 'n' or given['part'] in _NIGHT):
            hour += 12
        found.append(Clock(hour, *match.span()))
    return found


def _read_minutes(written: str) -> float:
    """Return the minutes after a Chinese hour: 半, 一刻, 二十, 零五分."""
    if written in ('', '半'):
        return 30.0 if written else 0.0
    if written.endswith('刻'):
        return 15.0 * parse_number(written[:-1])
    return parse_number(written.strip('零〇分'))


def _tell_half_zh(part: str, hour: float) -> str:
    """Return 'p' where the part of a day before an hour says the afternoon or evening."""
    later = ('今晚', '晚上', '下午', '傍晚', '夜里', '半夜', '深夜')
    if part == '中午':
        return 'p' if hour < 4 else ''
    return 'p' if part in later and not (part in later[4:] and hour < 6) else ''


def _tell_half(words: str, hour: float) -> str:
    """Return 'p' where the words after an hour name the afternoon or evening, 'n' the night."""
    if 'night' in words:
        return 'n' if hour >= 12 else 'p' if hour >= 6 else ''
    if re.search('noon|evening', words):
        return 'p'
    return re.sub('[^ap]', '', words)[:1] if 'm' in words and 'morning' not in words else ''


def find_span_of_day(folded: str) -> tuple[float, float] | None:
    """Return when, in hours, a task is to be done as far as its text says; None: it does not."""
    words = load_scene()['time']
    for clause in re.split(r'[.;!?。；！？]|,\s|，', folded):
        if re.search(f'{words["not_doing_en"]}|{words["not_doing_zh"]}', clause):
            continue
        clocks = find_clocks(clause)
        part = next(
            (
                span
                for name, span in [*words['parts_en'].items(), *words['parts_zh'].items()]
                if name in clause
            ),
            None,
        )
        if clocks and re.search(r'after|以后|之后|过后', clause):
            return clocks[0].hour, max(DAY, clocks[0].hour + 2)
        if clocks:
            return clocks[0].hour, clocks[0].hour + 0.25
        after = _AFTER_TEN.search(clause)
        if after and part and part[0] >= 12:
            return 12 + parse_number(after[1]), DAY
        if part:
            return part[0], part[1]
    return None


def find_days(folded: str) -> frozenset[int]:
    """Return the days of the week that a text names, 0 for Monday."""
    names = load_scene()['days']['names']
    days = {
        day for day, words in enumerate(names) if any(_names_day(word, folded) for word in words)
    }
    if span := _find_span_of_days(folded):
        first, last = span
        days |= {(first + after) % 7 for after in range((last - first) % 7 + 1)}
    return frozenset(days)


def _find_span_of_days(folded: str) -> tuple[int, int] | None:
    """Return the first and last of days from one to another: Monday to Friday, 周一到周五."""
    pattern, numbers = _compile_span_of_days()
    match = pattern.search(folded)
    return (numbers[match['a']], numbers[match['b']]) if match else None


@cache
def _compile_span_of_days() -> tuple[re.Pattern[str], dict[str, int]]:
    names = load_scene()['days']['names']
    numbers = {word: day for day, words in enumerate(names) for word in words}
    one = '|'.join(sorted(map(re.escape, numbers), key=len)[::-1])
    span = rf'\b(?P<a>{one})s?\s*(?:to|through|thru|till|until|-|–|到|至)\s*(?P<b>{one})'
    return compile_pattern(span), numbers


def _names_day(word: str, folded: str) -> bool:
    return bool(re.search(rf'\b{word}s?\b', folded)) if word.isascii() else word in folded


_CLOCK = re.compile(
    r'(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?'
    r'\s?(?:(?P<half>[ap])\.?m\.?)?',
    re.IGNORECASE,
)


def parse_clock(text: str) -> float | None:
    """Return a time of day in hours: HH:MM, with am or pm, or of an ISO 8601 stamp; else None."""
    stamp = parse_stamp(text)
    if stamp is not None:
        return stamp.hour + stamp.minute / 60
    match = _CLOCK.fullmatch(text.strip())
    if match is None or not (match['minute'] or match['half']):
        return None
    hour = int(match['hour'])
    if match['half'] and 0 < hour <= 12:
        hour = hour % 12 + (12 if match['half'] in 'pP' else 0)
    return hour + int(match['minute'] or 0) / 60


def parse_stamp(text: str) -> datetime | None:
    """Return a date with a time, as ISO 8601 writes it, in its own zone; None: it is none."""
    written = text.strip()
    if ':' not in written:
        return None
    try:
        return datetime.fromisoformat(re.sub('[zZ]$', '+00:00', written))
    except ValueError:
        return None
