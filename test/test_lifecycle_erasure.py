"""What an erasure takes and leaves, and that nothing brings it back."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import old_stores
import pytest
import test_background_folding as folding
from narrowing import require
from recordings import events_of, run
from robots import MovableClock, Robot, check_file
from test_tools_erase import erase, find_markers

from robot_memory.archive.reader import import_archive
from robot_memory.archive.writer import ExportScope, generate_lines
from robot_memory.background import folding as folder
from robot_memory.background import proof
from robot_memory.cli.responses import render
from robot_memory.cli.text import Paint
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.detectors import Pose
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.storage import checksums
from robot_memory.storage.admin.audit_check import check
from robot_memory.storage.tables import erased_texts, erasures
from robot_memory.storage.tables.transforms import Edge

ANNA, BOB = 'operator:anna', 'operator:bob'


@pytest.fixture
def robot(open_robot: Callable[..., Robot]) -> Robot:
    return open_robot(resident=False, python_role='operator')


def says(robot: Robot, actor: str, text: str, **more: Any) -> Any:
    return robot.learn(text, context={'actor_id': actor}, **more)


def verify(robot: Robot) -> None:
    """Check the audit with all its rows, and the file."""
    with robot.memory.db.read() as connection:
        assert check(connection, all_lines=True).problem == ''
    check_file(robot.memory.db.path)


def export(robot: Robot, path: Path) -> Path:
    """Write an archive of all."""
    with robot.memory.db.read() as connection:
        path.write_text(''.join(f'{line}\n' for line in generate_lines(connection, ExportScope())))
    return path


def test_an_actor_s_erasure_takes_what_the_actor_said_and_leaves_what_others_said(
    robot: Robot,
) -> None:
    own = require(says(robot, ANNA, 'the marmalade cup is on the shelf').memory_id)
    shared = require(says(robot, ANNA, 'the red door is closed').memory_id)
    assert says(robot, BOB, 'the red door is closed').observed
    other = require(says(robot, BOB, 'the blue plate is wet').memory_id)
    assert says(robot, ANNA, 'the blue plate is wet', session_id=None).observed
    mention = require(says(robot, BOB, 'anna likes the green lamp').memory_id)
    session = robot.start_session().session_id
    robot.save_conversation(
        'my pincode is zwetschge', 'noted', session_id=session, metadata={'actor_id': ANNA}
    )
    found = robot.erase(actor_id=ANNA, reason='asked for')
    assert own in require(found.memory_ids)
    ((answer,),) = robot.rows("SELECT memory_id FROM turns WHERE role = 'assistant'")
    assert (found.kept, found.mentions) == ((shared,), (mention, answer))
    done = robot.erase(token=require(found.token))
    assert done.status == 'erased', done.pending
    assert find_markers(['marmalade', 'zwetschge'], *robot.memory.db.files) == []
    assert robot.row(shared)['actor_id'] == BOB
    assert robot.contents(query='red door') == ['the red door is closed']
    left = {row[0] for row in robot.rows('SELECT id FROM memories')}
    assert {shared, other, mention} <= left and own not in left
    assert robot.rows('SELECT 1 FROM observations WHERE actor_id = ?', ANNA) == []
    assert robot.rows('SELECT 1 FROM memories WHERE actor_id = ?', ANNA) == []
    verify(robot)
    named = erase(robot, memory_ids=[mention])
    assert named.counts['memories'] == 1


def test_what_others_stored_beside_a_text_is_a_mention_too(robot: Robot) -> None:
    require(says(robot, ANNA, 'the red door is closed').memory_id)
    context = {'actor_id': BOB}
    seen = robot.save_perception('somebody left', 'visual', {'who': 'Anna'}, context=context)
    noted = robot.save_perception('somebody came', 'visual', {}, {'by': ANNA}, context=context)
    robot.save_perception('a door', 'visual', {'who': 'Bob'}, context=context)
    met = robot.learn('the plant is green', context={'env': {'who': 'Anna'}})
    found = robot.erase(actor_id=ANNA, reason='asked for')
    assert found.mentions == (seen.memory_id, noted.memory_id, met.memory_id)


@pytest.mark.parametrize(
    'written', ['Müller', 'MÜLLER', 'Mu\u0308ller', 'Mueller', 'MUELLER', 'Muller', 'ＭÜller']
)
@pytest.mark.parametrize('name', ['müller', 'Mu\u0308ller', 'Mueller'])
def test_a_name_is_a_mention_however_it_is_written(robot: Robot, name: str, written: str) -> None:
    actor = f'operator:{name}'
    says(robot, actor, 'the red door is closed')
    named = require(says(robot, BOB, f'{written} likes the green lamp').memory_id)
    says(robot, BOB, 'Miller likes the blue lamp')
    found = robot.erase(actor_id=actor, reason='asked for')
    is_told = (name, written) != ('Mueller', 'Muller')  # what is spelled out has no accent
    assert found.mentions == ((named,) if is_told else None)


def test_mentions_in_history_reasons_tags_sessions_and_collections_are_told(robot: Robot) -> None:
    says(robot, 'operator:jörg', 'the red door is closed')
    fine = require(says(robot, BOB, 'the plate is wet').memory_id)
    changed = require(says(robot, BOB, 'JÖRG has the key').memory_id)
    robot.update(changed, 'somebody has the key', {'actor_id': BOB})
    reason = require(says(robot, BOB, 'the lamp is green').memory_id)
    robot.forget(reason, 'Joerg asked for it')
    tagged = require(says(robot, BOB, 'the cup is blue').memory_id)
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET tags = ? WHERE id = ?', ('["jo\u0308rg"]', tagged))
    seen = require(says(robot, BOB, 'the shelf is full').memory_id)
    assert says(robot, 'operator:maria', 'the shelf is full').observed
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE observations SET text = ?', ('the shelf of Jörg is full',))
    placed = require(says(robot, BOB, 'the saw is sharp', collection='jorg_lab').memory_id)
    session = robot.start_session(title='Tour with Jörg').session_id
    robot.start_session(title='Tour with Maria')
    found = robot.erase(actor_id='operator:jörg', reason='asked for')
    assert found.mentions == (changed, reason, tagged, seen, placed)
    assert fine not in found.mentions
    told = [one for one in require(found.outside) if 'the actor in its' in one]
    assert told == [
        f'session {session} names the actor in its title: erase it by session_id',
        'collection jorg_lab has the name of the actor in its own: it goes with its memories',
    ]


def test_earlier_states_that_an_actor_said_go_and_the_present_one_stays(robot: Robot) -> None:
    kept = require(says(robot, ANNA, 'the zwetschge cup is red').memory_id)
    robot.update(kept, 'the cup is blue', {'actor_id': BOB})
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET actor_id = ? WHERE id = ?', (BOB, kept))
    done = erase(robot, actor_id=ANNA)
    assert done.status == 'erased', done.pending
    assert robot.row(kept)['content'] == 'the cup is blue'
    assert find_markers(['zwetschge'], *robot.memory.db.files) == []


def test_a_session_goes_with_its_turns_its_title_and_what_it_observed(robot: Robot) -> None:
    session = robot.start_session(context={'note': 'zwetschge'}, title='marmalade').session_id
    known = require(robot.learn('the red door is closed').memory_id)
    robot.learn('the red door is closed', {'by': 'quittengelee'}, session_id=session)
    own = robot.learn('the blue cup is wet', session_id=session)
    robot.save_conversation('where is the holunder', 'on the table', session_id=session)
    robot.end_session(session)
    done = erase(robot, session_id=session)
    assert done.status == 'erased', done.pending
    markers = ['zwetschge', 'marmalade', 'quittengelee', 'holunder', session]
    assert find_markers(markers[:4], *robot.memory.db.files) == []
    assert robot.rows('SELECT id FROM memories') == [(known,)]
    assert robot.rows('SELECT * FROM sessions') == []
    assert own.memory_id != known
    verify(robot)


def test_a_filter_takes_what_passes_active_or_not(robot: Robot) -> None:
    ids = [require(robot.learn(f'the cup {i} is red', {'n': i}).memory_id) for i in range(6)]
    robot.forget(ids[0], 'wrong')
    done = erase(robot, where={'n': {'$lt': 3}})
    assert done.counts['memories'] == 3
    assert robot.rows('SELECT id FROM memories') == [(one,) for one in ids[3:]]
    verify(robot)
    with pytest.raises(InvalidArgument, match='is an amount with a unit'):
        erase(robot, where={'n': {'$lt': '20 N'}})


def test_the_place_and_the_transforms_of_an_erased_event_go(robot: Robot) -> None:
    pose = Pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
    kept = []
    for second in range(3):
        stamp = 1_773_000_000_000_000_000 + second * 10**9
        told = Perception(
            f'touched the tray {second} times',
            'tactile',
            stamp=stamp,
            frame_id='map',
            pose={'position': [1, 2, 3], 'orientation': [0, 0, 0, 1]},
            transforms=[Edge('tool0', 'map', pose)],
        )
        kept.append(store_perception(robot.memory, told).memory_id)
    tree = 'SELECT stamp FROM transforms UNION SELECT stamp FROM transform_instants'
    assert len(robot.rows(tree)) == 3
    erase(robot, memory_ids=kept[:1])
    assert [row[0] % 10**10 // 10**9 for row in robot.rows(tree)] == [1, 2]
    found = robot.recall(near={'frame': 'map', 'position': [1, 2, 3], 'within': 0.1})
    assert {one.id for one in found.memories} == set(kept[1:])
    erase(robot, memory_ids=kept[1:])
    for table in ('transforms', 'transform_instants', 'placed', 'places', 'place_frames'):
        assert robot.rows(f'SELECT * FROM {table}') == []
    verify(robot)


def test_what_superseded_a_memory_goes_and_the_memory_stays(robot: Robot) -> None:
    old = require(robot.learn('the red cup slips').memory_id)
    new = require(robot.learn('the red cup slips at night', from_=f'mem_{old}').memory_id)
    assert robot.row(old)['superseded_by'] == new
    done = erase(robot, memory_ids=[new])
    assert done.status == 'erased', done.pending
    assert robot.row(old)['superseded_by'] is None
    verify(robot)


def test_a_preview_counts_observations_earlier_states_and_payload_parts(robot: Robot) -> None:
    told = require(robot.learn('the zwetschge cup is on shelf 3').memory_id)
    robot.learn('the zwetschge cup is on shelf 3', {'by': 'holunder'})
    robot.update(told, 'the zwetschge cup is on shelf 4')
    seen = robot.save_perception('a cup', 'visual', {'series': [*range(4000)]}).memory_id
    tables = {
        table: len(robot.rows(f'SELECT 1 FROM {table}'))
        for table in ('observations', 'revisions', 'parts')
    }
    assert all(tables.values())
    previewed = robot.erase(memory_ids=[told, seen], reason='asked for').counts
    assert {table: previewed[table] for table in tables} == tables
    done = erase(robot, memory_ids=[told, seen])
    assert done.counts == previewed
    assert not any(robot.rows(f'SELECT 1 FROM {table}') for table in tables)


def test_a_copy_that_a_merge_made_in_another_memory_goes_along(robot: Robot) -> None:
    old = require(robot.learn('the zwetschge cup slips', {'by': 'holunder'}).memory_id)
    new = require(robot.learn('the cup slips at night', from_=f'mem_{old}').memory_id)
    assert robot.rows('SELECT memory_id FROM observations') == [(new,)]
    previewed = robot.erase(memory_ids=[old], reason='asked for').counts
    assert previewed['observations'] == 1
    done = erase(robot, memory_ids=[old])
    assert done.status == 'erased', done.pending
    assert done.counts == previewed
    assert find_markers(['zwetschge', 'holunder'], *robot.memory.db.files) == []
    verify(robot)


def test_an_erased_event_of_a_digest_leaves_the_others_with_their_figures(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, 'RARE', 15)
    folding.fill(robot)
    assert folding.fold_to(robot, 0.02)
    ids = folding.folded_ids(robot)
    ((digest, number),) = robot.rows(
        'SELECT memory_id, count(*) FROM events WHERE id > 0 AND memory_id <> id'
        ' GROUP BY 1 ORDER BY 2 DESC LIMIT 1'
    )
    assert number > 1
    ((gone,),) = robot.rows(
        'SELECT id FROM events WHERE memory_id = ? AND id <> memory_id ORDER BY value_1 DESC'
        ' LIMIT 1',
        digest,
    )
    before = robot.row(digest)['content']
    done = erase(robot, memory_ids=[gone])
    assert done.status == 'erased', done.pending
    with pytest.raises(NotFound, match=rf'memory {gone} was erased on .* \(asked for\)'):
        robot.show(gone)
    after = robot.row(digest)['content']
    assert after != before and after.startswith(f'{number - 1} event')
    assert folding.folded_ids(robot) == [one for one in ids if one != gone]
    with robot.memory.db.read() as connection:
        bounds = connection.execute(
            'SELECT kind, hour, number, longest, high_1 FROM event_hours ORDER BY 1, 2'
        ).fetchall()
        true = connection.execute(
            'SELECT kind, onset / 3600000000000, count(*), max("end" - onset), max(value_1)'
            ' FROM events GROUP BY 1, 2 ORDER BY 1, 2'
        ).fetchall()
    assert bounds == true
    left = [one for one in ids if one != gone]
    rows = robot.rows('SELECT id FROM events WHERE memory_id = ? AND id <> memory_id', digest)
    ids = [row[0] for row in rows]
    found = robot.erase(memory_ids=[*ids, digest], reason='asked for')
    assert found.counts['events'] == number - 1
    assert found.counts == robot.erase(memory_ids=[digest], reason='asked for').counts
    found = robot.erase(memory_ids=ids, reason='asked for')
    assert found.memory_ids == (digest,)
    done = robot.erase(token=require(found.token))
    assert done.status == 'erased', done.pending
    assert done.counts == found.counts and found.counts['events'] == number - 1
    assert set(folding.folded_ids(robot)) < set(left)
    verify(robot)


def test_neither_an_archive_nor_a_recording_brings_back_what_was_erased(
    robot: Robot, open_robot: Callable[..., Robot], made: Path, tmp_path: Path
) -> None:
    run(robot.memory, made)
    robot.learn('the marmalade cup is red')
    other = open_robot(name='other', resident=False)
    other.learn('the zwetschge door is closed')
    foreign = export(other, tmp_path / 'other.jsonl')
    import_archive(robot.memory, foreign)
    archive = export(robot, tmp_path / 'all.jsonl')
    number = len(robot.rows('SELECT 1 FROM memories'))
    assert len(events_of(robot.memory)) == 8
    done = erase(robot, where={'memory_id': {'$gt': 0}})
    assert done.counts['memories'] == number
    assert done.status == 'erased', done.pending
    again, _ = run(robot.memory, made)
    assert (again.kept, again.known) == (0, 8)
    assert import_archive(robot.memory, archive).erased == number
    assert import_archive(robot.memory, foreign).erased == 1
    assert robot.rows('SELECT 1 FROM memories') == []
    columns = ', '.join(
        row[1] for row in robot.rows('PRAGMA table_info(tombstones)') if row[1] != 'end'
    )
    held = repr(robot.rows(f'SELECT {columns} FROM tombstones'))
    assert 'marmalade' not in held and 'contact' not in held
    verify(robot)


def test_a_folded_event_that_was_erased_is_not_brought_back_by_an_archive(
    robot: Robot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(folder, 'RARE', 15)
    folding.fill(robot)
    whole = export(robot, tmp_path / 'whole.jsonl')
    folding.fold_to(robot, 0.02)
    folded = export(robot, tmp_path / 'folded.jsonl')
    gone = folding.folded_ids(robot)[0]
    erase(robot, memory_ids=[gone])
    before = robot.rows('SELECT id FROM events ORDER BY id')
    for archive in (whole, folded):
        assert import_archive(robot.memory, archive).erased == 1
    assert robot.rows('SELECT id FROM events ORDER BY id') == before


def test_what_a_topic_said_does_not_come_back_at_its_stamps(robot: Robot) -> None:
    from robot_memory.ingest.results import LearnedText
    from robot_memory.ingest.sessions import SessionFinder
    from robot_memory.ingest.writer import EventWriter

    writer = EventWriter(robot.memory, [], SessionFinder(robot.memory))
    sense = {'topic': '/rosout', 'source': 'cell', 'detector': 'text', 'recording': 'one'}
    said = [
        LearnedText('the motor is hot', {'sense': {**sense, 'stamp_ns': at}}, 'default', at)
        for at in (10, 20, 30)
    ]
    for text in said[:2]:
        writer.write('log', text)
    ((kept,),) = robot.rows('SELECT id FROM memories')
    assert len(robot.rows('SELECT 1 FROM observations')) == 1
    erase(robot, memory_ids=[kept])
    for text in said[:2]:
        writer.write('log', text)
    assert robot.rows('SELECT 1 FROM memories') == []
    writer.write('log', said[2])
    assert len(robot.rows('SELECT 1 FROM memories')) == 1


READER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute('BEGIN')
connection.execute('SELECT count(*) FROM memories').fetchall()
print('reading', flush=True)
sys.stdin.readline()
connection.execute('ROLLBACK')
print('done', flush=True)
sys.stdin.readline()
"""


