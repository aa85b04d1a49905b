"""Experiment stencil as a user meets it: rods, plates and cubes, small ones, every row verified."""

import unittest

from tool import ToolTest, run


class Stencil(ToolTest):
    def check(self, device, methods, all_dimensions):
        rows = self.rows_of_quick_run("stencil", device, "-a", "elements=8",
                                      "-a", "dimensions=" + ",".join(map(str, all_dimensions)))
        self.assertEqual({(row["axes"]["dimensions"], row["method"]) for row in rows},
                         {(dimensions, method) for dimensions in all_dimensions for method in methods})
        for row in rows:
            self.assertIn(row["status"], ("ok", "skipped"), row)
            # A rod of 64 points, a plate of as many, a cube of 4 x 4 x 4, in whole relaxations.
            self.assertTrue(row["verified"], row)
            self.assertRegex(row["verification"], "relaxations of (1000|64|16) steps")

    def test_on_host_threads(self):
        self.check("host", {"launch-wait", "lock-based-acquire-release", "placed-counters-acquire-release"}, (1, 2, 3))

    def test_on_opencl(self):
        self.check("opencl:0", {"relaunch", "lock-based-acquire-release"}, (3,))

    def test_other_bodies_are_refused(self):
        for wrong in ("type=half", "dimensions=4", "elements=2", "shape=0x1", "method=graph"):
            self.assert_one_sentence(run("run", "stencil", "-d", "host", "-a", wrong), 2, wrong.split("=")[0])


if __name__ == "__main__":
    unittest.main()
