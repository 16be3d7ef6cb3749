"""The command line, as processes of its own on real files."""

from __future__ import annotations

import getpass
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import prepared
import pytest
from narrowing import require
from waiting import HANG_SECONDS

import robot_memory.cli
from robot_memory.catalog import list_tools
from robot_memory.core.fields import get_fields
from robot_memory.core.settings import Settings
from robot_memory.embedding import find_model
from robot_memory.storage import Database
from robot_memory.storage.indexes import vectors

SOURCE = Path(robot_memory.cli.__file__).parents[2]
COMMAND = [sys.executable, '-m', 'robot_memory']
CUP = 'The red cup needs 12.5 N of grip force'
CUP_AGAIN = 'For the red cup a grip force of 12.5 N is needed'
GLASS = 'The lidar sees glass walls poorly'


class Cli:
    """Run the command line on a store of its own, by words alone unless a test says otherwise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / 'cell.db'
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != 'NO_COLOR'},
            'PYTHONPATH': str(SOURCE),
            'ROBOT_MEMORY_DB': str(self.db),
            'COLUMNS': '500',
        }
        self.model: tuple[str, ...] = ('--model', 'none')
        self.run: Any = prepared.run

    def __call__(self, *arguments: str | bytes) -> subprocess.CompletedProcess[str]:
        made: subprocess.CompletedProcess[str] = self.run(
            [*COMMAND, *arguments, *self.model],
            capture_output=True,
            encoding='utf-8',
            env=self.environment,
            cwd=self.folder,
            timeout=HANG_SECONDS,
        )
        return made

    def done(self, *arguments: str) -> str:
        result = self(*arguments)
        assert (result.returncode, result.stderr) == (0, ''), result
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.done(*arguments, '--json'))

    def failed(self, *arguments: str | bytes) -> str:
        result = self(*arguments)
        assert (result.returncode, result.stdout) == (1, ''), result
        (line,) = result.stderr.splitlines()
        return line


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def with_model(cli: Cli) -> Cli:
    if find_model() is None:
        pytest.skip('the embedding model is not set up: python -m robot_memory.embedding.prepare')
    cli.model = ('--wait', str(HANG_SECONDS))
    return cli


def test_an_interrupt_while_it_loads_ends_it_quietly(cli: Cli) -> None:
    command = [sys.executable, '-X', 'importtime', *COMMAND[1:], 'recall', 'cup', *cli.model]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
        cwd=cli.folder,
        # A shell starts what runs in its background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        for line in require(process.stderr):
            if 'robot_memory.' in line:  # a part of it is imported, and most is not
                process.send_signal(signal.SIGINT)
                break
        told = require(process.stderr).read()
    assert process.returncode == 130
    assert 'Traceback' not in told


def test_every_tool_answers_in_json(cli: Cli) -> None:
    session = cli.json('start_session', '--context', '{"robot": {"id": "ur5e"}}')['session_id']
    learned = cli.json('learn', CUP, '--session-id', session)
    assert learned['status'] == 'created'
    assert learned['auto_inferred']['tags']
    seen = cli.json(
        'save_perception', 'A box on the table', '--perception-type', 'visual',
        '--stamp', '{"sec": 5, "nanosec": 7}', '--frame-id', 'base',
        '--pose', '{"position": [3, 4, 0]}',
    )  # fmt: skip
    (found,) = cli.json('recall', 'grip force', '--n', '1')['memories']
    assert (found['id'], found['content']) == (learned['memory_id'], CUP)
    assert found['robot'] == {'id': 'ur5e'}
    near = cli.json(
        'recall', '--spatial-sort', '{"field": "spatial.position", "target": [0, 0, 0]}'
    )
    assert near['mode'] == 'filter'
    assert near['memories'][0]['distance'] == 5.0
    assert near['memories'][0]['stamp'] == {'sec': 5, 'nanosec': 7}
    changed = cli.json('update', str(learned['memory_id']), GLASS)
    assert (changed['old_content'], changed['new_content']) == (CUP, GLASS)
    gone = cli.json('forget', str(seen['memory_id']), 'the box was a shadow')
    assert gone['status'] == 'forgotten'
    (record,) = cli.json('query_records', '--where', '{"status": "invalidated"}')['records']
    assert record['audit'][0]['reason'] == 'the box was a shadow'
    assert record['audit'][0]['actor'] == f'cli:{getpass.getuser()}'
    ended = cli.json('end_session', session, '--outcome-score', '0.5')
    assert ended['summary']['memory_count'] == 1


def test_every_tool_answers_in_words(cli: Cli) -> None:
    begun = cli.done('start-session')
    session = begun.split()[1]
    assert begun == f'Session {session} started in default (0 memories).\n'
    assert cli.done('learn', CUP, '--session-id', session).startswith('Stored as memory 1.\n')
    assert cli.done('learn', CUP) == ('Duplicate of memory 1 (exact, similarity 1.00).\n')
    assert cli.done('save-perception', 'A box on the table') == (
        'Stored as memory 2: visual perception in default; vector pending.\n'
    )
    lines = cli.done('recall', 'grip').splitlines()
    assert lines[0].startswith('1  ')
    assert lines[0].endswith(f'  {CUP}')
    assert lines[-1].startswith('1 memory by keyword search only, ')
    assert cli.done('recall', 'zeppelin').startswith('No results (by keyword search only, ')
    assert cli.done('update', '1', GLASS).startswith(
        f'Updated memory 1: {GLASS}\n  before: {CUP}\n'
    )
    assert cli.done('end-session', session).startswith(f'Session {session} ended: 1 memory (')
    assert cli.done('forget', '2', 'a shadow') == (
        'Soft-deleted memory 2: A box on the table\n  reason: a shadow\n'
    )
    assert cli.done('query-records').endswith('1 of 1 record\n')


def test_a_change_by_description_says_that_nothing_is_changed_yet(cli: Cli) -> None:
    cli.done('learn', CUP)
    for command in (('forget', '0', 'wrong'), ('update', '0', GLASS)):
        told = cli.done(*command, '--description', 'grip force of the cup')
        assert told.startswith('Would ') and CUP in told
        assert cli.json('show', '1')['memory']['content'] == CUP
        assert cli.json('show', '1')['status'] == 'active'
        *_, line = told.splitlines()
        token = line.partition('--token ')[2].split()[0]
        done = cli.done(*command, '--token', token)
        assert not done.startswith('Would ') and 'to confirm' not in done
        cli.done('undo', '1')


def test_an_option_with_several_values_may_be_repeated(cli: Cli) -> None:
    for text in (CUP, GLASS, 'The door is locked'):
        cli.done('learn', text)
    found = cli.json('erase', '--memory-ids', '1', '--memory-ids', '2', '3', '--reason', 'asked')
    assert found['memory_ids'] == [1, 2, 3]


def test_a_cut_text_says_so(cli: Cli) -> None:
    answer = cli.done('learn', 'word ' * 70)
    assert answer.splitlines()[-1] == (
        '  Text truncated: 50 characters removed after "word word word word word word word word".'
    )


def test_settings_are_taken_before_and_after_the_command(cli: Cli) -> None:
    other = str(cli.folder / 'other.db')
    cli.done('--db', other, 'learn', CUP)
    assert cli.json('query_records', '--db', other)['total_count'] == 1
    for option in ('--db_path', '--db-path'):
        assert cli.json('query_records', option, other)['total_count'] == 1
    assert '[not_found] no store' in cli.failed('query_records')
    weight = '[invalid_argument] real_weight must be 0.1 to 10, not 50.0'
    assert weight in cli.failed('recall', 'cup', '--db', other, '--real-weight', '50')


def test_without_a_path_the_store_is_in_the_users_data_folder(cli: Cli) -> None:
    del cli.environment['ROBOT_MEMORY_DB']
    cli.environment['XDG_DATA_HOME'] = str(cli.folder)
    cli.done('learn', CUP)
    assert (cli.folder / 'robot_memory' / 'memory.db').exists()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('learn', ' '), '[invalid_argument] insight is empty'),
        (('learn', CUP, '--context', '{'), '[invalid_argument] context is not valid JSON'),
        (('recall',), '[invalid_argument] query, context_filter and spatial_sort are all empty'),
        (('recall', 'x', '--n', 'three'), "n must be an integer, not 'three'"),
        (('recall', 'x', '--n', '101'), 'n must be 1 to 100, not 101'),
        (('recall', 'x', '--wait', 'long'), "wait must be a number, not 'long'"),
        (('forget', '7', 'wrong'), '[not_found] no memory 7'),
        (('end_session', 'nowhere'), "[not_found] no session 'nowhere'"),
        (
            ('index',),
            "[unavailable] cannot compute vectors: embedding is disabled: model is 'none'",
        ),
        (
            ('learn', b'\xff\xfe'),
            '[invalid_argument] insight contains a NUL or an unpaired surrogate',
        ),
    ],
)
def test_a_refused_call_is_one_line_and_status_1(
    cli: Cli, arguments: tuple[Any, ...], message: str
) -> None:
    cli.done('start_session')
    line = cli.failed(*arguments)
    assert line.startswith('robot-memory: [')
    assert message in line


def test_a_store_that_cannot_be_opened_is_one_line(cli: Cli) -> None:
    text = cli.folder / 'notes.txt'
    text.write_text('Not a database, however long one looks at it.')
    for path in (cli.folder, Path('/proc/robot.db'), text / 'cell.db', text):
        line = cli.failed('learn', 'cup', '--db', str(path))
        assert line.startswith(f'robot-memory: [unavailable] {path} ')
    for command in (['recall', 'cup'], ['status']):
        assert '[unavailable]' in cli.failed(*command, '--db', str(text))
    assert text.read_text() == 'Not a database, however long one looks at it.'


@pytest.mark.parametrize(
    'arguments', [('recall', 'cup'), ('learn', CUP), ('upgrade',), ('verify',), ('salvage',)]
)
def test_a_folder_in_place_of_a_store_is_told_with_the_store_in_it(
    cli: Cli, arguments: tuple[str, ...]
) -> None:
    folder = cli.folder / 'robot_memory'
    folder.mkdir()
    line = cli.failed(*arguments, '--db', str(folder))
    told = f'[unavailable] {folder} is a folder; set db_path (--db, ROBOT_MEMORY_DB) to the file'
    assert told in line
    assert line.endswith(' of the store')
    assert list(folder.iterdir()) == []
    assert f'{folder} is a folder; name a backup in it' in cli.failed('verify', str(folder))
    cli.done('learn', CUP, '--db', str(folder / 'memory.db'))
    assert cli.failed(*arguments, '--db', str(folder)).endswith(f' store: {folder}/memory.db')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((), 'the following arguments are required: COMMAND'),
        (('learn',), 'the following arguments are required: INSIGHT'),
        (('fly',), 'no command fly; see robot-memory --help'),
        (('rcall', 'cup'), 'no command rcall (did you mean recall?); see robot-memory --help'),
        (
            ('recall', 'where', 'is', 'cup'),
            "unexpected argument 'is cup'; quote a text that has spaces",
        ),
        (('show', '1', '2'), "unexpected argument '2'; see --help"),
        (('recall', 'a', '-5'), "unexpected argument '-5'; quote a text that has spaces"),
        (('recall', 'a', '--limt', '5'), 'no option --limt; see --help'),
        (
            ('learn', 'a', '--contxt={}'),
            'no option --contxt (did you mean --context?); see --help',
        ),
        (('recall', 'a', '-q'), 'no option -q; see --help'),
        (
            ('--dbpath', 'm.db', 'recall', 'a'),
            'no option --dbpath (did you mean --db-path?); '
            'options of a command go after the command',
        ),
        (
            ('--n', '3', 'recall', 'a'),
            'no option --n; options of a command go after the command',
        ),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_taken(
    cli: Cli, arguments: tuple[Any, ...], message: str
) -> None:
    result = cli(*arguments)
    assert result.returncode == 2
    assert result.stdout == ''
    assert 'usage: robot-memory' in result.stderr
    assert result.stderr.splitlines()[-1].partition(' error: ')[2] == message
    assert not cli.db.exists()


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
def test_the_help_of_a_tool_mentions_every_field(cli: Cli, tool: Any) -> None:
    text = ' '.join(cli.done(tool.name.replace('_', '-'), '--help').split())
    assert ' '.join(tool.help.split()) in text
    for field in get_fields(tool.request):
        option = '--' + field.name.replace('_', '-')
        shown = (f' {option} ', f' {option}, --no-{option[2:]} ', f' {field.name.upper()} ')
        assert any(words in text for words in shown)
        assert all(choice in text for choice in field.choices)
        assert ' '.join(field.help.split()) in text


def test_the_help_mentions_every_command_and_setting(cli: Cli) -> None:
    text = cli.done('--help')
    for command in [*(tool.name for tool in list_tools()), 'status', 'index', 'mcp']:
        assert f'\n    {command.replace("_", "-")} ' in text
    for field in get_fields(Settings):
        assert ' '.join(field.help.split()) in ' '.join(text.split())


def test_words_of_any_script_are_kept_and_found(cli: Cli) -> None:
    texts = ['抓取红色杯子时必须先减速', 'Красная чашка скользкая', 'Tür klemmt im Frühling ☕']
    for text in texts:
        cli.done('learn', text)
    for word, text in zip(['杯子', 'чашка', 'FRÜHLING'], texts, strict=True):
        assert text in cli.done('recall', word, '--n', '1')


def test_an_answer_survives_a_terminal_that_cannot_show_it(cli: Cli) -> None:
    cli.done('learn', '抓取红色杯子')
    cli.environment['PYTHONIOENCODING'] = 'ascii'  # read when Python starts
    cli.run = subprocess.run
    assert '\\u676f\\u5b50' in cli.done('recall', '杯子')
    assert '抓取红色杯子' in cli.done('recall', '杯子', '--json')


def test_a_memory_cannot_command_the_terminal(cli: Cli) -> None:
    cli.done('learn', 'The cup is \x1b[31mred\x07\nand round')
    answer = cli.done('recall', 'cup')
    assert '\x1b' not in answer
    assert 'The cup is  [31mred  and round' in answer


def test_a_name_of_a_file_cannot_command_the_terminal(cli: Cli) -> None:
    name = 'a\x1b[31mb\u202ec\x9b1m'
    cli.done('learn', CUP)
    for command, given in (
        ('export all', '.md'),
        ('backup', '.db'),
        ('salvage', '.salvaged'),
        ('audit head', '.head'),
    ):
        answer = cli(*command.split(), '--output', str(cli.folder / f'{name}{given}'))
        assert answer.returncode == 0, answer
        assert not {'\x1b', '\u202e', '\x9b'} & {*answer.stdout, *answer.stderr}
    for command in ('restore', 'verify', 'upgrade --db', 'doctor --params', 'import'):
        answer = cli(*command.split(), str(cli.folder / f'{name}.gone'))
        assert 'a\\u001b[31mb\\u202ec\\u009b1m.gone' in answer.stdout + answer.stderr
        assert not {'\x1b', '\u202e', '\x9b'} & {*answer.stdout, *answer.stderr}


def test_a_text_that_begins_with_dashes_follows_two_dashes(cli: Cli) -> None:
    cli.model = ()
    cli.done('--model', 'none', 'learn', '--', '--force is given in newton')
    assert '--force is given in newton' in cli.done('--model', 'none', 'recall', 'newton')


def test_a_reader_that_goes_is_no_error(cli: Cli) -> None:
    cli.done('learn', CUP)
    reader, writer = os.pipe()
    os.close(reader)
    result = prepared.run(
        [*COMMAND, 'recall', 'cup', *cli.model],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=cli.environment,
        cwd=cli.folder,
        timeout=HANG_SECONDS,
    )
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b'')


def test_a_full_disk_behind_the_answer_is_told(cli: Cli) -> None:
    with open('/dev/full', 'w') as full:
        result = prepared.run(
            [*COMMAND, 'learn', CUP, *cli.model],
            stdout=full,
            stderr=subprocess.PIPE,
            env=cli.environment,
            cwd=cli.folder,
            text=True,
            timeout=HANG_SECONDS,
        )
    assert result.returncode == 1
    assert result.stderr.startswith('robot-memory: [unavailable] cannot write the result')


def on_a_terminal(cli: Cli, *arguments: str) -> str:
    """Return what a command prints on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    prepared.run(
        [*COMMAND, *arguments, *cli.model],
        stdout=theirs,
        env=cli.environment,
        cwd=cli.folder,
        timeout=HANG_SECONDS,
        check=True,
    )
    os.close(theirs)
    text = os.read(ours, 10_000).decode()
    os.close(ours)
    return text