def test_a_reader_that_keeps_the_log_is_named_and_the_proof_goes_on_without_it(
    robot: Robot, clock: MovableClock
) -> None:
    kept = require(robot.learn('the zwetschge cup is red').memory_id)
    command = [sys.executable, '-c', READER, str(robot.memory.db.path)]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    with subprocess.Popen(command, **pipes) as reader:  # type: ignore[call-overload]
        assert reader.stdout.readline() == 'reading\n'
        robot.learn('the door is closed')
        done = erase(robot, memory_ids=[kept])
        assert done.status == 'pending'
        assert f'process {reader.pid} ({sys.executable} -c' in require(done.pending)
        assert robot.rows('SELECT 1 FROM memories WHERE id = ?', kept) == []
        reader.stdin.write('\n')
        reader.stdin.flush()
        assert reader.stdout.readline() == 'done\n'
        clock.forward(seconds=6)
        robot.memory.eraser.run()
        again = robot.erase(erasure=require(done.erasure))
        assert again.status == 'erased', again.pending
        assert find_markers(['zwetschge'], *robot.memory.db.files) == []
        reader.stdin.write('\n')


@pytest.mark.parametrize('version', [1, 13, 21])
def test_an_older_file_is_compacted_at_its_first_erasure_and_its_copy_is_named(
    version: int, tmp_path: Path, clock: MovableClock
) -> None:
    from robot_memory.core.settings import Settings
    from robot_memory.memory import Memory

    path = old_stores.fixture(version, tmp_path)
    settings = Settings(db_path=str(path), model='none', python_role='operator')
    clock.forward(days=400)
    with Memory(settings, resident=False, clocks=clock, upgrade=True) as memory:
        robot = Robot(memory)
        ids = [row[0] for row in robot.rows("SELECT id FROM memories WHERE type = 'fact'")]
        words = ['calibrate', 'Schublade', 'klemmt']
        assert find_markers(words, path) == words
        done = erase(robot, memory_ids=ids)
        assert done.status == 'erased', done.pending
        receipt = require(done.receipt)
        assert receipt['file'].startswith('compacted: it was not written with secure_delete')
        ((copy, why),) = [one.split(': ', 1) for one in receipt['still_holding']]
        assert copy.endswith('.before-upgrade') and 'earlier release: delete it' in why
        assert receipt['holds'] is False
        assert find_markers(words, *memory.db.files) == []
        second = erase(robot, memory_ids=[require(robot.learn('holunder').memory_id)])
        assert require(second.receipt)['file'] == 'overwritten in place'
        verify(robot)


