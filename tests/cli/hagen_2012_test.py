"""The experiments on wait-free objects as a user meets them: rmw-cost on host threads, and what they refuse."""

import json
import unittest

from tool import ToolTest, run

OPERATIONS = "ADD,SUB,EXCH,MIN,MAX,INC,DEC,CAS"
METHODS = {"hardware", "cas-loop", "cas", "cas-mail-16", "cas128", "coalesced-store"}


class Hagen2012(ToolTest):
    def rows(self, *arguments):
        outcome = run("run", "rmw-cost", "-d", "host", "--quick", *arguments, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = json.loads(outcome.out)
        self.assertTrue(document["context"]["complete"])
        return document["rows"]

    def test_every_operation_of_every_policy_is_checked(self):
        rows = self.rows("-a", "operation=" + OPERATIONS, "-a", "type=uint32,float64", "-a", "participants=1,3",
                         "-a", "calls=500")
        self.assertEqual(len(rows), 8 * 2 * 2 * len(METHODS))
        self.assertEqual({row["method"] for row in rows}, METHODS)
        for row in rows:
            self.assertEqual((row["status"], row["verified"]), ("ok", True), row)
            # One run to warm up, and one or two that count.
            calls = int(row["verification"].split()[0])
            self.assertIn(calls, (1000 * row["axes"]["participants"], 1500 * row["axes"]["participants"]))
            self.assertGreater(row["metrics"]["call_time"]["value"], 0)
            self.assertGreaterEqual(row["metrics"]["slowest_over_mean"]["value"], 1)
            self.assertGreater(row["metrics"]["longest_call"]["value"], 0)
            self.assertAlmostEqual(row["metrics"]["calls_per_second"]["value"],
                                   row["axes"]["participants"] / row["metrics"]["call_time"]["value"])

    def test_ratios_are_to_the_methods_that_ran(self):
        rows = self.rows("-a", "participants=2", "-a", "calls=200", "-a", "method=cas,cas-loop")
        for row in rows:
            self.assertIn("call_time_over_cas-loop", row["metrics"])
            self.assertNotIn("call_time_over_hardware", row["metrics"])

    def test_what_there_is_not_is_refused_in_words(self):
        for arguments, words in [(("-a", "participants=6"), "up to 5"), (("-a", "capacity=7"), "it takes 5"),
                                 (("-a", "operation=MUL"), "MUL"), (("-a", "type=int8"), "int8"),
                                 (("-a", "memory=shared"), "shared"), (("-a", "method=lock"), "lock"),
                                 (("-a", "calls=1,2"), "one value")]:
            outcome = run("run", "rmw-cost", "-d", "host", *arguments)
            self.assertEqual(outcome.code, 2, (arguments, outcome.err))
            self.assertIn(words, outcome.err)

    def test_experiments_of_gpus_say_so_on_host_threads(self):
        for name in ("store-atomicity", "rmw-faults"):
            outcome = run("run", name, "-d", "host")
            self.assertNotEqual(outcome.code, 0)
            self.assertIn("host", outcome.err)


if __name__ == "__main__":
    unittest.main()
