"""What stands around the package: both READMEs, the metadata, and what CI runs."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from robot_memory.catalog import list_tools

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r'```(\w*)\n(.*?)```', re.DOTALL)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding='utf-8')


def test_the_chinese_readme_has_the_commands_and_the_layers_of_the_english_one() -> None:
    assert CODE.findall(read('README.zh.md')) == CODE.findall(read('README.md'))


def test_the_chinese_readme_names_every_tool_once() -> None:
    rows = re.findall(r'^\| `(\w+)` \| .+ \|$', read('README.zh.md'), re.MULTILINE)
    assert rows == [tool.name for tool in list_tools()]


def test_the_chinese_readme_has_the_sections_of_the_english_one() -> None:
    levels = [
        re.findall(r'^(#+) ', CODE.sub('', read(f'README{to}.md')), re.M) for to in ('', '.zh')
    ]
    assert levels[0] == levels[1]


def test_both_forms_of_the_metadata_name_the_same_maintainer_and_license() -> None:
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    metadata = configparser.ConfigParser(comment_prefixes=('#',))
    metadata.read(ROOT / 'setup.cfg', encoding='utf-8')
    found = metadata['metadata']
    maintainer = package.find('maintainer')
    assert maintainer is not None
    assert found['maintainer'] == maintainer.text
    assert found['maintainer_email'] == maintainer.get('email')
    assert found['license'] == package.findtext('license')


def test_the_rosdep_key_of_every_dependency_is_stated() -> None:
    rows = re.findall(
        r'^\| ([^|]+) \| (`python3-[\w-]+`|none) \| (yes|no)\b.*\|$',
        read('docs/decisions/dependencies.md'),
        re.MULTILINE,
    )
    metadata = configparser.ConfigParser(comment_prefixes=('#',))
    metadata.read(ROOT / 'setup.cfg', encoding='utf-8')
    extras = metadata['options.extras_require']
    asked = metadata['options']['install_requires'] + extras['plot'] + extras['mcap']
    names = {re.split(r'[ <>=;]', line)[0] for line in asked.split('\n') if line}
    assert names == {name for row in rows for name in row[0].split(', ')}
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    depends = {found.text or '' for found in package.iter('exec_depend')}
    assert {key.strip('`') for _, key, used in rows if used == 'yes'} == {
        name for name in depends if name.startswith('python3-')
    }


def test_ci_and_the_commit_hooks_run_what_make_runs() -> None:
    workflow = yaml.safe_load(read('.github/workflows/ci.yml'))
    steps = [step for job in workflow['jobs'].values() for step in job['steps']]
    assert [step['run'] for step in steps if 'run' in step] == ['.ci/run']
    assert read('.ci/run').splitlines()[-1] == 'exec make test'
    hooks = yaml.safe_load(read('.pre-commit-config.yaml'))['repos']
    assert [repo['repo'] for repo in hooks] == ['local']
    entries = [hook['entry'].split() for hook in hooks[0]['hooks']]
    assert entries[0] == ['make', 'lint']
    assert all((ROOT / name).exists() for entry in entries for name in entry if '/' in name)


def test_colcon_test_runs_the_suite_as_make_test_does() -> None:
    build = Path(os.environ.get('ROBOT_MEMORY_BUILD', ROOT)) / 'build/robot_memory'
    if not (build / 'CTestTestfile.cmake').exists():
        pytest.skip('CMake has not configured the package here: make build')
    shown = subprocess.check_output(['ctest', '--show-only=json-v1'], cwd=build)
    (suite,) = json.loads(shown)['tests']
    command = suite['command']
    given = command[command.index('--command') + 1 :]
    assert given[0] == str(ROOT / 'scripts/run-tests')
    # What colcon counts is what pytest writes; a path would leave out other tests.
    assert given[1:] == [f'--junit-xml={command[command.index("--package-name") - 1]}']
    assert 'scripts/run-tests' in read('Makefile')
