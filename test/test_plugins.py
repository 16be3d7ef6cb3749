"""Models, strategies and plugins of a site's own: real modules and real files, run or refused."""

from __future__ import annotations

import logging
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import require
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import Conflict, InvalidArgument, Unavailable
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.plugin import PluggedEmbedder
from robot_memory.plugins.registry import ExtensionRegistry
from robot_memory.plugins.timeouts import MAX_FAILURES, call_bounded
from robot_memory.storage.indexes import vectors

HEAD = """
import hashlib, math, threading, time
from sage_mcp import Plugin, Veto
from sage_mcp.embedding import BaseEmbedding
from sage_mcp.retrieval import BaseStrategy
"""
ENDLESS = 'threading.Event().wait()'


def limit(body: str) -> float:
    """Return the seconds that a call may take: few only where none is enough."""
    return 0.05 if ENDLESS in body else HANG_SECONDS


MODEL = """
class Letters(BaseEmbedding):
    version = 'one'

    def embed(self, text):
        vector = [0.0] * 256
        for word in text.lower().split():
            vector[hashlib.sha256(word.encode()).digest()[0]] += 1.0
        return vector

    @property
    def dimension(self):
        return 256
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Write modules that can be imported by the name that is returned."""
    folder = tmp_path / 'modules'
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    made: list[str] = []

    def make(text: str) -> str:
        made.append(f'site_module_{tmp_path.name}_{len(made)}'.replace('-', '_'))
        (folder / f'{made[-1]}.py').write_text(HEAD + textwrap.dedent(text))
        return made[-1]

    yield make
    for name in made:
        sys.modules.pop(name, None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of plugins."""
    folder = tmp_path / 'plugins'
    folder.mkdir()
    return folder


def plugin(folder: Path, body: str, name: str = 'mine') -> Path:
    path = folder / f'{name}.py'
    lines = textwrap.indent(textwrap.dedent(body), '    ')
    path.write_text(f'{HEAD}\nclass MyPlugin(Plugin):\n    name = "{name}"\n{lines}')
    return path


def said(robot: Robot) -> list[tuple[Any, ...]]:
    return robot.rows('SELECT role, content FROM conversations ORDER BY turn_id')


# Plugins


def test_no_code_is_run_that_was_not_named(
    open_robot: Callable[..., Robot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / '.sage' / 'plugins'
    folder.mkdir(parents=True)
    marker = tmp_path / 'it ran'
    (folder / 'found.py').write_text(f'open({str(marker)!r}, "w")')
    monkeypatch.setenv('HOME', str(tmp_path))
    robot = open_robot()
    assert robot.memory.extensions.loaded == () and not marker.exists()
    open_robot(name='other', plugin_dirs=('~/.sage/plugins',))
    assert marker.exists()


def test_a_plugin_changes_what_is_saved_before_it_is_written(
    open_robot: Callable[..., Robot], folder: Path
) -> None:
    plugin(folder, "def on_save(self, it): it['user'] = it['user'].upper()", 'a')
    plugin(
        folder,
        """
        def on_save(self, it):
            return {**it, 'metadata': {**it['metadata'], 'topic': 'cups'}}
        """,
        'b',
    )
    robot = open_robot(plugin_dirs=(str(folder),))
    robot.save_conversation('where is it?', 'On the shelf.')
    assert said(robot) == [('user', 'WHERE IS IT?'), ('assistant', 'On the shelf.')]
    assert robot.query_records(where={'topic': 'cups'}).total_count == 2


def test_a_veto_is_a_conflict_and_nothing_is_kept(
    open_robot: Callable[..., Robot], folder: Path
) -> None:
    plugin(folder, "def on_save(self, it): raise Veto('no secrets')", 'censor')
    robot = open_robot(plugin_dirs=(str(folder),))
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(Conflict, match='plugin censor rejected it: no secrets') as caught:
            robot.save_conversation('the code is 1234', 'Noted.')
    assert caught.value.code == 'conflict'
    assert robot.query_records().total_count == 0 and robot.rows('SELECT * FROM sessions') == []


@pytest.mark.parametrize(
    'body',
    [
        'raise KeyError("x")',
        'it.clear()',
        'it["user"] = ""',
        'it["assistant"] = 5',
        'it["user"] = "x" * 100_001',
        'it["user"] = "\\ud800"',
        'it["metadata"] = []',
        'it["metadata"]["x"] = float("nan")',
        'return "nothing"',
        'raise SystemExit(3)',
        ENDLESS,
    ],
)
def test_a_plugin_that_fails_breaks_no_save_and_is_let_be_after_five_failures(
    open_robot: Callable[..., Robot], folder: Path, caplog: pytest.LogCaptureFixture, body: str
) -> None:
    plugin(folder, f'def on_save(self, it):\n    {body}', 'bad')
    robot = open_robot(plugin_dirs=(str(folder),), plugin_timeout=limit(body))
    with caplog.at_level(logging.WARNING, 'robot_memory'):
        for i in range(MAX_FAILURES + 2):
            robot.save_conversation(f'Question {i}', f'Answer {i}')
    assert len(said(robot)) == 2 * (MAX_FAILURES + 2)
    assert said(robot)[0] == ('user', 'Question 0')
    (state,) = robot.memory.extensions.loaded
    assert (state.failures, state.disabled) == (MAX_FAILURES, True)
    told = [record.getMessage() for record in caplog.records if record.levelname == 'ERROR']
    assert len(told) == 1 and 'plugin bad failed 5 times in a row' in told[0]
    (shown,) = require(robot.sage_system_status().errors)['extensions']
    assert (shown['name'], shown['kind']) == ('bad', 'plugin')
    assert (shown['failures_in_a_row'], shown['disabled']) == (MAX_FAILURES, True)
    assert shown['last_error'] == state.last_error


def test_only_failures_in_a_row_count(open_robot: Callable[..., Robot], folder: Path) -> None:
    plugin(folder, "def on_save(self, it): assert 'good' in it['user']")
    robot = open_robot(plugin_dirs=(str(folder),))
    for _ in range(MAX_FAILURES - 1):
        robot.save_conversation('bad', 'one')
    robot.save_conversation('good', 'one')
    robot.save_conversation('bad', 'one')
    (state,) = robot.memory.extensions.loaded
    assert (state.failures, state.disabled) == (1, False)
    assert 'AssertionError' in state.last_error


def test_a_plugin_changes_what_was_found(folder: Path) -> None:
    plugin(folder, 'def on_retrieve(self, query, results): return results[::-1]', 'a')
    plugin(folder, "def on_retrieve(self, query, results): results[0]['content'] += query", 'b')
    plugin(folder, "def on_retrieve(self, query, results): return ['no result']", 'c')
    plugin(folder, 'pass', 'd')
    extensions = ExtensionRegistry(plugin_dirs=[str(folder)])
    results = [{'content': name, 'score': 0.5} for name in ('one', 'two')]
    found = extensions.run_retrieve_hooks('?', results)
    assert [one['content'] for one in found] == ['two?', 'one']
    assert found[0] == {'content': 'two?', 'score': 0.5, 'role': None, 'metadata': {}}
    assert [one['content'] for one in results] == ['one', 'two']
    assert [state.failures for state in extensions.loaded] == [0, 0, 1, 0]


def test_a_broken_file_of_plugins_is_told_and_the_others_are_used(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number, text in enumerate(('import nothing_of_this_name', 'def', 'raise ValueError')):
        (folder / f'broken_{number}.py').write_text(text)
    (folder / 'none.py').write_text(HEAD)
    (folder / '.hidden.py').write_text('raise ValueError')
    (folder / 'notes.txt').write_text('raise ValueError')
    plugin(folder, 'pass', 'whole')
    extensions = ExtensionRegistry(plugin_dirs=[str(folder)])
    assert [state.name for state in extensions.loaded] == ['whole']
    for name in ('broken_0', 'broken_1', 'broken_2', 'none'):
        assert f'{name}.py' in caplog.text
    assert 'hidden' not in caplog.text and 'notes' not in caplog.text


@pytest.mark.parametrize('writable', ['plugins/mine.py', 'plugins', '.'])
def test_code_that_everybody_may_write_is_not_run(
    folder: Path, tmp_path: Path, writable: str
) -> None:
    path = plugin(folder, 'pass')
    marker = tmp_path / 'it ran'
    path.write_text(f'open({str(marker)!r}, "w")')
    open_to_all = tmp_path / writable
    mode = open_to_all.stat().st_mode
    open_to_all.chmod(mode | 0o002)
    with pytest.raises(InvalidArgument, match=r'plugin_dirs: .* is world-writable.*chmod o-w'):
        ExtensionRegistry(plugin_dirs=[str(folder)])
    assert not marker.exists()
    open_to_all.chmod(mode)
    ExtensionRegistry(plugin_dirs=[str(folder)])
    assert marker.exists()


def test_a_link_to_code_that_everybody_may_write_is_not_run(folder: Path, tmp_path: Path) -> None:
    shared = tmp_path / 'shared'
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    (shared / 'theirs.py').write_text('raise AssertionError')
    (folder / 'mine.py').symlink_to(shared / 'theirs.py')
    with pytest.raises(InvalidArgument, match='world-writable'):
        ExtensionRegistry(plugin_dirs=[str(folder)])


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match='plugin_dirs: cannot read .*absent'):
        ExtensionRegistry(plugin_dirs=[str(tmp_path / 'absent')])


# Strategies


def test_a_strategy_is_found_by_its_name_and_given_the_memory(
    open_robot: Callable[..., Robot], module: Callable[[str], str]
) -> None:
    name = module("""
        class Newest(BaseStrategy):
            name = 'MY_NEWEST'

            def retrieve(self, query, limit):
                with self.memory.db.read() as connection:
                    rows = connection.execute('SELECT content FROM memories ORDER BY id DESC')
                    return [{'content': row[0]} for row in rows]
    """)
    robot = open_robot(strategies=(f'{name}:Newest',))
    for i in range(4):
        robot.learn(f'The cup {i} is red')
    assert robot.memory.extensions.names == ('MY_NEWEST',)
    found = robot.memory.extensions.find_strategy('my_newest')
    assert found is not None
    assert found.retrieve('', 2) == [
        {'content': f'The cup {i} is red', 'score': 0.0, 'role': None, 'metadata': {}}
        for i in (3, 2)
    ]
    assert robot.memory.extensions.find_strategy('other') is None


@pytest.mark.parametrize(
    ('body', 'said'),
    [
        ('return 5', 'results must be a list'),
        ('return [{"score": 1}]', 'must have content'),
        ('return [{"content": "x", "score": float("nan")}]', 'numeric score'),
        ('return [{"content": "x", "metadata": {1, 2}}]', 'cannot be stored as JSON'),
        ('raise KeyError("gone")', 'gone'),
        (ENDLESS, 'timeout after 0.05 s'),
    ],
)
def test_a_strategy_that_fails_is_told_and_switched_off_after_five_failures(
    module: Callable[[str], str], body: str, said: str
) -> None:
    name = module(f"""
        class Bad(BaseStrategy):
            def retrieve(self, query, limit):
                {body}
    """)
    extensions = ExtensionRegistry([f'{name}:Bad'], timeout=lambda: limit(body))
    bad = extensions.find_strategy('BAD')
    assert bad is not None
    for _ in range(MAX_FAILURES):
        with pytest.raises(Unavailable, match=f'strategy BAD failed.*{said}'):
            bad.retrieve('cup', 3)
    with pytest.raises(Unavailable, match='disabled after 5 failures'):
        bad.retrieve('cup', 3)


@pytest.mark.parametrize('named', ['nothing', 'no.such.module:X', 'json:nope', 'json:JSONDecoder'])
def test_a_strategy_that_is_none_is_told_at_the_start(named: str) -> None:
    with pytest.raises(InvalidArgument, match='strategies'):
        ExtensionRegistry([named])


def test_two_strategies_of_one_name_are_told(module: Callable[[str], str]) -> None:
    text = "class One(BaseStrategy):\n    name = 'ONE'\n    def retrieve(self, q, n): return []"
    with pytest.raises(InvalidArgument, match='ONE twice'):
        ExtensionRegistry([f'{module(text)}:One', f'{module(text)}:One'])


def test_a_strategy_that_a_package_offers_is_imported_when_it_is_asked_for(
    module: Callable[[str], str], tmp_path: Path
) -> None:
    text = 'class Offered(BaseStrategy):\n    def retrieve(self, q, n): return [{"content": q}]'
    name = module(text)
    info = tmp_path / 'modules' / 'site_package-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: site-package\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        f'[robot_memory.strategies]\noffered = {name}:Offered\n'
    )
    extensions = ExtensionRegistry()
    assert extensions.names == ('OFFERED',) and name not in sys.modules
    found = extensions.find_strategy('Offered')
    assert found is not None and found.retrieve('cup', 1)[0]['content'] == 'cup'
    assert name in sys.modules


# Models


def test_a_model_of_ones_own_finds_by_its_meaning(
    open_robot: Callable[..., Robot], module: Callable[[str], str]
) -> None:
    name = module(MODEL)
    robot = open_robot('', embedder=f'{name}:Letters')
    robot.embed_all()
    robot.learn('The red cup is on the shelf')
    robot.learn('The battery of the arm is flat')
    answer = robot.recall('red cup shelf')
    assert answer.mode == 'hybrid'
    assert answer.memories[0].content == 'The red cup is on the shelf'
    embedder = robot.memory.embedder.get_if_loaded()
    assert embedder is not None and embedder.name == f'{name}:Letters/one of 256'
    assert embedder.calibration.unrelated < embedder.calibration.paraphrase
    np.testing.assert_allclose(
        np.linalg.norm(embedder.embed_passages(['a b', 'c'])[0]), 1.0, rtol=1e-6
    )


def test_vectors_are_made_anew_when_the_model_is_another(
    open_robot: Callable[..., Robot],
    module: Callable[[str], str],
    tiny_embedders: dict[int, BackgroundEmbedder],
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8])
    robot.embed_all()
    robot.learn('The red cup is on the shelf')
    robot.close()
    for version in ('one', 'two'):
        name = module(MODEL.replace("'one'", f"'{version}'"))
        robot = open_robot('', resident=False, embedder=f'{name}:Letters')
        robot.embed_all()
        with robot.memory.db.read() as connection:
            known = vectors.model_of(connection)
            assert known is not None and known[0].endswith(f'Letters/{version} of 256')
            assert vectors.count_missing(connection) == 0
        robot.close()


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        ('return 256', 'return 0', 'dimension must be 1 to 8192, not 0'),
        ('return 256', 'return "many"', 'dimension must be'),
        ('return vector', 'return vector[1:]', 'must return 256 finite numbers'),
        ('return vector', 'return [0.0] * 256', 'not all zero'),
        ('return vector', 'return [math.nan] * 256', 'finite'),
        ('return vector', 'return None', 'embedder'),
        ('return vector', ENDLESS, 'timeout after 0.05 s'),
        ('class Letters(BaseEmbedding)', 'class Letters', 'not a subclass of BaseEmbedding'),
        ('def embed', 'def embeds', "abstract method '?embed"),
    ],
)
def test_a_model_that_is_none_is_told_and_words_answer(
    open_robot: Callable[..., Robot], module: Callable[[str], str], old: str, new: str, said: str
) -> None:
    name = module(MODEL.replace(old, new))
    with pytest.raises((InvalidArgument, Unavailable), match=said):
        PluggedEmbedder(f'{name}:Letters', lambda: limit(new))
    robot = open_robot('', embedder=f'{name}:Letters', plugin_timeout=limit(new))
    robot.learn('The red cup is on the shelf')
    assert robot.memory.embedder.wait(HANG_SECONDS) is None
    assert robot.memory.embedder.state == 'failed' and 'Letters' in robot.memory.embedder.reason
    assert robot.recall('red cup').mode == 'bm25_only'


def test_what_takes_too_long_is_not_waited_for() -> None:
    assert call_bounded(HANG_SECONDS, lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        call_bounded(HANG_SECONDS, lambda: 1 / 0)


ANNA, BOB = 'operator:anna', 'operator:bob'


def test_a_strategy_of_a_site_tells_no_more_than_was_asked_for(
    open_robot: Callable[..., Robot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'all_of_them.py').write_text(
        'from sage_mcp.retrieval import BaseStrategy\n'
        'class Everything(BaseStrategy):\n'
        '    name = "everything"\n'
        '    def retrieve(self, query, max_results):\n'
        '        return [{"content": f"memory {i}", "score": 1.0,'
        ' "metadata": {"memory_id": i}} for i in range(1, 20)] + [{"content": "a page"}]\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    robot = open_robot(strategies=('all_of_them:Everything',))
    robot.save_conversation('I like green tea.', 'ok', actor_id=ANNA)
    robot.save_conversation('I like black tea.', 'ok', actor_id=BOB)
    hers = {record.memory_id for record in robot.query_records(actor_id=ANNA).records}
    told = robot.get_context('tea', 50, 'everything', actor_id=ANNA)
    assert {one.metadata['memory_id'] for one in told.results} == hers
    anyones = robot.get_context('tea', 50, 'everything')
    assert len(anyones.results) == len(robot.query_records(limit=100).records) + 1
