"""From values to pages: templates, two languages, times, and texts that cannot break a page."""

from __future__ import annotations

import json
import math
import unicodedata
from functools import cache, lru_cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from robot_memory.viewer.middleware import VISITOR

LANGUAGES = {'en': 'English', 'zh': '中文'}
LANGUAGE_COOKIE = 'robot_memory_language'
BIDI = ''.join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Marks that override or isolate the direction of what stands after them."""
SHOWN = 4000
"""Characters of a text on a page; the rest is a link away."""


@cache
def read_words() -> dict[str, str]:
    """Return the Chinese of every English text of the pages."""
    text = resources.files(__package__).joinpath('zh.json').read_text(encoding='utf-8')
    words: dict[str, str] = json.loads(text)
    return words


@lru_cache(maxsize=2)
def get_environment(language: str) -> Environment:
    """Return the templates in a language."""
    environment = Environment(
        loader=PackageLoader('robot_memory.viewer'),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=['jinja2.ext.i18n'],
    )
    words = read_words() if language == 'zh' else {}

    def translate(text: str) -> str:
        return words.get(text, text)

    def translate_number(one: str, many: str, number: int) -> str:
        return translate(one if number == 1 else many)

    environment.install_gettext_callables(translate, translate_number, newstyle=True)  # type: ignore[attr-defined]
    environment.filters.update(
        clean=clean,
        number=format_number,
        day=format_day,
        clock=format_clock,
        when=format_when,
        size=format_size,
    )
    environment.globals.update(link=make_link, most_shown=SHOWN)
    return environment


def choose_language(request: Request) -> str:
    """Return the language of a request: as asked, as chosen before, or as the browser prefers."""
    for given in (request.query_params.get('lang'), request.cookies.get(LANGUAGE_COOKIE)):
        if given in LANGUAGES:
            return str(given)
    preferred = request.headers.get('accept-language', '').lower()
    first_of = {name: preferred.find(name) for name in LANGUAGES if name in preferred}
    return min(first_of, key=first_of.__getitem__, default='en')


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    language = choose_language(request)
    page = get_environment(language).get_template(template)
    html = page.render(
        visitor=request.scope.get(VISITOR),
        language=language,
        languages=LANGUAGES,
        path=request.url.path,
        query=dict(request.query_params),
        **values,
    )
    answer = HTMLResponse(html, status)
    if request.query_params.get('lang') in LANGUAGES:
        answer.set_cookie(
            LANGUAGE_COOKIE, language, max_age=365 * 86400, httponly=True, samesite='strict'
        )
    return answer


def clean(text: Any) -> str:
    """
    Return a text as a page shows it: what is no letter of a line is a visible replacement.

    Controls, unpaired surrogates and marks that change the direction of the page around them
    (bidi overrides and isolates) would hide or move what stands beside a text.
    """
    return ''.join(
        letter if letter in '\n\t' or not _is_unsafe(letter) else '\N{REPLACEMENT CHARACTER}'
        for letter in str(text)
    )


def _is_unsafe(letter: str) -> bool:
    return unicodedata.category(letter) in ('Cc', 'Cs') or letter in BIDI


def make_link(path: str, values: dict[str, Any], **changes: Any) -> str:
    """Return a path with the values that are given; one that is empty or None is left out."""
    given = {**values, **changes}
    query = urlencode({name: value for name, value in given.items() if value not in ('', None)})
    return f'{path}?{query}' if query else path


def format_number(value: Any, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands separated."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return clean(value)
    if isinstance(value, int) or not math.isfinite(value):
        return f'{value:,}'
    if value and not 1e-4 <= abs(value) < 1e15:
        return f'{value:.{digits - 1}e}'
    places = max(0, digits - 1 - (math.floor(math.log10(abs(value))) if value else 0))
    text = f'{value:,.{places}f}'
    return text.rstrip('0').rstrip('.') if '.' in text else text


def format_size(count: float) -> str:
    """Return a number of bytes in words."""
    for unit in ('B', 'kB', 'MB', 'GB'):
        if count < 1000:
            return f'{format_number(count)} {unit}'
        count /= 1000
    return f'{format_number(count)} TB'


def format_day(stamp: str) -> str:
    """Return the date of an ISO 8601 time."""
    return stamp[:10]


def format_clock(stamp: str) -> str:
    """Return the time of day of an ISO 8601 time, to the second."""
    return stamp[11:19]


def format_when(stamp: str | None) -> str:
    """Return an ISO 8601 time as date and time of day."""
    return '' if not stamp else f'{stamp[:10]} {stamp[11:19]}'
