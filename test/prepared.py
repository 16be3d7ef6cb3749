"""
Processes that begin with the package imported: of each start only the imports are saved.

`run` and `Popen` are those of subprocess, for the commands `python -m robot_memory`, `python -c`
and `memory_node`. A process of its own imports once and forks for every command, before anything
is opened; what is forked has its own id, arguments, environment, folder and streams, takes
signals and exits as any other, and is waited for by the test that started it. What is claimed of
the start itself (imports, entry points, encodings) is tested with subprocess.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import inspect
import io
import json
import locale
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from rosbags.typesys import Stores

_IMPORTS = (
    'robot_memory.cli',
    'robot_memory.api',
    'robot_memory.ingest.bag_import',
    'robot_memory.embedding.runtime',
    'robot_memory.mcp_server.http_server',
    'robot_memory.api.writer',
    'robot_memory.archive.reader',
    'robot_memory.ingest.import_files',
    f'rosbags.typesys.stores.{Stores.LATEST.value}',
)
_ROS_IMPORTS = (
    'robot_memory.msg',
    'robot_memory.srv',
    'robot_memory.action',
    *(
        f'{package}_msgs.msg'
        for package in (
            'action',
            'diagnostic',
            'geometry',
            'lifecycle',
            'rosgraph',
            'sensor',
            'std',
            'visualization',
        )
    ),
    'lifecycle_msgs.srv',
    'rcl_interfaces.msg',
    'rcl_interfaces.srv',
    'robot_memory.ros.interfaces',
    'robot_memory.ros.message_types',
    'type_description_interfaces.msg',
    'ament_index_python.packages',
    'robot_memory.background.backing_up',
    'robot_memory.background.folding',
    'robot_memory.background.part_checking',
    'robot_memory.ingest.tap_problems',
    'robot_memory.ros.typed_values',
    'robot_memory.status.node_state',
    'robot_memory.storage.admin.disk_reserve',
    'robot_memory.storage.admin.index_mending',
)
"""Those that start no thread; rclpy starts two, which a fork would lose."""
_SUBREAPER = 36
_LOCK = threading.Lock()
_LONGEST = 1 << 20
_AGAIN_SECONDS = 0.001


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """Start a command as a fork of the process that has imported the package."""

    def _execute_child(self, command: Sequence[Any], *given: Any) -> None:
        cwd, env = given[4:6]
        if 'LD_PRELOAD' in (env or os.environ):  # it is read when a program is loaded
            super()._execute_child(command, *given)  # type: ignore[misc]
            return
        stdin, stdin_ours, stdout_ours, stdout, stderr_ours, stderr = given[9:15]
        ours = {
            'command': [os.fsdecode(part) for part in command],
            'cwd': os.fspath(cwd or os.getcwd()),
            'env': {os.fsdecode(k): os.fsdecode(v) for k, v in (env or os.environ).items()},
        }
        streams = [stdin, stdout, stderr]
        fds = [number if fd == -1 else fd for number, fd in enumerate(streams)]
        with _LOCK:
            ask = _parent()
        self.pid = ask(ours, fds)
        self._child_created = True
        self._close_pipe_fds(  # type: ignore[attr-defined]
            stdin, stdin_ours, stdout_ours, stdout, stderr_ours, stderr
        )


def run(
    command: Sequence[Any],
    *,
    capture_output: bool = False,
    input: Any = None,
    timeout: float | None = None,
    check: bool = False,
    **given: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end, as subprocess.run does."""
    if capture_output:
        given |= {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    if input is not None:
        given['stdin'] = subprocess.PIPE
    with Popen(command, **given) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


@functools.cache
def _parent() -> Callable[[dict[str, Any], list[int]], int]:
    """Start the process that forks, and return what asks it for a child: its id is returned."""
    # A child whose parent is gone belongs to this process, which can wait for it.
    if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), 'this system lets no process adopt another')
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'},
        )
    atexit.register(_end, ours, process)

    def ask(command: dict[str, Any], fds: list[int]) -> int:
        told = json.dumps(command).encode()
        with _LOCK:
            socket.send_fds(ours, [len(told).to_bytes(8, 'big')], fds)
            ours.sendall(told)
            answer = ours.recv(8)
        if not answer:
            raise ChildProcessError(f'what forks ended with {process.wait()}')
        return int.from_bytes(answer, 'big')

    return ask


