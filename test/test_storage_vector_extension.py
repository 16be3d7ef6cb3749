"""Beside another SQLite library of the same process that has sqlite-vec, too."""

from __future__ import annotations

import ctypes
import ctypes.util
import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT, SOURCES

ANOTHER = """
import ctypes, ctypes.util, sqlite3, sys, threading
from pathlib import Path
import sqlite_vec
from robot_memory.api import RobotMemory
from robot_memory.storage import Database

class Other:
    'A connection of the SQLite that this Python has; by its C interface, as not each loads.'

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library('sqlite3'))
        self.handle = ctypes.c_void_p()
        assert self.library.sqlite3_open(b':memory:', ctypes.byref(self.handle)) == 0
        assert self.library.sqlite3_enable_load_extension(self.handle, 1) == 0
        path, told = sqlite_vec.loadable_path().encode(), ctypes.c_char_p()
        code = self.library.sqlite3_load_extension(self.handle, path, None, ctypes.byref(told))
        assert code == 0, told.value
        self.use('CREATE VIRTUAL TABLE IF NOT EXISTS v USING vec0(e float[2])')

    def use(self, sql="INSERT INTO v (e) VALUES (vec_f32('[1, 2]')); SELECT vec_version()"):
        told = ctypes.c_char_p()
        code = self.library.sqlite3_exec(self.handle, sql.encode(), None, None, ctypes.byref(told))
        assert code == 0, told.value

    def close(self):
        assert self.library.sqlite3_close(self.handle) == 0

class Own:
    'A store of ours.'

    def __init__(self):
        Own.number = getattr(Own, 'number', 0) + 1
        self.database = Database(Path(sys.argv[1]) / f'{Own.number}.db')

    def use(self):
        distance = "SELECT vec_distance_cosine(vec_int8(x'0102'), vec_int8(x'0102'))"
        with self.database.read() as connection:
            ((apart,),) = connection.execute(distance)
            assert abs(apart) < 1e-6
        with self.database.write() as connection:
            table = 'CREATE VIRTUAL TABLE IF NOT EXISTS v USING vec0(e float[2])'
            connection.execute(table)
            connection.execute("INSERT INTO v (e) VALUES ('[1, 2]')")

    def close(self):
        self.database.close()

def use(*all):
    for _ in range(20):
        for one in all:
            one.use()
"""

ORDERS = {
    'ours first': 'ours = Own(); use(ours); other = Other(); use(ours, other)',
    'the other first': 'other = Other(); use(other); ours = Own(); use(other, ours)',
    'the other closes': """
other = Other(); ours = Own(); use(ours, other); other.close(); use(ours)
again = Other(); use(ours, again); again.close(); more = Own(); use(ours, more)
""",
    'ours closes': """
ours = Own(); other = Other(); use(ours, other); ours.close(); use(other)
again = Own(); use(other, again); more = Other(); use(other, again, more)
""",
    'in threads': """
faults, begin = [], threading.Barrier(6)
def work(kind):
    try:
        begin.wait()
        for _ in range(4):
            one = kind(); use(one); one.close()
    except BaseException as fault:
        faults.append(fault)
threads = [threading.Thread(target=work, args=(kind,)) for kind in (Own, Other) * 3]
Own.number = 0
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not faults, faults
""",
}


def has_another() -> bool:
    found = ctypes.util.find_library('sqlite3')
    return bool(found) and hasattr(ctypes.CDLL(found), 'sqlite3_load_extension')


@pytest.mark.skipif(not has_another(), reason='no shared SQLite library on this machine')
@pytest.mark.parametrize('order', ORDERS)
def test_another_sqlite_with_the_same_extension_does_no_harm(order: str, tmp_path: Path) -> None:
    script = f'{ANOTHER}\n{ORDERS[order]}\nprint("both work")'
    command = [sys.executable, '-X', 'faulthandler', '-c', script, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, 'both work\n'), ran.stderr


def test_no_other_module_loads_an_extension() -> None:
    loading = [
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if path.suffix == '.py'
        and not path.is_relative_to(ROOT / 'test')
        and 'load_extension(' in path.read_text(encoding='utf-8')
    ]
    assert loading == ['robot_memory/storage/private_library.py']
