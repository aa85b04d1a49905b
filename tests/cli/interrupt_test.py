"""Ctrl-C keeps what was measured, marked incomplete."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import tool
from tool import ToolTest


class Interrupt(ToolTest):
    def test_finished_rows_are_kept_and_marked_incomplete(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            process = subprocess.Popen(
                [tool.TOOL, "run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=1,2,3:64", "--json", path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(8)
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            _, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 30)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("ncomplete", err)
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            self.assertFalse(document["context"]["complete"])
            self.assertTrue(any(row["status"] == "ok" for row in document["rows"]))
            self.assertEqual(os.listdir(folder), ["r.json"])

    def test_a_second_one_ends_at_once_and_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            process = subprocess.Popen(
                [tool.TOOL, "run", "barrier-cost", "-d", "host", "-a", "blocks=64", "--json", path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not os.listdir(folder):  # the output is open: measuring begins
                time.sleep(0.01)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            # The first may already have ended the run by the time the second comes.
            self.assertIn(process.returncode, (1, 130))
            self.assertEqual(os.listdir(folder), ["r.json"] if process.returncode == 1 else [])
            if process.returncode == 1:
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
                self.assertFalse(document["context"]["complete"])
                for row in document["rows"]:  # what had no time to run is not called wrong
                    self.assertNotEqual(row["status"], "failed", row)


if __name__ == "__main__":
    unittest.main()