def _end(ours: socket.socket, process: subprocess.Popen[bytes]) -> None:
    ours.close()
    process.wait()


def _serve(asked: socket.socket) -> None:
    """Fork for every command that is asked for, until nobody is left to ask."""
    os.environ.pop('ORT_DISABLE_TELEMETRY', None)  # the package sets it when it is imported
    given = dict(os.environ)
    for name in _IMPORTS:
        import_module(name)
    with suppress(ImportError):  # where no ROS is, or the interfaces are not built
        for name in _ROS_IMPORTS:
            for kind in list(vars(import_module(name)).values()):
                if hasattr(kind, '__import_type_support__'):
                    kind.__import_type_support__()
    if (threads := len(os.listdir('/proc/self/task'))) != 1:
        raise RuntimeError(f'{threads} threads run after the imports: a fork would lose them')
    inspect.getmodule(sys._getframe())  # rclpy's logger asks, and Python looks at every module
    import_module('robot_memory.text.questions.warm_up').warm_up()  # each server does, for 0.5 s
    for text in ('Never exceed 5 N with the cup', '杯子不要超过5牛'):
        import_module('robot_memory.text.categories').classify(text)  # and so does all that learns
    gc.freeze()  # what every child has is copied to none
    from_imports = {k: v for k, v in os.environ.items() if given.get(k) != v}
    while True:
        head, fds, _, _ = socket.recv_fds(asked, 8, 3)
        if not head:
            return
        left, told = int.from_bytes(head, 'big'), b''
        while len(told) < left:
            told += asked.recv(min(left - len(told), _LONGEST))
        read, write = os.pipe()
        if (between := os.fork()) == 0:
            if (child := os.fork()) == 0:
                os.close(read)
                os.close(write)
                asked.close()
                _become(json.loads(told), fds, from_imports)
            os.write(write, child.to_bytes(8, 'big'))
            os.kill(os.getpid(), signal.SIGKILL)  # nothing is to be done at this end
        os.waitpid(between, 0)  # from here on the child is that of the test
        for fd in (write, *fds):
            os.close(fd)
        with os.fdopen(read, 'rb') as said:
            asked.sendall(said.read(8))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but in coverage's own functions only when they have ended."""
    while frame is not None:
        # There it would leave a lock that the next file to be measured waits for.
        if 'coverage' in Path(frame.f_code.co_filename).parts:
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
            return
        frame = frame.f_back
    signal.default_int_handler(number, frame)


def _list_library_folders() -> set[str]:
    return set(filter(None, os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep)))


def _become(told: dict[str, Any], fds: list[int], from_imports: dict[str, str]) -> None:
    """Be the command that is asked for; what the imports set in the environment is set again."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    for fd in fds:
        if fd > 2:
            os.close(fd)
    before = _list_library_folders()
    os.environ.clear()
    os.environ.update({**told['env'], **from_imports})
    for folder in _list_library_folders() - before:  # it is read when a program is loaded
        for library in sorted(Path(folder).glob('lib*.so')):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    os.chdir(told['cwd'])
    path = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    sys.path[:0] = [folder for folder in path if folder and folder not in sys.path]
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    encoding = locale.getpreferredencoding(False)
    unbuffered = bool(os.environ.get('PYTHONUNBUFFERED'))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding)
    for name, number in (('stdout', 1), ('stderr', 2)):
        raw = io.BufferedWriter(io.FileIO(number, 'w', closefd=False))
        errors = 'backslashreplace' if name == 'stderr' else 'strict'
        text = io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2 or unbuffered)
        setattr(sys, name, text)
    program, *rest = told['command']
    code = 0
    try:
        if program.endswith('memory_node'):
            sys.argv = [program, *rest]
            from robot_memory.ros.start import main

            main()
        elif rest[:2] == ['-m', 'robot_memory']:
            from robot_memory import __main__ as module

            sys.argv = [str(module.__file__), *rest[2:]]
            module.main()
        else:
            assert rest[0] == '-c', told
            sys.argv = ['-c', *rest[2:]]
            exec(compile(rest[1], '<string>', 'exec'), {'__name__': '__main__'})
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.exit(code)


if __name__ == '__main__':
    _serve(socket.socket(fileno=int(sys.argv[1])))