def test_what_an_actor_asked_to_change_goes_with_its_reason(
    robot: Robot, open_robot: Callable[..., Robot]
) -> None:
    from robot_memory.core.authority import Writer
    from robot_memory.core.errors import Conflict
    from robot_memory.memory import caller

    kept = require(robot.learn('the red cup is heavy').memory_id)
    relayed = Writer('mcp-http', 'inspector', 'planner-1', ANNA, 'person')
    before = caller.set(relayed)
    try:
        with pytest.raises(Conflict, match='Proposal 1 is open'):
            robot.update(kept, 'the holunder cup is light', {'actor_id': ANNA})
        with pytest.raises(Conflict, match='Proposal 2 is open'):
            robot.forget(kept, 'it says zwetschge')
    finally:
        caller.reset(before)
    done = erase(robot, actor_id=ANNA)
    assert done.status == 'erased', done.pending
    assert robot.rows('SELECT * FROM proposals') == []
    assert find_markers(['zwetschge', 'holunder'], *robot.memory.db.files) == []
    assert robot.row(kept)['content'] == 'the red cup is heavy'
    verify(robot)


def test_what_interrupted_backups_left_is_removed(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(
        resident=False, python_role='operator', backup_folder=str(tmp_path / 'backups')
    )
    kept = require(robot.learn('the zwetschge cup').memory_id)
    (tmp_path / 'backups').mkdir()
    names = ('backups/.memory-1.part', '.memory.db.before-upgrade.part')
    parts = [tmp_path / f'{name}{end}' for name in names for end in ('', '-journal', '-wal')]
    for part in parts:
        part.write_bytes(robot.memory.db.path.read_bytes())
    assert erase(robot, memory_ids=[kept]).status == 'erased'
    assert not any(part.exists() for part in parts)


def test_no_backup_has_the_words_that_a_pending_erasure_looks_for(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    settings = {
        'python_role': 'operator',
        'backup_folder': str(tmp_path / 'backups'),
        'backup_compression': 'none',
    }
    robot = open_robot(resident=False, **settings)
    kept = require(robot.learn('the zwetschge cup').memory_id)
    with robot.memory.db.read() as reading:
        reading.execute('SELECT 1 FROM memories').fetchall()
        robot.learn('the red door')
        assert erase(robot, memory_ids=[kept]).status == 'pending'
    assert find_markers(['zwetschge'], *robot.memory.db.files) == ['zwetschge']
    backup = require(robot.memory.backups.make_due())
    assert find_markers(['zwetschge'], backup) == []
    early = checksums.connect(backup)  # as earlier releases wrote it
    words = robot.rows('SELECT words FROM erasures')[0]
    early.execute('UPDATE erasures SET words = ?', words)
    early.close()
    assert find_markers(['zwetschge'], backup) == ['zwetschge']
    other = open_robot(resident=False, **settings)
    other.memory.eraser.complete(1)
    receipt = require(other.erase(erasure=1).receipt)
    assert receipt['rewritten'] == [str(backup)]
    assert find_markers(['zwetschge'], backup, *robot.memory.db.files) == []


def test_a_backup_that_has_nothing_of_an_erasure_is_not_rewritten(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(
        resident=False, python_role='operator', backup_folder=str(tmp_path / 'backups')
    )
    robot.learn('the red door')
    backup = require(robot.memory.backups.make_due())
    before = backup.stat().st_ino
    done = erase(robot, memory_ids=[require(robot.learn('the zwetschge cup').memory_id)])
    assert require(done.receipt)['rewritten'] == []
    assert backup.stat().st_ino == before


def test_the_worker_of_another_process_completes_what_is_pending(
    robot: Robot, open_robot: Callable[..., Robot]
) -> None:
    from waiting import until

    from robot_memory.storage.admin import cleaning

    kept = require(robot.learn('the zwetschge cup').memory_id)
    with robot.memory.db.read() as reading:  # this process itself is in the way
        reading.execute('SELECT 1 FROM memories').fetchall()
        robot.learn('the red door')
        done = erase(robot, memory_ids=[kept])
        assert done.status == 'pending'
    assert cleaning.empty_log(robot.memory.db) == ''
    resident = open_robot(python_role='operator')
    until(
        lambda: resident.rows('SELECT state FROM erasures') == [('done',)], 'the proof to be given'
    )
    assert find_markers(['zwetschge'], *robot.memory.db.files) == []
    receipt = require(robot.erase(erasure=require(done.erasure)).receipt)
    assert receipt['file'] == 'overwritten in place'


def test_a_word_that_every_file_begins_with_proves_nothing(robot: Robot) -> None:
    kept = require(robot.learn('Her chart has a strange format').memory_id)
    done = erase(robot, memory_ids=[kept])
    assert done.status == 'erased'
    assert require(done.receipt)['checks']['bytes'] == {
        'holds': True,
        'detail': '0 of 4 words found',
        'too_short': 5,
    }


def test_nothing_is_proved_of_words_that_are_all_too_short(robot: Robot) -> None:
    kept = require(robot.learn('Bob').memory_id)
    done = erase(robot, memory_ids=[kept])
    receipt = require(done.receipt)
    held = {name: one['holds'] for name, one in receipt['checks'].items()}
    assert held == {'rows': True, 'terms': None, 'pages': True, 'bytes': None}
    assert receipt['holds'] is None
    said = 'not searched: all words are too short'
    assert receipt['not_searched'] == [f'terms: {said}', f'bytes: {said}']
    assert receipt['to_finish'].startswith('no search tells words of fewer than 6 bytes')
    assert receipt['too_short'].endswith('were not looked for in the files')
    shown = render('erase', done, Paint(io.StringIO()))
    assert shown.startswith(f'Erasure {done.erasure}: UNKNOWN\n')


def test_a_trial_goes_with_its_situation_and_the_skill_is_learned_without_it(
    open_robot: Callable[..., Robot], tiny_models: dict[int, Path]
) -> None:
    robot = open_robot(str(tiny_models[8]), resident=False, python_role='operator')
    robot.embed_all()
    ids = [
        robot.record_outcome(
            'strike',
            f'the cup on {place} tray',
            params={'speed': f'{number / 10} m/s'},
            results={'slide': f'{number} cm'},
            success='true' if number % 2 else 'false',
        ).memory_id
        for number, place in enumerate(['zwetschge', *['dry'] * 40], 1)
    ]
    robot.memory.skills.run()
    known = robot.rows('SELECT count(*) FROM situations')
    done = erase(robot, memory_ids=[ids[0]])
    assert done.status == 'erased', done.pending
    assert robot.rows('SELECT count(*) FROM situations') == [(known[0][0] - 1,)]
    assert robot.rows('SELECT 1 FROM skill_states WHERE trials > 40') == []
    assert robot.rows('SELECT count(*) FROM trials') == [(40,)]
    assert robot.skill_report('strike')
    robot.memory.skills.run()
    assert find_markers(['zwetschge'], *robot.memory.db.files) == []
    robot.embed_all()
    verify(robot)


def test_the_copy_of_the_indexes_in_another_process_is_made_anew(
    robot: Robot, open_robot: Callable[..., Robot]
) -> None:
    from waiting import until

    resident = open_robot()
    ids = [require(robot.learn(f'the cup {i} is red').memory_id) for i in range(5)]
    index = require(resident.memory.resident_index)

    def read_shard() -> Any:
        with resident.memory.db.read() as connection:
            return require(index.shard(connection, 'default'))

    assert read_shard().count == 5
    erase(robot, memory_ids=ids[:2])
    until(lambda: read_shard().count == 3 and not read_shard().dead, 'the copy to be made anew')
    assert sorted(read_shard().ids[:3].tolist()) == ids[2:]


def test_backups_that_another_process_makes_are_rewritten_and_lost_folders_named(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ('lost', 'kept')]
    kept = 0
    for place in folders:
        robot = open_robot(resident=False, backup_folder=str(place))
        kept = kept or require(robot.learn('the zwetschge cup').memory_id)
        assert robot.memory.backups.make_due()
    shutil.rmtree(folders[0])
    operator = open_robot(resident=False, python_role='operator')
    receipt = require(erase(operator, memory_ids=[kept]).receipt)
    (made,) = folders[1].glob('*.db.gz')
    assert receipt['rewritten'] == [str(made)]
    (lost,) = receipt['still_holding']
    assert lost == f'{folders[0]}: the folder is not there: delete the backups that it had'
    assert find_markers(['zwetschge'], made, *operator.memory.db.files) == []
    assert receipt['holds'] is None and receipt['checks']['bytes']['holds'] is None
    assert receipt['not_searched'][-1] == lost
    assert 'connect it and delete the backups' in receipt['to_finish']


def test_renamed_backups_and_a_disk_that_is_away_are_named(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ('away', 'renamed')]
    ids = []
    for place in folders:
        robot = open_robot(resident=False, backup_folder=str(place))
        ids.append(require(robot.learn(f'the zwetschge cup of {place.name}').memory_id))
        assert robot.memory.backups.make_due()
    shutil.rmtree(folders[0])
    folders[0].mkdir()  # where a disk is not mounted, there is an empty folder
    (made,) = folders[1].glob('*.db.gz')
    renamed = made.rename(folders[1] / 'before the tour.gz')
    with open_robot(name='other', resident=False).memory.db.connect() as other:
        other.execute('VACUUM INTO ?', (str(folders[1] / 'of another store.db'),))
    (folders[1] / 'notes.gz').write_text('no packed file')
    with apsw.Connection(str(folders[1] / 'foreign.db')) as foreign:
        foreign.execute('CREATE TABLE meta (key, value)')
    (folders[1] / 'bad.db').write_bytes(b'SQLite format 3\0' + bytes(4096))
    operator = open_robot(resident=False, python_role='operator')
    receipt = require(erase(operator, memory_ids=ids).receipt)
    away, bad, copy = receipt['still_holding']
    assert away.startswith(f'{folders[0]}: it has neither backups nor the list of them')
    assert bad.startswith(f'{folders[1]}/bad.db: it may be a copy of the store, but: ')
    assert copy.startswith(f'{renamed}: it is a copy of the store, but not named as a backup')
    assert receipt['holds'] is False
    assert find_markers(['zwetschge'], *operator.memory.db.files) == []


@pytest.mark.parametrize('is_renamed', [True, False])
def test_a_copy_with_a_word_in_unused_bytes_is_named_and_keeps_no_erasure_pending(
    open_robot: Callable[..., Robot], tmp_path: Path, is_renamed: bool
) -> None:
    robot = open_robot(
        resident=False,
        python_role='operator',
        backup_folder=str(tmp_path / 'backups'),
        backup_compression='none',
    )
    robot.learn('the red door')
    copy = require(robot.memory.backups.make_due())
    if is_renamed:
        copy = copy.rename(copy.with_name('old.db'))
    with open(copy, 'ab') as file:
        file.write(b'zwetschge'.ljust(4096, b'\0'))
    done = erase(robot, memory_ids=[require(robot.learn('the zwetschge cup').memory_id)])
    receipt = require(done.receipt)
    (named,) = receipt['still_holding']
    why = 'bytes that none of its rows uses hold 1 of the erased words: delete it'
    assert named == f'{copy}: {why}'
    assert (receipt['holds'], receipt['file']) == (False, 'overwritten in place')
    assert receipt['checks']['bytes']['detail'].endswith('in the bytes of 1 of still_holding')
    assert find_markers(['zwetschge'], *robot.memory.db.files) == []


def copy_live(robot: Robot, copy: Path) -> None:
    """Copy the store as it is while it is open, with its log."""
    for suffix in ('', '-wal'):
        source = robot.memory.db.path.with_name(f'{robot.memory.db.path.name}{suffix}')
        subprocess.run(['cp', source, f'{copy}{suffix}'], check=True)


@pytest.mark.parametrize('is_erased_in_log', [True, False])
def test_a_copy_of_the_store_with_its_log_is_not_taken_for_searched(
    open_robot: Callable[..., Robot], tmp_path: Path, is_erased_in_log: bool
) -> None:
    from robot_memory.storage.admin import cleaning

    place = tmp_path / 'backups'
    robot = open_robot(resident=False, python_role='operator', backup_folder=str(place))
    robot.learn('the red door')
    assert robot.memory.backups.make_due()
    assert cleaning.empty_log(robot.memory.db) == ''
    robot.learn('the blue door')
    if is_erased_in_log:
        kept = require(robot.learn('the zwetschge cup stands on the shelf').memory_id)
        copy_live(robot, place / 'old.db')
    else:
        copy_live(robot, place / 'old.db')
        kept = require(robot.learn('the zwetschge cup stands on the shelf').memory_id)
    other = open_robot(name='other', resident=False)
    other.learn('the zwetschge cup of another')
    copy_live(other, place / 'of another store.db')
    receipt = require(erase(robot, memory_ids=[kept]).receipt)
    (named,) = receipt['still_holding']
    copy = f'{place}/old.db: with its log {place}/old.db-wal it is a copy of the store, but '
    if is_erased_in_log:
        assert named == f'{copy}not named as a backup of it is: delete it'
        assert receipt['holds'] is False
    else:
        assert named == f'{copy}what the log has was not searched: delete both'
        assert receipt['holds'] is None and named in receipt['not_searched']
    assert not [*place.glob('.*.part*')]


def test_a_log_whose_database_was_renamed_or_packed_is_named(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    place = tmp_path / 'backups'
    robot = open_robot(resident=False, python_role='operator', backup_folder=str(place))
    robot.learn('the red door')
    assert robot.memory.backups.make_due()
    kept = require(robot.learn('the zwetschge cup stands on the shelf').memory_id)
    copy_live(robot, place / 'old.db')
    (place / 'old.db').unlink()
    other = open_robot(name='other', resident=False)
    other.learn('the red door')
    copy_live(other, place / 'other.db')
    subprocess.run(['gzip', place / 'other.db', place / 'other.db-wal'], check=True)
    receipt = require(erase(robot, memory_ids=[kept]).receipt)
    (named,) = receipt['still_holding']
    assert named.startswith(f'{place}/old.db-wal: it is a log without its database')
    assert receipt['holds'] is None


def test_a_renamed_backup_that_has_nothing_of_an_erasure_is_searched_and_stays(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(
        resident=False, python_role='operator', backup_folder=str(tmp_path / 'backups')
    )
    robot.learn('the red door')
    made = require(robot.memory.backups.make_due())
    renamed = made.rename(made.with_name('older.gz'))
    done = erase(robot, memory_ids=[require(robot.learn('the zwetschge cup').memory_id)])
    receipt = require(done.receipt)
    assert (receipt['still_holding'], receipt['holds']) == ([], True)
    assert renamed.exists()


def test_an_interrupted_proof_does_not_say_that_what_it_did_not_search_holds(
    robot: Robot, open_robot: Callable[..., Robot]
) -> None:
    kept = require(robot.learn('the zwetschge cup is red').memory_id)
    with robot.memory.db.read() as reading:
        reading.execute('SELECT 1 FROM memories').fetchall()
        robot.learn('the door is closed')
        number = require(erase(robot, memory_ids=[kept]).erasure)
    with robot.memory.db.write() as connection:  # as a kill while the proof was made leaves it
        erasures.remove_words(connection, number)
    robot.memory.close()
    done = open_robot(resident=False, python_role='operator').erase(erasure=number)
    receipt = require(done.receipt)
    assert done.status == 'erased' and receipt['holds'] is None
    held = {name: one['holds'] for name, one in receipt['checks'].items()}
    assert held == {'rows': True, 'terms': None, 'pages': True, 'bytes': None}
    assert all('not searched' in one for one in receipt['not_searched'])
    assert 'search the file, the log and the backups' in receipt['to_finish']
    shown = render('erase', done, Paint(io.StringIO()))
    assert shown.startswith(f'Erasure {number}: UNKNOWN\n')


def test_a_receipt_of_an_earlier_release_is_not_taken_for_more_than_it_searched() -> None:
    checks = {
        'rows': {'holds': True, 'detail': 'rows left in no table'},
        'bytes': {'holds': True, 'detail': 'not searched: the words went with the process'},
    }
    assert proof.sum_up({'checks': checks, 'still_holding': []})['holds'] is None
    checks['bytes']['detail'] = '0 of 0 words found'
    assert proof.sum_up({'checks': checks, 'still_holding': []})['holds'] is None
    checks['bytes']['detail'] = '0 of 4 words found'
    assert proof.sum_up({'checks': checks, 'still_holding': []})['holds'] is True
    assert proof.sum_up({'checks': checks, 'still_holding': ['a: not there']})['holds'] is None
    assert proof.sum_up({})['holds'] is None


def test_words_that_are_too_short_or_too_many_to_be_looked_for_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = erased_texts.find_words(['Bob has a zwetschge, 李雷雷', 'bob sleeps'])
    assert (found.short, found.left_out) == (3, 0)
    monkeypatch.setattr(erased_texts, 'MOST_WORDS', 4)
    thinned = erased_texts.find_words(['Bob has a zwetschge, 李雷雷', 'bob sleeps'])
    assert thinned.left_out == len(found.words) - len(thinned.words) > 0
    assert proof.check_bytes(thinned, {}, [])['holds'] is None
    assert proof.check_bytes(found, {}, [])['holds'] is True
    told = proof.sum_up({'checks': {'bytes': proof.check_bytes(found, {}, [])}})
    assert told['holds'] is True and told['too_short'].endswith('; holds is of the others')
    nothing = erased_texts.find_words([])  # as of a session that nobody spoke in
    assert proof.check_bytes(nothing, {}, [])['holds'] is True
    assert proof.check_bytes(thinned, {'a': {'sleeps'}}, [])['holds'] is False