def test_colours_are_for_terminals_that_want_them(cli: Cli) -> None:
    cli.environment['TERM'] = 'xterm'
    cli.done('learn', CUP)
    assert '\x1b' not in cli.done('recall', 'cup')
    assert '\x1b[1m1\x1b[0m' in on_a_terminal(cli, 'recall', 'cup')
    assert '\x1b' not in on_a_terminal(cli, 'recall', 'cup', '--json')
    cli.environment['NO_COLOR'] = '1'
    assert '\x1b' not in on_a_terminal(cli, 'recall', 'cup')


@pytest.mark.parametrize(
    'arguments',
    [
        ('status',),
        ('clock',),
        ('recall', 'cup'),
        ('show', '1'),
        ('get-context', 'grip the cup'),
        ('query-records',),
        ('query-events',),
        ('export', 'all'),
        ('plot', '1'),
        ('forget', '1', 'wrong'),
        ('end-session', 'nowhere'),
        ('review',),
        ('trust', 'review'),
        ('maintain',),
        ('suggest', 'grasp', '--default', '{"force": 5}'),
        ('backup', '--output', 'copy.db'),
        ('clock', 'trust'),
        ('index',),
        ('view', '--view-port', '0'),
        ('set-region',),
        ('sage-memory', 'search', 'cup'),
        ('sage-command', '/status'),
    ],
    ids=' '.join,
)
def test_what_reads_makes_no_store(cli: Cli, arguments: tuple[str, ...]) -> None:
    line = cli.failed(*arguments)
    assert f'[not_found] no store at {cli.db}; select another with --db, or create it' in line
    assert 'robot-memory learn' in line
    assert list(cli.folder.iterdir()) == []
    cli.db.touch()
    assert f'{cli.db} is an empty file (0 bytes), which holds no store' in cli.failed(*arguments)
    assert cli.db.stat().st_size == 0


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('learn', CUP, '--context', '{'), 'context is not valid JSON'),
        (('start-session', '--context', '7'), 'context'),
        (('sage-memory', 'keep'), 'action'),
        (('import', 'no such.jsonl'), 'no file at '),
        (('import', 'no such.mcap'), 'no file at '),
    ],
    ids=lambda value: ' '.join(value) if isinstance(value, tuple) else '',
)
def test_what_is_refused_makes_no_store(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    assert said in cli.failed(*arguments)
    assert list(cli.folder.iterdir()) == []


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (('recall', 'cup'), 'the store is empty'),
        (('get-context', 'grip the cup'), 'the store is empty'),
        (('suggest', 'grasp', '--default', '{"force": "5 N"}'), '5 N'),
        (('query-records',), 'There are no active memories'),
        (('query-events',), 'No events are stored'),
        (('status',), '0 active'),
        (('audit',), 'line 0'),
        (('review',), 'Nothing to review'),
    ],
    ids=lambda arguments: arguments[0],
)
def test_on_a_fresh_install_what_reads_answers_as_an_empty_store_does(
    cli: Cli, arguments: tuple[str, ...], words: str
) -> None:
    del cli.environment['ROBOT_MEMORY_DB']
    cli.environment['XDG_DATA_HOME'] = str(cli.folder)
    assert words in cli.done(*arguments)
    assert words in cli.done(*arguments)
    cli.environment['ROBOT_MEMORY_DB'] = str(cli.db)
    assert '[not_found] no store at ' in cli.failed(*arguments)


