"""A document of 100 MB is read in five seconds of a processor.

usage: large_document_test.py GPUSYNC
"""

import json
import os
import resource
import tempfile
import unittest

from tool import ToolTest, run

MEGABYTES = 100


class LargeDocument(ToolTest):
    def test_is_read_in_five_seconds(self):
        metric = {"value": 1.0, "unit": "us", "n": 51, "q1": 0.9, "median": 1.0, "q3": 1.1, "stddev": 0.1,
                  "samples": [0.912345 + i / 1000 for i in range(51)], "stop": "spread", "interval": [0.9, 1.1]}
        row = {"experiment": "barrier-cost", "items": ["F1"], "device": "host", "axes": {"blocks": 2}, "method": "graph",
               "kind": "graph", "ordered": True, "rival": True, "metrics": {"step_time": metric}, "verified": True,
               "verification": None, "clock_mhz": None, "status": "ok", "reason": None}
        head = '{"schema": "gpusync-results/2", "context": {"complete": true}, "rows": ['
        with tempfile.TemporaryDirectory() as folder:
            large, small = os.path.join(folder, "large.json"), os.path.join(folder, "small.json")
            text = json.dumps(row)
            with open(large, "w", encoding="utf-8") as file:
                file.write(head + ",\n".join([text] * (MEGABYTES * 1000000 // len(text) + 1)) + "]}")
            self.assertGreater(os.path.getsize(large), MEGABYTES * 1000000)
            with open(small, "w", encoding="utf-8") as file:
                file.write(head + json.dumps({**row, "method": "cg"}) + "]}")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            outcome = run("compare", large, small)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assert_one_sentence_of(outcome)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 5)

    def assert_one_sentence_of(self, outcome):
        self.assertEqual((outcome.code, outcome.out), (2, ""))
        self.assertIn("no row in common", outcome.err)


if __name__ == "__main__":
    unittest.main()
