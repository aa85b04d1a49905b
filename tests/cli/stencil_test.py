"""Experiments stencil and converging-stencil as a user meets them: small bodies, every row verified."""

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

    def test_each_body_and_shape_is_a_case_that_a_dry_run_counts(self):
        choice = ["-d", "host", "--quick", "-a", "shape=1x1,2x1", "-a", "elements=8"]
        outcome = run("run", "stencil", *choice, "-a", "dimensions=1,3", "--dry-run", "--verbose")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("stencil on host: 4 cases, at most about 10 s on an idle machine", outcome.out)
        self.assertIn("64 x 1 x 1 points, float, 2x1", outcome.out)
        rows = self.rows_of_quick_run("stencil", "host", *choice[3:], "-a", "dimensions=3", "-a", "method=launch-wait")
        self.assertEqual([(row["axes"]["dimensions"], row["axes"]["shape"], row["verified"]) for row in rows],
                         [(3, "1x1", True), (3, "2x1", True)])

    def test_until_converged(self):
        rows = self.rows_of_quick_run("converging-stencil", "host", "-a", "elements=16", "-a", "dimensions=2,3",
                                      "-a", "steps=20")
        methods = {"launch-wait", "lock-based-acquire-release", "votes"}
        self.assertEqual({(row["axes"]["dimensions"], row["method"]) for row in rows},
                         {(dimensions, method) for dimensions in (2, 3) for method in methods})
        for row in rows:
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertTrue(row["verified"], row)
            self.assertGreaterEqual(row["axes"]["steps"], 20)
            self.assertGreater(float(row["axes"]["tolerance"]), 0)
            self.assertRegex(row["verification"], "and how many steps they were")

    def test_what_cannot_converge_is_refused(self):
        outcome = run("run", "converging-stencil", "-d", "host", "-a", "elements=8", "-a", "dimensions=2",
                      "-a", "steps=100000")
        self.assertEqual(outcome.code, 1, outcome.err)
        self.assertIn("take fewer steps", outcome.err)

    def test_other_bodies_are_refused(self):
        for wrong in ("type=half", "dimensions=4", "elements=2", "shape=0x1", "method=graph"):
            self.assert_one_sentence(run("run", "stencil", "-d", "host", "-a", wrong), 2, wrong.split("=")[0])


if __name__ == "__main__":
    unittest.main()
