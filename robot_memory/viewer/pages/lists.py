"""Rules in force, skills, sessions, and people."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from robot_memory.core.errors import NotFound
from robot_memory.retrieval.skill_reports import trace_skill
from robot_memory.storage.tables import names, trials
from robot_memory.viewer.charts import draw_successes
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site, get_visitor

RULES = ('constraint', 'gotcha', 'postmortem')
PAGE = 50
MOST_NAMES = 1000


async def show_rules(request: Request) -> Response:
    """Return the rules of a collection, whose they are, and what an operator must decide."""
    site, who = get_site(request), get_visitor(request).writer
    collection = request.query_params.get('collection', '').strip()
    where: dict[str, Any] = {'kind': 'fact', 'category': {'$in': list(RULES)}}
    if collection:
        where['collection'] = collection
    arguments: dict[str, Any] = {'where': where, 'limit': PAGE}
    if request.query_params.get('cursor'):
        arguments['cursor'] = request.query_params['cursor']
    found = await site.calls.ask(who, 'list_timeline', **arguments)
    review = None
    if who.authority == 'operator':
        review = await site.calls.ask(who, 'review')
    return render(request, 'rules.html', found=found, review=review, collection=collection)


async def list_skills(request: Request) -> Response:
    """Return the skills of a collection."""
    site = get_site(request)
    collection = request.query_params.get('collection', '').strip() or 'default'
    found = await site.calls.read(lambda connection: trials.list_skills(connection, collection))
    return render(request, 'skills.html', skills=found[:MOST_NAMES], collection=collection)


async def show_skill(request: Request) -> Response:
    """Return how a skill goes: its learning curve with Wilson intervals, and its situations."""
    site, who = get_site(request), get_visitor(request).writer
    skill = request.path_params['skill']
    collection = request.query_params.get('collection', '').strip() or 'default'
    report = await site.calls.ask(who, 'skill_report', skill=skill, collection=collection)
    trace = await site.calls.run(partial(trace_skill, site.memory, collection, skill))
    outcomes = [row.success for row in trace.rows if row.success is not None and not row.simulated]
    return render(
        request,
        'skill.html',
        report=report,
        collection=collection,
        intervals=draw_successes(outcomes),
        tries=len(outcomes),
    )


async def list_sessions(request: Request) -> Response:
    """Return sessions, the newest first."""
    site, who = get_site(request), get_visitor(request).writer
    arguments: dict[str, Any] = {'where': {'kind': 'session'}, 'descending': True, 'limit': PAGE}
    if request.query_params.get('cursor'):
        arguments['cursor'] = request.query_params['cursor']
    found = await site.calls.ask(who, 'query_events', **arguments)
    return render(request, 'sessions.html', found=found)


async def list_people(request: Request) -> Response:
    """Return who said or did something that is remembered."""
    site = get_site(request)
    after = request.query_params.get('after', '')
    found = await site.calls.read(
        lambda connection: names.list_actors(connection, after, PAGE + 1)
    )
    if after and not found:
        raise NotFound(f'no actor comes after {after[:128]!r}')
    return render(
        request, 'people.html', actors=found[:PAGE], more=found[PAGE - 1] if found[PAGE:] else ''
    )
