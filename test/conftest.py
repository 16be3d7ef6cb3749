"""Real stores on temporary files, real models, and a clock that moves when it is told to."""

from __future__ import annotations

import dataclasses
import gc
import logging
import math
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from domains import claimed_domain
from hypothesis import HealthCheck, settings
from robots import REVISIONS, MovableClock, Robot, make_model, open_at
from waiting import HANG_SECONDS
from watched import Watch, build_library

from robot_memory.client.loopback import exempt_loopback
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.locate import find_default_directory
from robot_memory.storage import connection

if TYPE_CHECKING:
    from recordings import Messages

    from robot_memory.mcp_server import HttpBridge

# How long an example takes says how busy the machine is.
settings.register_profile(
    'any machine', deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile('any machine')

# Tests talk to servers of their own on this machine, whatever proxy the shell names.
exempt_loopback(os.environ)
USER_FOLDERS = (
    'MPLCONFIGDIR',
    'ROS_HOME',
    'ROS_LOG_DIR',
    'XDG_CACHE_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_STATE_HOME',
)
"""Variables that lead programs to folders of the user's outside of HOME."""
DISCOVERY = Path(__file__).with_name('discovery.xml')


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of ROS, which take longest, each with one that waits less beside it."""
    folder = Path(__file__).with_name('ros')
    files = dict.fromkeys(item.path for item in items)
    ros = [path for path in files if path.is_relative_to(folder)]
    others = [path for path in files if path not in ros]
    places = {path: place for kind in (ros, others) for place, path in enumerate(kind)}
    items.sort(key=lambda item: (places[item.path], item.path not in ros))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking again and again at what stays until the end."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _log_again() -> Iterator[None]:
    """Let loggers log after a test that ran the command line, which disables them."""
    yield
    logging.disable(logging.NOTSET)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what workers cannot send: a captured log may hold half of a surrogate pair."""
    report = yield
    report.sections = [
        (name, text.encode(errors='backslashreplace').decode()) for name, text in report.sections
    ]
    return report


@pytest.fixture(scope='session', autouse=True)
def _folders_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """
    Lead what tests and their processes write for a user to temporary folders.

    The model alone is the user's own: it is made once on a machine.
    """
    models = find_default_directory().parents[1]
    models.mkdir(parents=True, exist_ok=True)
    home = tmp_path_factory.mktemp('home')
    (home / '.cache').mkdir()
    (home / '.cache' / models.name).symlink_to(models)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('HOME', str(home))
        patch.setenv('TMPDIR', str(tmp_path_factory.mktemp('tmp')))
        patch.setattr('tempfile.tempdir', None)
        patch.setenv('LANGUAGE', 'C')  # else a command looks 200 times for translated words
        # Each client would read all authorities of the system, and no server here shows one.
        patch.setenv('SSL_CERT_DIR', str(tmp_path_factory.mktemp('certificates')))
        for name in USER_FOLDERS:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope='session', autouse=True)
def _domain_of_their_own() -> Iterator[None]:
    """Keep two runs on one machine from hearing each other's nodes."""
    with claimed_domain() as number, pytest.MonkeyPatch.context() as patch:
        patch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
        patch.setenv('ROS_DOMAIN_ID', str(number))
        patch.setenv('FASTDDS_DEFAULT_PROFILES_FILE', str(DISCOVERY))
        yield


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def open_robot(tmp_path: Path, clock: MovableClock) -> Iterator[Callable[..., Robot]]:
    """Open robots on one file, `name`.db, and close them at the end."""
    opened: list[Robot] = []

    def open_one(
        model: str = 'none',
        name: str = 'memory',
        resident: bool = True,
        embedder: BackgroundEmbedder | str | None = None,
        second: BackgroundEmbedder | None = None,
        **settings: Any,
    ) -> Robot:
        path = tmp_path / f'{name}.db'
        opened.append(open_at(path, model, resident, clock, embedder, second, **settings))
        return opened[-1]

    yield open_one
    for robot in opened:
        robot.close()


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """A copy of the store that a file of tests has `filled` once."""
    return Path(shutil.copy(filled, tmp_path))


@pytest.fixture
def robot(open_robot: Callable[..., Robot]) -> Robot:
    """A memory of words only."""
    return open_robot()


@pytest.fixture
def as_operator(robot: Robot) -> Callable[[], None]:
    """Have calls of this process be those of an operator from now on."""

    def change() -> None:
        settings = dataclasses.replace(robot.memory.settings, python_role='operator')
        robot.memory.change_settings(settings)

    return change


