"""Settings that nobody gave: from the environment and from ~/.sage/config.json."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prepared
import pytest
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory
from robot_memory.core import configuration
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder

DOCUMENT = {
    'retrieval': {
        'strategy': 'HYBRID_ADVANCED',
        'max_results': 5,
        'similarity_threshold': 0.5,
        'enable_rerank': True,
        'enable_neural_rerank': True,
        'enable_llm_summary': True,
        'rerank_top_k': 20,
        'summary_max_tokens': 500,
    },
    'embedding': {
        'model': 'Qwen/Qwen3-Embedding-8B',
        'dimension': 4096,
        'batch_size': 100,
        'timeout': 30,
    },
    'cache': {'enabled': True, 'ttl_seconds': 300, 'max_size': 1000, 'eviction_policy': 'lru'},
    'storage': {
        'compression': 'gzip',
        'encryption': 'aes-256-gcm',
        'backup_interval': 'daily',
        'retention_days': 365,
    },
}
"""The document's own file."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a file, an environment without a say, and nothing told yet."""
    monkeypatch.setenv('HOME', str(tmp_path))
    for name in list(os.environ):
        if name.startswith(('SAGE_', 'DB_', 'DATABASE_', 'SILICONFLOW_', 'ROBOT_MEMORY_DB')):
            monkeypatch.delenv(name)
    monkeypatch.setattr(configuration, '_logged', set())
    return tmp_path


def write(home: Path, content: Any) -> Path:
    path = home / '.sage' / 'config.json'
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def found(**given: Any) -> tuple[Settings, configuration.Fallbacks]:
    return configuration.load_settings(given, 'test')


def test_without_an_environment_and_a_file_there_are_only_defaults() -> None:
    settings, told = found()
    assert settings == Settings()
    assert told == configuration.Fallbacks()


def test_a_parameter_wins_over_the_environment_and_that_over_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, {'retrieval': {'max_results': 7}, 'cache': {'ttl_seconds': 70}})
    assert (found()[0].default_results, found()[0].cache_ttl) == (7, 70)
    monkeypatch.setenv('SAGE_MAX_RESULTS', '8')
    assert (found()[0].default_results, found()[0].cache_ttl) == (8, 70)
    settings, _ = found(default_results=9, cache_ttl=0)
    assert (settings.default_results, settings.cache_ttl) == (9, 0)


@pytest.mark.parametrize(
    ('variable', 'text', 'name', 'value'),
    [
        ('SAGE_MAX_RESULTS', '12', 'default_results', 12),
        ('SAGE_CACHE_TTL', '0', 'cache_ttl', 0),
        ('SAGE_DEBUG', 'True', 'debug', True),
        ('SAGE_DEBUG', '0', 'debug', False),
        ('DATABASE_URL', 'sqlite:////data/robot.db', 'db_path', '/data/robot.db'),
        ('DATABASE_URL', 'sqlite:///robot.db', 'db_path', 'robot.db'),
    ],
)
def test_the_environment_of_the_document_is_read(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, name: str, value: Any
) -> None:
    monkeypatch.setenv(variable, text)
    settings, told = found()
    assert getattr(settings, name) == value
    assert told.warnings == told.notes == []


@pytest.mark.parametrize(
    ('variable', 'text', 'said'),
    [
        (
            'SAGE_MAX_RESULTS',
            'many',
            "ignoring SAGE_MAX_RESULTS='many': default_results must",
        ),
        ('SAGE_MAX_RESULTS', '0', 'must be 1 to 50, not 0'),
        ('SAGE_CACHE_TTL', '-1', 'cache_ttl must be'),
        ('SAGE_DEBUG', 'perhaps', 'debug must be true or false'),
    ],
)
def test_a_value_that_is_not_accepted_is_told_and_the_default_holds(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, said: str
) -> None:
    monkeypatch.setenv(variable, text)
    settings, told = found()
    assert settings == Settings()
    assert len(told.warnings) == 1 and said in told.warnings[0]


