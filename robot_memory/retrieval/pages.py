"""The addresses of memories in the web viewer, in answers of who has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

from robot_memory.core.fields import arg
from robot_memory.core.settings import Settings

View = TypeVar('View', bound=Any)


def page_arg() -> Any:
    """Declare where the page of a memory is."""
    return arg(
        'Address of its page in the web viewer; only if viewer_url is set.',
        default=None,
        omitted=True,
    )


def make_page(viewer_url: str, memory_id: int) -> str:
    """Return the address of a memory's page."""
    return f'{viewer_url.rstrip("/")}/memories/{memory_id}'


def name_pages(
    settings: Settings,
    views: Iterable[View],
    get_id: Callable[[View], Any] = attrgetter('memory_id'),
) -> tuple[View, ...]:
    """Return views with the page of each that is of a memory, where a viewer is known."""
    if not settings.viewer_url:
        return tuple(views)
    return tuple(
        replace(view, page=make_page(settings.viewer_url, memory_id))
        if isinstance(memory_id := get_id(view), int)
        else view
        for view in views
    )
