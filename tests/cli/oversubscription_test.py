"""Experiment oversubscription as a user meets it: more work-groups than run at once, quickly, every row verified."""

import unittest

from tool import ToolTest

METHODS = {"relaunch", "phased-striding", "phased-claiming", "phased-flag-claiming"}


class Oversubscription(ToolTest):
    def check(self, device, *arguments):
        rows = self.rows_of_quick_run("oversubscription", device, *arguments)
        for row in rows:
            self.assertEqual(row["items"], ["S5"])
            # What is not measurable on a busy machine has been verified all the same.
            self.assertTrue(row["verified"], row)
            self.assertIn(row["status"], ("ok", "skipped"), row)
            if row["status"] == "ok" and row["method"] == "relaunch":
                self.assertEqual(row["metrics"]["step_time_over_relaunch"]["value"], 1)
        return rows

    def test_every_method_on_host_threads(self):
        rows = self.check("host", "-a", "virtual_blocks=1,128")
        self.assertEqual({(row["axes"]["virtual_blocks"], row["method"]) for row in rows},
                         {(blocks, method) for blocks in (1, 128) for method in METHODS})

    def test_128_virtual_groups_on_opencl(self):
        rows = self.check("opencl:0", "-a", "virtual_blocks=128")
        self.assertEqual({row["method"] for row in rows}, METHODS)
        for row in rows:
            self.assertEqual(row["axes"]["virtual_blocks"], 128)

    def test_by_default_from_as_many_as_run_at_once_to_64_times_as_many(self):
        rows = self.check("host")
        resident = rows[0]["axes"]["resident"]
        self.assertEqual({row["axes"]["virtual_blocks"] for row in rows}, {resident, 2 * resident, 64 * resident})


if __name__ == "__main__":
    unittest.main()