def test_nothing_is_backed_up_of_a_fresh_install(cli: Cli) -> None:
    del cli.environment['ROBOT_MEMORY_DB']
    cli.environment['XDG_DATA_HOME'] = str(cli.folder)
    assert '[not_found] no store at ' in cli.failed('backup', '--output', 'copy.db')
    assert list(cli.folder.iterdir()) == []


def test_an_empty_file_becomes_a_store_where_something_is_learned(cli: Cli) -> None:
    cli.db.touch()
    cli.done('learn', CUP)
    assert CUP in cli.done('recall', 'cup')


def test_a_wrong_argument_is_told_before_a_missing_store(cli: Cli) -> None:
    assert 'n must be 1 to 100, not 101' in cli.failed('recall', 'x', '--n', '101')


def test_status_counts(cli: Cli) -> None:
    for text in (CUP, GLASS):
        cli.done('learn', text)
    cli.done('save_perception', 'A box on the table', '--collection', 'bench')
    cli.done('forget', '1', 'wrong')
    found = cli.json('status')
    assert found['path'] == str(cli.db)
    assert found['bytes'] >= cli.db.stat().st_size > 0
    assert found['active'] == {'fact': 1, 'perception': 1}
    assert found['collections'] == {'bench': 1, 'default': 1}
    assert (found['invalidated'], found['superseded']) == (1, 0)
    assert (found['waiting_for_vector'], found['vectors_of']) == (2, None)
    assert (found['model'], found['model_state']) == (None, 'off')
    assert '2 active (1 fact, 1 perception), 1 forgotten, 0 superseded' in cli.done('status')


