"""Experiments grid-votes and conjugate-gradients as a user meets them: small, every row verified."""

import unittest

from tool import ToolTest, run

VOTES = {"sync-add", "vote-add", "sync-or", "vote-or", "barrier-alone"}


class GridVotes(ToolTest):
    def test_on_host_threads(self):
        rows = self.rows_of_quick_run("grid-votes", "host", "-a", "shape=2x1,1x2")
        self.assertEqual({(row["axes"]["shape"], row["method"]) for row in rows},
                         {(shape, method) for shape in ("2x1", "1x2")
                          for method in VOTES | {"launch-wait", "lock-based-acquire-release"}})
        for row in rows:
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertTrue(row["verified"], row)
            wanted = "number of steps" if row["method"] == "barrier-alone" else "hash of all answers of all steps"
            self.assertRegex(row["verification"], wanted + "|Not above the noise", row)

    def test_others_are_refused(self):
        for wrong in ("shape=0x1", "method=cg"):
            self.assert_one_sentence(run("run", "grid-votes", "-d", "host", "-a", wrong), 2, wrong.split("=")[0])


class ConjugateGradients(ToolTest):
    def test_on_host_threads(self):
        rows = self.rows_of_quick_run("conjugate-gradients", "host", "-a", "side=9", "-a", "type=float,double")
        self.assertEqual({(row["axes"]["type"], row["method"]) for row in rows},
                         {(number, method) for number in ("float", "double")
                          for method in ("launch-wait", "lock-based-acquire-release", "votes")})
        for row in rows:
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertTrue(row["verified"], row)
            self.assertGreater(row["axes"]["iterations"], 5)
            self.assertRegex(row["verification"], "the same number of iterations|Not above the noise")

    def test_others_are_refused(self):
        for wrong in ("type=half", "side=2", "method=graph"):
            self.assert_one_sentence(run("run", "conjugate-gradients", "-d", "host", "-a", wrong), 2,
                                     wrong.split("=")[0])


if __name__ == "__main__":
    unittest.main()
