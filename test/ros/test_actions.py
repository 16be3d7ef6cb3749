"""The actions of a node, by real action clients: progress, cancel, and what a cancel leaves."""

from __future__ import annotations

import gzip
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from action_msgs.msg import GoalStatus
from managers import ACTIVATE, CONFIGURE, DEACTIVATE, Manager
from narrowing import require
from rclpy.action.client import ActionClient

import robot_memory.action
from robot_memory.api import RobotMemory

SUCCEEDED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED
CANCELED = GoalStatus.STATUS_CANCELED


class Caller:
    """Send goals to one action of a node; `told` are the feedback messages."""

    def __init__(self, robot: Any, name: str) -> None:
        self.robot = robot
        self.kind = getattr(robot_memory.action, name.capitalize())
        self.client: Any = ActionClient(robot.node, self.kind, f'/robot_memory/{name}')
        robot.until(self.client.server_is_ready, f'action {name}')
        self.told: list[Any] = []

    def send(self, heard: Callable[[Any], object] = lambda feedback: None, **goal: Any) -> Any:
        """Send a goal; return its handle once it is accepted."""

        def hear(message: Any) -> None:
            self.told.append(message.feedback)
            heard(message.feedback)

        sent = self.client.send_goal_async(self.kind.Goal(**goal), feedback_callback=hear)
        return self.robot.answer(sent, 'an answer to a goal')

    def result(self, handle: Any) -> Any:
        """Return the last status and the result of a goal."""
        assert handle.accepted
        answer = self.robot.answer(handle.get_result_async(), 'a result')
        return answer.status, answer.result

    def call(self, **goal: Any) -> Any:
        return self.result(self.send(**goal))

    def call_until(self, condition: Callable[[Any], bool], **goal: Any) -> Any:
        """Send a goal and cancel it once its feedback says what is wanted."""
        wanted: list[Any] = []
        handle = self.send(lambda said: wanted.append(said) if condition(said) else None, **goal)
        self.robot.until(lambda: wanted, 'that feedback')
        self.robot.answer(handle.cancel_goal_async(), 'an answer to a cancel')
        return self.result(handle)


