"""The tree at instants, whatever the order in which instants come."""

from __future__ import annotations

import numpy as np
import stores

from robot_memory.detectors import Pose
from robot_memory.storage.tables import transforms
from robot_memory.storage.tables.transforms import Edge, StoredTree

UNTURNED = (0.0, 0.0, 0.0, 1.0)


def test_an_instant_is_what_was_kept_of_it_in_any_order() -> None:
    chance = np.random.default_rng(3)
    for _ in range(30):
        connection = stores.store()
        kept = {}
        for stamp in chance.permutation(np.arange(1, 9)):
            trees = {
                name: float(chance.integers(3))
                for name in ('a', 'b', 'c')
                if chance.random() < 0.7
            }
            kept[int(stamp)] = trees
            edges = [Edge(name, 'map', Pose((x, 0.0, 0.0), UNTURNED)) for name, x in trees.items()]
            transforms.put_tree(connection, '', int(stamp), edges)
        for stamp in chance.permutation(sorted(kept))[:2]:
            transforms.remove_instant(connection, '', int(stamp))
            del kept[int(stamp)]
            assert transforms.find_instant(connection, '', int(stamp)) != stamp
        for stamp, trees in kept.items():
            tree = StoredTree(connection, '', stamp, '')
            for name in ('a', 'b', 'c'):
                pose = tree.look_up('map', name).pose
                assert (None if pose is None else pose.position[0]) == trees.get(name)
        connection.close()


def test_a_cell_that_stands_still_takes_a_row_a_frame() -> None:
    connection = stores.store()
    edges = [
        Edge('base', 'map', Pose((1.0, 0.0, 0.0), UNTURNED), True),
        Edge('tool', 'base', Pose((0.0, 1.0, 0.0), UNTURNED)),
    ]
    for stamp in range(1, 100):
        transforms.put_tree(connection, '', stamp, edges)
    assert connection.execute('SELECT count(*) FROM transforms').fetchone() == (2,)
    assert transforms.find_instant(connection, '', 50) == 50
    assert transforms.find_instant(connection, '', None) == 99


def test_a_static_transform_holds_before_it_was_told_and_a_moving_one_does_not() -> None:
    connection = stores.store()
    transforms.put_tree(connection, '', 1, [Edge('x', 'map', Pose((0.0, 0.0, 0.0), UNTURNED))])
    pose = Pose((1.0, 0.0, 0.0), UNTURNED)
    transforms.put_tree(connection, '', 5, [Edge('s', 'map', pose, True), Edge('m', 'map', pose)])
    tree = StoredTree(connection, '', 1, '')
    assert tree.look_up('map', 's').pose == pose
    assert tree.look_up('map', 'm').reason == "no transform of 'm' was kept at that instant"
    assert tree.look_up('map', 'nowhere').reason == "unknown tf frame 'nowhere'"
