"""Ctrl-C keeps what was measured, marked incomplete."""

import json
import os
import random
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
                [tool.TOOL, "run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=1,2,3:64", "--verbose", "--json",
                 path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while "step_time" not in process.stderr.readline():  # a row is finished
                self.assertIsNone(process.poll(), "it has finished no row")
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
            self.assertEqual(sorted(os.listdir(folder)), ["r.json", "r.json.partial"])

    def end_while(self, doing, *arguments, after=0.3):
        """Interrupts a run as soon as it says that it is doing something; returns its document and its last words."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            process = subprocess.Popen([tool.TOOL, "run", *arguments, "--json", path],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = []
            while not said or doing not in said[-1]:
                line = process.stderr.readline()
                self.assertNotEqual(line, "", f"it never said '{doing}': {said}")
                said.append(line)
            time.sleep(after)
            self.assertIsNone(process.poll(), "it was done before it could be interrupted")
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            _, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 4, "what was long went on")
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("stopping after what runs now", err)
            self.assertIn("Interrupted: the finished rows were kept, marked incomplete.", err)
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            self.assertFalse(document["context"]["complete"])
            for row in document["rows"]:  # what had no time to end is not called wrong
                self.assertNotEqual(row["status"], "failed", row)
            return document

    def test_an_alignment_by_the_host_ends_too(self):
        self.assertEqual(self.end_while("aligned on the host", "smith-waterman", "-d", "host", "-a", "length=2^18",
                                        "-a", "blocks=1")["rows"], [])

    def test_a_sort_by_the_host_ends_too(self):
        self.assertEqual(self.end_while("sorted on the host", "bitonic-sort", "-d", "host", "-a", "elements=2^25", "-a",
                                        "blocks=1")["rows"], [])

    def write_fasta(self, count):
        file = tempfile.NamedTemporaryFile("w", suffix=".fa", encoding="ascii")
        self.addCleanup(file.close)
        file.write(f">{count}\n{''.join(random.Random(1).choices('ACGT', k=count))}\n")
        file.flush()
        return file.name

    def test_a_run_on_host_threads_ends_before_its_last_step(self):
        # Few cells, but 200,000 diagonals, for each of which threads are started.
        self.end_while("aligned on the host", "smith-waterman", "-d", "host", "-a",
                       f"query={self.write_fasta(200000)}", "-a", f"reference={self.write_fasta(50)}", "-a", "blocks=2",
                       "-a", "method=launch-wait", after=2)

    def test_a_traceback_ends_too(self):
        path = self.write_fasta(20000)
        document = self.end_while("lock-based-acquire-release:", "smith-waterman", "-d", "host", "-a", f"query={path}",
                                  "-a", f"reference={path}", "-a", "traceback=1", "-a", "blocks=2", "-a",
                                  "method=lock-based-acquire-release", "--quick", "--verbose", after=0.1)
        self.assertTrue(document["rows"])
        self.assertNotIn("traceback", {row["method"] for row in document["rows"]})

    def test_what_was_measured_before_stays_if_it_is_more(self):
        command = [tool.TOOL, "run", "barrier-cost", "--quick", "-d", "host", "-a", "blocks=2", "-a", "threads=1", "--json"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            self.assertEqual(subprocess.run([*command, path], capture_output=True, check=False).returncode, 0)
            with open(path, "rb") as file:
                whole = file.read()
            for after in (0.03, 0.06, 0.1):
                process = subprocess.Popen([*command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(after)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=60)
                self.assertNotEqual(process.returncode, 0, "it was done before it could be interrupted")
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), whole, err)
                if process.returncode == 1:
                    self.assertIn("Interrupted: the results that are there have more rows, and stay", err)
                if os.path.exists(path + ".partial"):
                    os.remove(path + ".partial")

    def test_what_nohup_has_ignored_stays_ignored(self):
        process = subprocess.Popen(
            [tool.TOOL, "run", "barrier-cost", "--quick", "-d", "host", "-a", "blocks=2", "-a", "threads=1", "--verbose"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        while "step_time" not in process.stderr.readline():
            self.assertIsNone(process.poll(), "it has finished no row")
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=120)
        self.assertNotIn("Interrupted", err)
        self.assertNotIn("INCOMPLETE", out)

    def test_a_second_one_ends_at_once_and_leaves_no_document(self):
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
            self.assertEqual(sorted(os.listdir(folder)), ["r.json"] * (process.returncode == 1) + ["r.json.partial"])
            if process.returncode == 1:
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
                self.assertFalse(document["context"]["complete"])
                for row in document["rows"]:  # what had no time to run is not called wrong
                    self.assertNotEqual(row["status"], "failed", row)


if __name__ == "__main__":
    unittest.main()
