"""Experiment task-graph as a user meets it: small graphs on host threads, every row verified."""

import unittest

from tool import ToolTest, run


class TaskGraph(ToolTest):
    def test_on_host_threads(self):
        rows = self.rows_of_quick_run("task-graph", "host", "-a", "tasks=50", "-a", "shape=2x1", "-a",
                                      "work=none,random-20")
        self.assertEqual({(row["axes"]["graph"], row["axes"]["work"]) for row in rows},
                         {(graph, work) for graph in ("layered", "wavefront", "chain")
                          for work in ("none", "random-20")})
        self.assertEqual({row["method"] for row in rows},
                         {"no-barrier", "launch-wait", "placed-counters-acquire-release", "task-counters",
                          "task-events"})
        for row in rows:
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertTrue(row["verified"], row)
            self.assertEqual(row["kind"], {"no-barrier": "floor", "launch-wait": "host-wait"}.get(
                row["method"], "neighbours" if row["method"].startswith("task") else "barrier"))
            self.assertEqual(row["axes"]["tasks"], 49 if row["axes"]["graph"] == "wavefront" else 50)
            if row["status"] == "ok" and row["method"].startswith("task"):
                self.assertGreater(row["metrics"]["task_time"]["value"], 0)

    def test_other_graphs_are_refused(self):
        for wrong in ("graph=tree", "tasks=0", "width=0", "work=even-0", "work=half", "shape=0x1", "method=graph"):
            self.assert_one_sentence(run("run", "task-graph", "-d", "host", "-a", wrong), 2, wrong.split("=")[0])


if __name__ == "__main__":
    unittest.main()
