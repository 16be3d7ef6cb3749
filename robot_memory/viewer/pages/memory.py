"""A memory: text, pictures, curves, place, what it rests on, and what was done to it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from robot_memory.core.errors import NotFound, RobotMemoryError
from robot_memory.detectors import Signal
from robot_memory.retrieval.views import MemoryView
from robot_memory.storage.tables import event_keys, news
from robot_memory.tools.show import ShowResponse
from robot_memory.viewer.charts import Chart, draw_signal
from robot_memory.viewer.plans import draw_plan
from robot_memory.viewer.rendering import clean, render
from robot_memory.viewer.site import Site, get_site, get_visitor

MOST_PICTURES = 24
PICTURES = ('image/jpeg', 'image/png')


class Gone(NotFound):
    """A memory was there and is no more: it was erased, or its event was folded away."""


async def show_memory(request: Request) -> Response:
    """Return the page of a memory."""
    site, who = get_site(request), get_visitor(request).writer
    memory_id = int(request.path_params['memory_id'])
    found = await find_memory(request, memory_id)
    try:
        entries = (await site.calls.ask(who, 'history', memory_id=memory_id)).entries
    except RobotMemoryError:  # a folded memory has none
        entries = ()
    charts = await site.calls.run(lambda: _draw_charts(site, memory_id, found))
    plan = await site.calls.read(lambda connection: draw_plan(connection, found.memory))
    pictures = list_pictures(found)
    return render(
        request,
        'memory.html',
        memory=found.memory,
        shown=found,
        context=_split_context(found.memory),
        entries=entries,
        charts=charts,
        plan=plan,
        pictures=pictures[:MOST_PICTURES],
        more_pictures=max(0, len(pictures) - MOST_PICTURES),
        linked=found.linked or (),
    )


@dataclass(frozen=True)
class Picture:
    """Hold the name of a picture, and when it was taken: milliseconds after the first."""

    name: str
    at_ms: int | None
    text: str


def list_pictures(found: ShowResponse) -> list[Picture]:
    """Return the pictures of a memory in the order in which they were taken."""
    names = [
        part.name
        for part in found.parts
        if part.media_type in PICTURES and part.content is not None
    ]
    stamps = {name: int(stamp) for name in names if (stamp := _read_stamp(name))}
    first = min(stamps.values(), default=0)
    listed = []
    for name in sorted(names, key=lambda one: stamps.get(one, 0)):
        at_ms = None if name not in stamps else (stamps[name] - first) // 1_000_000
        when = '' if at_ms is None else f' {at_ms / 1000:.2f} s'
        listed.append(Picture(name, at_ms, f'{clean(name.rpartition(".")[0] or name)}{when}'))
    return listed


def _read_stamp(name: str) -> str:
    """Return the nanoseconds that the name of a part ends with; empty: it does not."""
    stamp = name.rpartition('.')[2]
    return stamp if stamp.isascii() and stamp.isdigit() else ''


async def send_part(request: Request) -> Response:
    """Return the bytes of a part: a picture to be shown, anything else to be stored as a file."""
    memory_id, name = int(request.path_params['memory_id']), request.path_params['name']
    found = await find_memory(request, memory_id)
    for part in found.parts:
        if part.name != name:
            continue
        if part.content is None:
            raise Gone(part.damage or f'part {clean(name)} was removed to make room')
        headers = {}
        if part.media_type not in PICTURES:
            headers['Content-Disposition'] = f'attachment; filename="memory_{memory_id}.npz"'
        return Response(part.content, media_type=part.media_type, headers=headers)
    raise NotFound(f'memory {memory_id} has no part {clean(name)[:100]}')


async def send_text(request: Request) -> Response:
    """Return the whole text of a memory as plain text."""
    found = await find_memory(request, int(request.path_params['memory_id']))
    return PlainTextResponse(found.memory.content)


async def find_memory(request: Request, memory_id: int) -> ShowResponse:
    """Return a memory as `show` does; raise Gone for one that was there."""
    site, who = get_site(request), get_visitor(request).writer
    try:
        found: ShowResponse = await site.calls.ask(who, 'show', memory_id=memory_id)
    except NotFound as error:
        now = await site.calls.read(lambda connection: news.read_news(connection, None))
        if memory_id <= now.highest:
            raise Gone(str(error)) from None
        raise
    return found


def _draw_charts(site: Site, memory_id: int, found: ShowResponse) -> list[Chart]:
    """Return the curves of a perception's signal."""
    content = next((one.content for one in found.parts if one.name == 'signal'), None)
    stamp = found.memory.stamp
    if content is None or stamp is None:
        return []
    with site.memory.db.read() as connection:
        key = event_keys.get(connection, memory_id)
    signal = Signal.from_npz(content)
    if not len(signal.stamps_ns):
        return []
    onset = key.onset if key else int(signal.stamps_ns[0])
    peak, end = (key.peak, key.end) if key else (onset, onset)
    data = found.data if isinstance(found.data, dict) else {}
    baseline = (*data.get('baseline_force', ()), *data.get('baseline_torque', ()))
    return draw_signal(signal, onset, peak, end, baseline)


def _split_context(memory: MemoryView) -> list[tuple[str, str]]:
    """Return the context as names and values, one line a partition."""
    try:
        context = json.loads(memory.context or '{}')
    except ValueError:
        return []
    return [
        (name, json.dumps(value, ensure_ascii=False, indent=1))
        for name, value in context.items()
        if value not in (None, {}, [])
    ]