def test_recall_leaves_its_access_in_the_file(cli: Cli) -> None:
    cli.done('learn', CUP)
    cli.done('recall', 'cup')
    where = json.dumps({'access_count': 1})
    assert cli.json('query_records', '--where', where)['total_count'] == 1


def test_the_first_learn_is_found_by_meaning_at_once(with_model: Cli) -> None:
    cli = with_model
    cli.done('learn', CUP)
    assert cli.json('status')['waiting_for_vector'] == 0
    again = cli.json('learn', CUP_AGAIN)
    assert (again['status'], again['method']) == ('duplicate', 'cosine')
    assert cli.json('recall', 'red cup')['mode'] == 'hybrid'
    assert cli.json('save_perception', 'A box on the table')['has_embedding']


def test_index_gives_vectors_to_what_was_learned_without_a_model(with_model: Cli) -> None:
    cli = with_model
    cli.model += ('--second-model', 'none')
    cli.done('learn', CUP, '--model', 'none')
    cli.done('learn', GLASS, '--model', 'none')
    found = cli.json('index')
    assert (found['made'], found['waiting']) == (2, 0)
    assert cli.done('index').startswith('0 vectors computed, 0 missing, model ')
    assert cli.json('recall', 'which sensor fails at windows')['mode'] != 'bm25_only'