@pytest.fixture(scope='session')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of an arm: 20 s of joint states, wrenches and images; only to read."""
    import recordings  # it needs rosbags, which not every test does

    return Path(recordings.RECORD(tmp_path_factory.mktemp('made') / 'ur5e'))


@pytest.fixture(scope='session')
def turned(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Path:
    """Return that recording with the weight of a tool that the joints turn for its wrench."""
    import recordings

    return recordings.weigh(made, tmp_path_factory.mktemp('made') / 'turned')


@pytest.fixture(scope='session')
def messages(made: Path) -> Messages:
    """Return topic, type, time and content of the messages of that recording."""
    import recordings

    return recordings.messages_of(made)


@pytest.fixture(scope='session')
def real_embedder() -> BackgroundEmbedder:
    """The default model, loaded once for all tests."""
    embedder = BackgroundEmbedder()
    embedder.start()
    if embedder.wait(HANG_SECONDS) is None:
        pytest.skip(f'the real model cannot be had: {embedder.reason}')
    return embedder


@pytest.fixture
def thinking_robot(open_robot: Callable[..., Robot], real_embedder: BackgroundEmbedder) -> Robot:
    """A memory of words and meaning."""
    robot = open_robot('', embedder=real_embedder)
    robot.embed_all()
    return robot


@pytest.fixture(scope='session')
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Two small ONNX models by their dimension: the mean of fixed vectors of the words."""
    folder = tmp_path_factory.mktemp('models')
    return {dimension: make_model(folder / f'd{dimension}', dimension) for dimension in (8, 16)}


@pytest.fixture(scope='session')
def tiny_embedders(tiny_models: dict[int, Path]) -> dict[int, BackgroundEmbedder]:
    embedders = {}
    for dimension, folder in tiny_models.items():
        embedders[dimension] = BackgroundEmbedder(str(folder))
        embedders[dimension].start()
        assert embedders[dimension].wait(HANG_SECONDS), embedders[dimension].reason
    return embedders


@pytest.fixture(scope='session')
def english_embedder(tmp_path_factory: pytest.TempPathFactory) -> BackgroundEmbedder:
    """A small model of English only, to be asked beside another one."""
    folder = make_model(tmp_path_factory.mktemp('models') / 'english', 12)
    (folder / 'robot_memory.json').write_text('{"name": "english", "languages": ["en"]}')
    embedder = BackgroundEmbedder(str(folder))
    embedder.start()
    assert embedder.wait(HANG_SECONDS), embedder.reason
    return embedder


@pytest.fixture(scope='session')
def watching_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp('watched'))


@pytest.fixture
def watch(tmp_path: Path, watching_library: Path) -> Watch:
    """A fresh home for processes whose look-ups, addresses and files are noted."""
    (tmp_path / 'home/tmp').mkdir(parents=True)
    (tmp_path / 'watched.log').touch()
    return Watch(tmp_path / 'home', tmp_path / 'watched.log', watching_library)


@pytest.fixture
def _endless_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have writes wait for another process until it ends: no busy machine ends them before."""
    monkeypatch.setattr(connection, 'PATIENCE_SECONDS', math.inf)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    from http_requests import TOKEN

    file = tmp_path / 'token'
    file.write_text(f'{TOKEN}\n')
    file.chmod(0o600)
    return file


@pytest.fixture
def serve(robot: Robot) -> Iterator[Callable[..., HttpBridge]]:
    """Serve one memory over HTTP, as often as asked; all stop at the end."""
    from robot_memory.mcp_server import HttpBridge

    opened = []

    def open_one(**settings: Any) -> HttpBridge:
        bridge = HttpBridge(robot.memory, port=0, **settings)
        bridge.start()
        opened.append(bridge)
        return bridge

    yield open_one
    for bridge in opened:
        bridge.stop()


@pytest.fixture
def free(serve: Callable[..., HttpBridge]) -> HttpBridge:
    """A server on the loopback that asks for no token."""
    return serve()


@pytest.fixture
def guarded(serve: Callable[..., HttpBridge], token_file: Path) -> HttpBridge:
    """A server on every address of this machine, with a token."""
    return serve(host='0.0.0.0', token_file=str(token_file), allowed_hosts=['robot7.local', ''])


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the tests of the MCP face run on."""
    return 'asyncio'


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Each revision of the protocol in its turn."""
    return str(request.param)
