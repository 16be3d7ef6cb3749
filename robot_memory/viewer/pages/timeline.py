"""The timeline: everything by measured time, with a density strip to jump in time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.records import PERCEPTION_TYPES
from robot_memory.tools.list_timeline import ListTimelineResponse
from robot_memory.viewer.rendering import make_link, render
from robot_memory.viewer.site import get_site, get_visitor

PAGE = 50
BUCKETS = 48
FILTERS = {
    'kind': 'kind',
    'sense': 'perception_type',
    'detector': 'sense.detector',
    'category': 'category',
    'collection': 'collection',
    'session': 'session_id',
    'person': 'actor_id',
    'recording': 'sense.recording',
}
"""Names of the filters in an address, and of the fields that they are of."""
KINDS = ('fact', 'perception', 'turn')


async def show_timeline(request: Request) -> Response:
    """Return a page of the timeline, newest first, with the filters of the address."""
    asked = request.query_params
    site, who = get_site(request), get_visitor(request).writer
    given = {name: asked.get(name, '').strip() for name in (*FILTERS, 'place')}
    window = {name: asked.get(name, '').strip() for name in ('since', 'until')}
    where: dict[str, Any] = {field: given[name] for name, field in FILTERS.items() if given[name]}
    arguments: dict[str, Any] = {'limit': PAGE, 'buckets': BUCKETS, 'where': where, **window}
    if given['place']:
        arguments['near'] = {'in': given['place']}
    if asked.get('cursor'):
        arguments['cursor'] = asked['cursor']
    refused, found = '', None
    try:
        found = await site.calls.ask(who, 'list_timeline', **arguments)
    except InvalidArgument as error:
        refused = str(error)
    kept = {name: value for name, value in {**given, **window}.items() if value}
    return render(
        request,
        'timeline.html',
        400 if refused else 200,
        found=found,
        bars=[] if found is None else _make_bars(found, kept),
        given={**given, **window},
        kept=kept,
        kinds=KINDS,
        senses=PERCEPTION_TYPES,
        refused=refused,
        is_first=not asked.get('cursor'),
    )


def _make_bars(found: ListTimelineResponse, kept: dict[str, str]) -> list[dict[str, Any]]:
    """Return the bars of the density strip: count, height in percent, times, and a link each."""
    counts = found.density
    most = max(counts, default=0)
    if not most:
        return []
    assert found.density_from is not None and found.bucket_seconds is not None
    first = datetime.fromisoformat(found.density_from)
    step = timedelta(seconds=found.bucket_seconds)
    starts = [(first + number * step).isoformat() for number in range(len(counts) + 1)]
    return [
        {
            'count': count,
            # What is rare among many is seen, too.
            'height': max(4, round(100 * count / most)) if count else 0,
            'since': starts[number],
            'until': starts[number + 1],
            'link': make_link('/', kept, since=starts[number], until=starts[number + 1]),
        }
        for number, count in enumerate(counts)
    ]