def test_a_file_of_another_model_is_answered_by_words_and_left_as_it_is(with_model: Cli) -> None:
    cli = with_model
    cli.model += ('--second-model', 'none')
    cli.done('learn', CUP)
    database = Database(cli.db)
    with database.write() as connection:
        vectors.use_model(connection, 'another-model', 8)
    database.close()
    for arguments in (('recall', 'red cup'), ('learn', GLASS)):
        result = cli(*arguments)
        assert result.returncode == 0
        (line,) = result.stderr.splitlines()
        assert 'keyword search only' in line
        assert 'has vectors from another-model' in line
        assert '`robot-memory index`' in line
    assert cli.json('status')['vectors_of'] == 'another-model'
    assert cli.json('index')['made'] == 1  # the first has kept its vector of the model from before
    assert cli('recall', 'red cup').stderr == ''


def test_a_model_that_is_not_set_up_is_not_made_by_a_short_command(cli: Cli) -> None:
    cli.model = ()
    cache = cli.folder / 'cache'
    cli.environment.pop('ROBOT_MEMORY_MODEL', None)
    cli.environment['XDG_CACHE_HOME'] = str(cache)
    result = cli('learn', CUP)
    assert result.returncode == 0
    assert result.stderr == (
        'robot-memory: keyword search only: the embedding model is not installed; '
        'run `robot-memory index`\n'
    )
    assert not cache.exists()


