#!/usr/bin/env python3
"""Each folder of the library and of the tool is a room, which may use those before it in these lists and none behind.

usage: rooms_test.py ROOT
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

# Rooms of one line do not use each other. Headers that stand in no room may use all, and be used by all.
LIBRARY = """
core
grid
launch
neighbours multi_gpu phased pace rmw reduce advice
opencl
"""
TOOL = """
measure
devices
boundary
results
pacing models
workloads
harness
experiments tuning report
cli
"""
SOURCE = re.compile(r"\.(cpp|hpp|cu|cuh|h)$")
# What belongs to no room: texts that are made of files, and the library, which is another house.
NO_ROOM = {"embedded", "gpusync"}


def floors(plan):
    return {room: floor for floor, line in enumerate(plan.split("\n")) for room in line.split()}


def uses(folder, prefix):
    """(file, room, used room) of all sources in the rooms of a folder."""
    for path in sorted(folder.rglob("*")):
        if not SOURCE.search(path.name) or path.parent == folder:
            continue
        room = path.relative_to(folder).parts[0]
        for name in re.findall(rf'^#include {prefix}([^">]+)[">]', path.read_text(), re.M):
            if "/" in name:
                yield str(path), room, name.split("/")[0]


def wrong_uses(found, plan):
    """What is used of a room that stands behind, or beside."""
    at = floors(plan)
    for file, room, used in found:
        if used == room or used in NO_ROOM:
            continue
        if used not in at or room not in at or at[used] >= at[room]:
            yield f"{file}: {room} may not use {used}"


class Rooms(unittest.TestCase):
    def test_each_room_uses_those_before_it(self):
        for folder, prefix, plan in ((ROOT / "include" / "gpusync", "<gpusync/", LIBRARY), (ROOT / "src", '"', TOOL)):
            found = list(uses(folder, prefix))
            self.assertGreater(len(found), 100, folder)
            self.assertEqual(list(wrong_uses(found, plan)), [])

    def test_all_rooms_have_their_place(self):
        for folder, plan in ((ROOT / "include" / "gpusync", LIBRARY), (ROOT / "src", TOOL)):
            rooms = {path.name for path in folder.iterdir() if path.is_dir()}
            self.assertEqual(rooms, set(floors(plan)), folder)

    def test_what_stands_behind_is_found(self):
        self.assertEqual(list(wrong_uses([("a.cpp", "models", "report")], TOOL)), ["a.cpp: models may not use report"])
        self.assertEqual(list(wrong_uses([("a.cpp", "tuning", "experiments")], TOOL)),
                         ["a.cpp: tuning may not use experiments"])
        self.assertEqual(list(wrong_uses([("a.cpp", "report", "harness")], TOOL)), [])
        self.assertEqual(list(wrong_uses([("a.hpp", "rmw", "attic")], LIBRARY)), ["a.hpp: rmw may not use attic"])


if __name__ == "__main__":
    unittest.main()