@pytest.mark.parametrize(
    'url',
    ['postgresql://mem:secret@localhost:5432/mem', 'postgres://h/d', 'sqlite://', 'robot.db'],
)
def test_a_database_that_is_no_file_is_refused_and_no_password_is_shown(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv('DATABASE_URL', url)
    with pytest.raises(InvalidArgument, match='accepted is sqlite:///path/memory.db') as caught:
        found()
    assert 'secret' not in str(caught.value)
    assert found(db_path='mine.db')[0].db_path == 'mine.db'
    monkeypatch.setenv('ROBOT_MEMORY_DB', 'own.db')
    assert found()[0].db_path == ''


def test_a_database_server_is_noted_as_without_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('DB_HOST', 'DB_PASSWORD', 'SILICONFLOW_API_KEY'):
        monkeypatch.setenv(name, 'secret')
    settings, told = found()
    assert settings == Settings() and told.warnings == []
    assert [text.split(' have ')[0].split(' has ')[0] for text in told.notes] == [
        'DB_HOST, DB_PASSWORD',
        'SILICONFLOW_API_KEY',
    ]
    assert 'secret' not in ''.join(told.notes)


def test_the_documents_own_file_is_read(home: Path) -> None:
    write(home, DOCUMENT)
    settings, _ = found()
    assert (settings.default_results, settings.default_threshold) == (5, 0.5)
    assert (settings.batch_size, settings.plugin_timeout) == (100, 30.0)
    assert (settings.model, settings.dimension) == ('', 0)
    assert (settings.backup_compression, settings.backup_interval) == ('gzip', 'daily')
    assert (settings.retention_days, settings.encryption) == (365, 'none')


def test_what_of_the_documents_own_file_is_not_available_is_told(home: Path) -> None:
    write(home, DOCUMENT)
    _, told = found()
    lacking = ('enable_neural_rerank', 'enable_llm_summary', 'encryption', 'embedding.model')
    assert len(told.warnings) == len(lacking)
    for name in lacking:
        (text,) = (text for text in told.warnings if name in text)
        assert text.startswith('not available: ')
    noted = ('rerank_top_k', 'summary_max_tokens', 'backup_interval')
    assert all(name in text for name, text in zip(noted, told.notes, strict=True))


@pytest.mark.parametrize(
    ('content', 'name', 'value'),
    [
        ({'retrieval': {'strategy': 'AGGRESSIVE'}}, 'default_strategy', 'AGGRESSIVE'),
        ({'cache': {'enabled': False}}, 'cache_size', 0),
        ({'cache': {'max_size': 5}}, 'cache_size', 5),
    ],
)
def test_the_file_sets_what_it_names(home: Path, content: Any, name: str, value: Any) -> None:
    write(home, content)
    settings, told = found()
    assert getattr(settings, name) == value and told.warnings == []


@pytest.mark.parametrize(
    ('content', 'said'),
    [
        ('{', 'is not valid JSON'),
        ('[]', 'not a JSON object'),
        ({'cache': 5}, 'ignoring cache'),
        ({'cache': {'ttl_seconds': 'soon'}}, 'cache_ttl must be an integer'),
        ({'retrieval': {'max_results': 1e9}}, 'default_results must be 1 to 50'),
        ({'retrieval': {'speed': 'high'}}, 'retrieval.speed is unknown'),
        ({'retrieval': {'enable_rerank': False}}, 'not available: retrieval.enable_rerank'),
        ({'cache': {'eviction_policy': 'fifo'}}, 'not available: cache.eviction_policy'),
    ],
)
def test_a_file_that_is_wrong_is_told_and_ends_nothing(
    home: Path, content: Any, said: str
) -> None:
    write(home, content)
    settings, told = found()
    assert settings == Settings()
    assert len(told.warnings) == 1 and said in told.warnings[0]


def test_a_file_that_cannot_be_read_is_told(home: Path) -> None:
    path = home / '.sage' / 'config.json'
    path.mkdir(parents=True)
    assert 'Is a directory' in found()[1].warnings[0]


def test_a_model_that_is_a_folder_is_taken_and_its_dimension_held_against_it(
    home: Path, tiny_models: dict[int, Path]
) -> None:
    write(home, {'embedding': {'model': str(tiny_models[8]), 'dimension': 16}})
    settings, told = found()
    assert (settings.model, settings.dimension, told.warnings) == (str(tiny_models[8]), 16, [])
    embedder = BackgroundEmbedder(settings.model, dimension=settings.dimension)
    embedder.start()
    assert embedder.wait(HANG_SECONDS) is None
    assert 'has dimension 8, but the setting dimension is 16' in embedder.reason
    fitting = BackgroundEmbedder(settings.model, dimension=8)
    fitting.start()
    assert fitting.wait(HANG_SECONDS) is not None


def test_each_is_told_once_in_a_process(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(home, DOCUMENT)
    with caplog.at_level(logging.INFO, 'robot_memory.core.configuration'):
        for _ in range(2):
            with RobotMemory(tmp_path / 'm.db', model='none') as memory:
                assert memory.memory.settings.batch_size == 100
    told = [record.getMessage() for record in caplog.records if 'configuration' in record.name]
    assert len(told) == len(set(told)) == 7


def test_the_command_line_reads_them_and_tells_them_when_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, DOCUMENT)
    monkeypatch.setenv('DATABASE_URL', f'sqlite:///{home}/cell.db')
    arguments = [sys.executable, '-m', 'robot_memory', '--model', 'none', 'learn', 'Cups break']
    quiet = prepared.run(arguments, capture_output=True, text=True)
    assert (quiet.returncode, quiet.stderr) == (0, '')
    assert (home / 'cell.db').exists()
    loud = prepared.run([*arguments, '--verbose'], capture_output=True, text=True)
    assert loud.stderr.count('not available: storage.encryption') == 1
    monkeypatch.setenv('DATABASE_URL', 'postgresql://mem:mem@localhost/mem')
    refused = prepared.run(arguments, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.startswith('robot-memory: [invalid_argument] DATABASE_URL')


def test_the_tools_bring_as_many_as_was_set_up(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(default_results=2, default_threshold=0.0, default_strategy='aggressive')
    for i in range(6):
        robot.learn(f'The red cup {i} is in the kitchen')
    assert len(robot.search_memory('red cup').result) == 2
    assert len(robot.search_memory('red cup', n=4).result) == 4
    found = robot.get_context('red cup')
    assert (found.num_results, found.strategy_used) == (2, 'AGGRESSIVE')
    assert robot.search_memory('red cup', threshold=1.0).result == ()
    unset = open_robot(name='unset', default_strategy='NO_SUCH')
    with pytest.raises(InvalidArgument, match="not 'NO_SUCH'"):
        unset.get_context('cup')


def test_no_question_is_kept_where_the_cache_has_no_room(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, BackgroundEmbedder]
) -> None:
    robot = open_robot(embedder=tiny_embedders[8], cache_size=0)
    robot.learn('The red cup')
    for _ in range(2):
        robot.recall('red cup')
    assert robot.memory.registry.get_count('query_cache_hits') == 0
    assert robot.memory.registry.get_count('query_cache_misses') >= 2