def test_a_named_model_that_is_not_there_leaves_words(cli: Cli) -> None:
    cli.model = ('--model', str(cli.folder / 'nowhere'))
    result = cli('learn', CUP)
    assert result.returncode == 0
    assert 'Stored as memory 1.' in result.stdout
    (line,) = result.stderr.splitlines()
    assert 'has no model.onnx and tokenizer.json' in line


def test_clock_lists_the_epochs_and_trust_confirms_the_present_time(cli: Cli) -> None:
    cli.done('learn', CUP)
    (epoch,) = cli.json('clock')
    assert (epoch['epoch'], epoch['state'], epoch['offset_s']) == (1, 'trusted', 0)
    (confirmed,) = cli.json('clock', 'trust')
    assert confirmed['reason'] in (
        'confirmed by an operator',
        'the kernel says that the clock is synchronised',
    )
    assert 'trusted: ' in cli.done('status')
    refused = cli.failed('clock', 'trust', '--cli-role', 'planner')
    assert 'clock trust requires the role operator' in refused


def test_a_process_in_another_time_namespace_has_an_epoch_of_its_own(cli: Cli) -> None:
    apart = ['unshare', '--time', '--boottime', '1000000', '--fork']
    if shutil.which('unshare') is None or subprocess.run([*apart, 'true'], check=False).returncode:
        pytest.skip('time namespaces cannot be made here')
    cli.done('learn', CUP)
    made = subprocess.run(
        [*apart, *COMMAND, 'learn', GLASS, *cli.model], env=cli.environment, cwd=cli.folder
    )
    assert made.returncode == 0
    cli.done('learn', 'The drawer jams')
    epochs = cli.json('clock')
    assert [epoch['state'] for epoch in epochs] == ['trusted'] * 3
    assert [epoch['from'] for epoch in epochs] == sorted(epoch['from'] for epoch in epochs)
    records = cli.json('query-records')['records']
    assert [record['record_content'] for record in records] == ['The drawer jams', GLASS, CUP]