def fill(path: Path, count: int, characters: int = 0) -> None:
    """Write an archive with so many memories, each that long, and one that another superseded."""
    with RobotMemory(str(path.parent / 'source.db'), model='none') as memory:
        first = require(memory.learn('The gripper of arm 1 opens at 3 N').memory_id)
        memory.update(first, 'The gripper of arm 1 opens at 5 N')
    header, *lines = _export(path.parent / 'source.db')
    one = json.loads(lines[0])
    made = [
        json.dumps(
            {
                **one,
                'id': number,
                'content': f'Cup {number} weighs {number} g',
                'context': {'seen': secrets.token_hex(characters // 2)},
                'origin': {**one['origin'], 'id': number},
                'audit': [],
            }
        )
        for number in range(1000, 1000 + count)
    ]
    counted = json.loads(header) | {'memories': len(lines) + count}
    path.write_text('\n'.join([json.dumps(counted), *lines, *made, '']))


@contextmanager
def hold(archive: Path) -> Iterator[threading.Event]:
    """
    Hold an archive's import in its midst until the event that is given is set.

    Pipes stand in its place: all of it is there to be checked at once, and more than a batch of
    it to be kept.
    """
    whole, pipe = archive.rename(archive.with_suffix('.whole')), archive.with_suffix('.pipe')
    lines = whole.read_bytes().splitlines(keepends=True)
    go_on = threading.Event()
    os.mkfifo(archive)
    os.mkfifo(pipe)

    def write() -> None:
        with open(archive, 'wb') as checked:
            checked.writelines(lines)
            pipe.replace(archive)  # before the first reading ends, and the second one begins
        with suppress(BrokenPipeError), open(archive, 'wb') as kept:
            kept.writelines(lines[:250])
            kept.flush()
            go_on.wait()
            kept.writelines(lines[250:])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield go_on
    go_on.set()
    writer.join()
    whole.replace(archive)


def _export(db: Path) -> list[str]:
    with RobotMemory(str(db), model='none') as memory:
        return memory.export('all', format='jsonl').content.splitlines()


def read_contents(db: Path) -> list[tuple[str, str]]:
    """Return the texts and statuses of a store's memories."""
    found = [json.loads(line) for line in _export(db)]
    return sorted((one['content'], one['status']) for one in found if one['kind'] == 'memory')


def test_an_export_writes_a_file_that_an_import_reads(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    node = start()
    assert robot.call('learn', insight='The lamp is on').success
    path = tmp_path / 'store.jsonl.gz'
    exporter = Caller(robot, 'export')
    status, result = exporter.call(session_id='all', path=str(path))
    assert status == SUCCEEDED and result.success, result.message
    assert (result.path, result.count, result.format) == (str(path), 1, 'jsonl')
    assert result.bytes == path.stat().st_size
    assert 'The lamp is on' in gzip.decompress(path.read_bytes()).decode()
    assert {said.step for said in exporter.told} <= {'', 'memories', 'file'}
    status, again = exporter.call(session_id='all', path=str(path))
    assert (status, again.success, again.error_code) == (ABORTED, False, 'conflict')
    status, known = Caller(robot, 'import').call(bags=[str(path)])
    assert (status, known.files, known.memories, known.known) == (SUCCEEDED, 1, 0, 1)
    assert node.stop() == 0


def test_goals_that_cannot_be_carried_out_are_aborted_in_words(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start()
    failing: list[tuple[str, dict[str, Any], str, str]] = [
        ('export', {'path': 'store.jsonl'}, 'invalid_argument', 'path must be an absolute path'),
        (
            'import',
            {'bags': ['/tmp/none of this']},
            'not_found',
            'no recording at /tmp/none of this',
        ),
        ('import', {'bags': ['here.mcap']}, 'invalid_argument', 'bags must be an absolute path'),
        ('erase', {'memory_ids': [1], 'reason': 'x'}, 'conflict', 'operator'),
        ('maintain', {'confirm': True}, 'invalid_argument', 'set reclassify'),
    ]
    for name, goal, code, words in failing:
        status, result = Caller(robot, name).call(**goal)
        assert (status, result.success, result.error_code) == (ABORTED, False, code), (name, goal)
        assert words in result.message
    assert node.stop() == 0


def test_a_cancelled_import_keeps_what_came_and_the_next_one_resumes(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    archive = tmp_path / 'source.jsonl'
    fill(archive, 450)
    node = start()
    importer = Caller(robot, 'import')
    with hold(archive) as go_on:
        handle = importer.send(bags=[str(archive)])
        robot.until(lambda: importer.told and importer.told[-1].done, 'a part to be kept')
        robot.answer(handle.cancel_goal_async(), 'an answer to a cancel')
        go_on.set()
        status, part = importer.result(handle)
    assert (status, part.success, part.error_code) == (CANCELED, False, '')
    assert 0 < part.memories < 451 and part.files == 0
    assert robot.call('get_memory_stats').total > 0
    status, rest = importer.call(bags=[str(archive)])
    assert (status, rest.known) == (SUCCEEDED, part.memories), rest.message
    assert node.stop() == 0
    assert read_contents(node.db) == read_contents_of_whole(tmp_path, archive)


def read_contents_of_whole(folder: Path, archive: Path) -> list[tuple[str, str]]:
    """Return what an import at once makes of an archive."""
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    return sorted((one['content'], one['status']) for one in lines if one['kind'] == 'memory')


def test_a_cancelled_export_leaves_no_file(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    archive, folder = tmp_path / 'source.jsonl', tmp_path / 'out'
    folder.mkdir()
    fill(archive, 300, characters=48_000)
    node = start()
    assert Caller(robot, 'import').call(bags=[str(archive)])[0] == SUCCEEDED
    exporter = Caller(robot, 'export')
    goal = {'session_id': 'all', 'path': str(folder / 'store.jsonl.gz')}
    status, result = exporter.call_until(lambda said: said.step == 'memories', **goal)
    assert (status, result.success) == (CANCELED, False)
    assert list(folder.iterdir()) == []
    assert exporter.call(**goal)[0] == SUCCEEDED
    assert [one.name for one in folder.iterdir()] == ['store.jsonl.gz']
    assert node.stop() == 0


def test_maintenance_is_told_step_by_step(start: Callable[..., Any], robot: Any) -> None:
    node = start()
    keeper = Caller(robot, 'maintain')
    status, result = keeper.call()
    names = [step.name for step in result.steps]
    assert (status, result.success) == (SUCCEEDED, True) and names[0] == 'retention'
    # Feedback is a topic: what comes behind the result is not heard any more.
    told = [(said.done, said.total) for said in keeper.told if said.total]
    assert told and told == sorted(told)
    assert all(names[said.done] == said.step for said in keeper.told if said.total)
    assert {total for _, total in told} == {len(names)}
    assert node.stop() == 0


def test_a_goal_that_waits_for_another_can_be_cancelled(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    archive = tmp_path / 'source.jsonl'
    fill(archive, 4000)
    node = start()
    importer, keeper = Caller(robot, 'import'), Caller(robot, 'maintain')
    running = importer.send(bags=[str(archive)])
    robot.until(lambda: importer.told, 'the import to go on')
    waiting = keeper.send()
    robot.answer(waiting.cancel_goal_async())
    robot.answer(running.cancel_goal_async())
    status, result = keeper.result(waiting)
    assert (status, result.success, len(result.steps)) == (CANCELED, False, 0)
    assert importer.result(running)[0] == CANCELED
    assert keeper.call()[0] == SUCCEEDED
    assert node.stop() == 0


def test_an_erasure_that_is_cancelled_after_its_rows_is_pending_and_goes_on(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(ros_role='operator')
    learned = robot.call('learn', insight='The secret of arm 7 is plumbago').memory_id
    eraser = Caller(robot, 'erase')
    status, preview = eraser.call(memory_ids=[learned], reason='asked to')
    assert (status, preview.status) == (SUCCEEDED, 'preview')
    status, done = eraser.call_until(lambda said: said.step == 'rows', token=preview.token)
    assert status in (SUCCEEDED, CANCELED)  # it may be too late for the cancel
    assert done.status in ('pending', 'erased') or (robot.call('show', memory_id=learned).success)
    status, done = (
        eraser.call(erasure=done.erasure) if done.erasure else eraser.call(token=preview.token)
    )
    robot.until(lambda: eraser.call(erasure=done.erasure)[1].status == 'erased', 'the proof')
    assert robot.call('show', memory_id=learned).error_code == 'not_found'
    assert b'plumbago' not in node.db.read_bytes()
    assert node.stop() == 0


def test_services_answer_while_a_goal_runs_and_the_end_does_not_wait_for_it(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    archive = tmp_path / 'source.jsonl'
    fill(archive, 4000)
    node = start()
    importer = Caller(robot, 'import')
    running: list[Any] = []
    handle = importer.send(running.append, bags=[str(archive)])
    robot.until(lambda: running and running[-1].total, 'the import to go on')
    assert robot.call('learn', insight='The lamp is on').success
    assert robot.call('recall', query='lamp', n=1).memories[0].content == 'The lamp is on'
    assert robot.call('analyze', analysis_type='SENTIMENT_ANALYSIS').error_code in (
        '',
        'not_found',
    )
    assert not handle.get_result_async().done()
    assert node.stop() == 0
    kept = read_contents(node.db)
    assert ('The lamp is on', 'active') in kept and len(kept) < 4000


def test_an_inactive_node_aborts_goals_and_a_deactivation_stops_one(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    archive = tmp_path / 'source.jsonl'
    fill(archive, 450)
    node = start(autostart='false', taps='[""]')
    manager = Manager(robot)
    assert manager.change(CONFIGURE) == [True]
    importer = Caller(robot, 'import')
    status, result = importer.call(bags=[str(archive)])
    assert (status, result.error_code) == (ABORTED, 'unavailable')
    assert 'ros2 lifecycle set' in result.message
    assert manager.change(ACTIVATE) == [True]
    with hold(archive) as go_on:
        handle = importer.send(bags=[str(archive)])
        robot.until(lambda: importer.told and importer.told[-1].done, 'a part to be kept')
        assert manager.change(DEACTIVATE) == [True]
        go_on.set()
        status, result = importer.result(handle)
    assert (status, result.error_code) == (ABORTED, 'unavailable')
    assert result.memories > 0
    assert manager.change(ACTIVATE) == [True]
    assert importer.call(bags=[str(archive)])[1].known == result.memories
    assert node.stop() == 0
