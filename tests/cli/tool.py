"""Runs the tool under test: the program's path is the first argument of each test file."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Who has run this in the background of a script had them ignored, and so would the tool.
for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(interrupt) == signal.SIG_IGN:
        signal.signal(interrupt, signal.SIG_DFL)

TOOL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "gpusync"


class Outcome:
    def __init__(self, process, seconds):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr
        self.seconds = seconds


def run(*arguments, timeout=120, **options):
    begin = time.monotonic()
    process = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=timeout, **options)
    return Outcome(process, time.monotonic() - begin)


class ToolTest(unittest.TestCase):
    def rows_of_quick_run(self, experiment, device, *arguments):
        """The rows of a quick run; skips the test if there is no such device. On a machine that does other work a quick
        run may find nothing above the noise, and says so: then it is asked again."""
        devices = json.loads(run("devices", "--json").out)["devices"]
        if not any(each["id"] == device for each in devices):
            self.skipTest(f"there is no device {device}")
        for _ in range(3):
            outcome = run("run", experiment, "-d", device, "--quick", *arguments, "--json", "-")
            if outcome.code == 0 or "Not above the noise" not in outcome.err:
                break
        self.assertEqual(outcome.code, 0, outcome.err)
        return json.loads(outcome.out)["rows"]

    def assert_one_sentence(self, outcome, code, *words, within=1.0):
        """The exit code, nothing on stdout, one line on stderr that has all the words; within so many seconds."""
        self.assertEqual(outcome.code, code, outcome.err)
        self.assertEqual(outcome.out, "")
        lines = outcome.err.strip().split("\n")
        self.assertEqual(len(lines), 1, outcome.err)
        self.assertTrue(lines[0].startswith("gpusync: "), outcome.err)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertLess(outcome.seconds, within)


class FolderTest(ToolTest):
    """A test with a folder of its own for the files that it writes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, contents):
        with open(self.path(name), "wb") as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        return self.path(name)