IDLE = (
    'importlib.metadata',
    'numpy',
    'robot_memory.background.erasures',
    'robot_memory.embedding.calibration',
    'robot_memory.embedding.manifest',
    'robot_memory.plugins.registry',
    'robot_memory.retrieval.asked_events',
    'robot_memory.retrieval.near',
    'robot_memory.search.ranking',
    'robot_memory.search.resident',
    'robot_memory.skills.model',
    'robot_memory.storage.damage',
    'robot_memory.storage.indexes.outward',
    'robot_memory.storage.schema.v1',
    'robot_memory.storage.tables.memories',
    'robot_memory.text.questions.reader',
    'robot_memory.text.rules.limits',
    'subprocess',
)
"""Code that a plain recall does not run: importing it would take longer than the recall."""


@pytest.mark.parametrize(
    ('question', 'run'),
    [('red cup', ''), ('who owns the red cup', 'robot_memory.text.questions.reader')],
)
def test_a_recall_imports_no_code_that_it_does_not_run(cli: Cli, question: str, run: str) -> None:
    cli.done('learn', CUP)
    cli.done('learn', GLASS)
    program = (
        'import sys\n'
        'from robot_memory.cli import run\n'
        'assert run(sys.argv[1:]) == 0\n'
        f'print(*sorted({set(IDLE)} & set(sys.modules)))\n'
    )
    made = subprocess.run(
        [sys.executable, '-c', program, 'recall', question, '--model', 'none'],
        env=cli.environment,
        cwd=cli.folder,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert CUP in made.stdout
    assert made.stdout.splitlines()[-1] == run


@pytest.mark.parametrize('name', ['get-context', 'get_context'])
def test_a_line_is_read_alike_whether_its_command_stands_first(cli: Cli, name: str) -> None:
    for wrong in (('cup', '--nonsense'), (), ('cup', '--max-results', 'many')):
        first, later = cli(name, *wrong), cli('--json', name, *wrong)
        assert first.returncode == later.returncode != 0
        assert first.stderr == later.stderr
    assert cli.done(name, '--help') == cli.done('--json', name, '--help')
