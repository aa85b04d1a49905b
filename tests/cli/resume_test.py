"""A run that was cut short goes on where it was.

usage: resume_test.py GPUSYNC
"""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import tool
from tool import ToolTest, run

COMMAND = ["run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=1,2", "-a", "stores=0,1", "-a",
           "method=no-barrier,lock-based-fence"]
CASES = 4


def keys_of(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    return document["context"]["complete"], [(row["experiment"], row["device"], json.dumps(row["axes"]), row["method"])
                                             for row in document["rows"]]


class Resume(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "r.json")
        self.partial = self.path + ".partial"

    def cases_done(self):
        try:
            with open(self.partial, encoding="utf-8") as file:
                return file.read().count("\n") - 1
        except FileNotFoundError:
            return -1

    def kill_after(self, cases, how=signal.SIGKILL, *more):
        """Ends a run when so many cases are done; False if it was done before."""
        process = subprocess.Popen([tool.TOOL, *COMMAND, "--json", self.path, *more], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while self.cases_done() < cases and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        process.wait(60)
        return self.cases_done() >= cases

    def resume(self, *more):
        return run(*COMMAND, "--json", self.path, "--resume", *more)

    def uninterrupted(self):
        path = os.path.join(self.folder.name, "whole.json")
        self.assertEqual(run(*COMMAND, "--json", path).code, 0)
        return keys_of(path)

    def test_after_a_kill_at_any_case_there_are_the_same_rows(self):
        whole = self.uninterrupted()
        self.assertTrue(whole[0])
        for cases in range(CASES):
            with self.subTest(cases):
                self.assertTrue(self.kill_after(cases))
                self.assertFalse(os.path.exists(self.path))
                done = self.cases_done()
                outcome = self.resume()
                self.assertEqual(outcome.code, 0, outcome.err)
                if done > 0:
                    self.assertIn(f"{done} case{'' if done == 1 else 's'} of before", outcome.err)
                self.assertEqual(keys_of(self.path), whole)
                self.assertFalse(os.path.exists(self.partial), "a whole document needs no journal")
                os.remove(self.path)

    def test_cases_of_before_are_not_measured_again(self):
        self.assertTrue(self.kill_after(2))
        with open(self.partial, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file.read().split("\n")[1:3]]
        kept = [row["metrics"]["step_time"]["samples"] for line in lines for row in line["rows"]]
        self.assertEqual(self.resume().code, 0)
        with open(self.path, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        self.assertEqual([row["metrics"]["step_time"]["samples"] for row in rows[:len(kept)]], kept)

    def test_a_run_may_be_cut_short_and_go_on_twice_and_by_ctrl_c_too(self):
        self.assertTrue(self.kill_after(1))
        self.assertTrue(self.kill_after(2, signal.SIGINT, "--resume"))
        self.assertEqual(self.resume().code, 0)
        self.assertEqual(keys_of(self.path), self.uninterrupted())

    def test_a_line_that_was_cut_short_is_measured_again(self):
        self.assertTrue(self.kill_after(1))
        with open(self.partial, "r+", encoding="utf-8") as file:
            text = file.read()
            file.seek(0)
            file.truncate()
            file.write(text[:text.index("\n") + 1] + text.split("\n")[1][:100])
        self.assertEqual(self.resume().code, 0)
        self.assertEqual(keys_of(self.path), self.uninterrupted())

    def test_what_cannot_go_on_is_refused(self):
        self.assert_one_sentence(self.resume(), 2, "nothing to resume")
        self.assert_one_sentence(run(*COMMAND, "--resume"), 2, "--json")
        self.assert_one_sentence(run(*COMMAND, "--resume", "--json", "-"), 2, "--json")
        self.assertTrue(self.kill_after(1))
        self.assert_one_sentence(self.resume("-a", "threads=1"), 2, "another command")
        self.assert_one_sentence(run(*COMMAND, "--json", self.path), 2, "holds 1 case", "--resume")
        self.spoil(lambda head: head["context"].update(devices=["another"]))
        self.assert_one_sentence(self.resume(), 2, "another machine")
        self.spoil(lambda head: head["context"].update(version="0.0.0"))
        self.assert_one_sentence(self.resume(), 2, "another version")
        with open(self.partial, "a", encoding="utf-8") as file:
            file.write("nonsense\n")
        self.assert_one_sentence(self.resume(), 2, "r.json.partial")

    def spoil(self, change):
        """Changes a journal's first line."""
        with open(self.partial, encoding="utf-8") as file:
            head, rest = file.read().split("\n", 1)
        head = json.loads(head)
        change(head)
        with open(self.partial, "w", encoding="utf-8") as file:
            file.write(json.dumps(head) + "\n" + rest)

    def test_goes_on_whatever_the_console_shows_and_in_any_order(self):
        self.assertTrue(self.kill_after(2))
        options = ["-a", "method=no-barrier,lock-based-fence", "--quick", "-a", "blocks=1,2", "-a", "stores=0,1"]
        outcome = run("run", "barrier-cost", *options, "-d", "host", "--verbose", "--no-color", "--resume", "--json",
                      self.path)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("2 cases of before", outcome.err)

    def test_a_case_that_nobody_asks_for_stays(self):
        self.assertTrue(self.kill_after(2))
        with open(self.partial, encoding="utf-8") as file:
            lines = file.read().split("\n")
        case = json.loads(lines[1])
        case["context"]["case"][2] = "what nobody measures"
        with open(self.partial, "w", encoding="utf-8") as file:
            file.write("\n".join([lines[0], json.dumps(case), *lines[2:]]))
        outcome = self.resume()
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("1 case of before that nobody asked for stays", outcome.err)
        self.assertTrue(os.path.exists(self.partial))
        self.assertEqual(keys_of(self.path), self.uninterrupted())

    def test_two_runs_do_not_share_a_document(self):
        # Paused while it is measured: nothing of it is done yet, and its journal has a first line at the most.
        first = subprocess.Popen([tool.TOOL, *COMMAND, "--json", self.path], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(self.partial):
                self.assertIsNone(first.poll())
                time.sleep(0.001)
            time.sleep(0.05)
            first.send_signal(signal.SIGSTOP)
            for more in ([], ["--resume"]):
                for path in (self.path, os.path.join(self.folder.name, ".", "r.json")):
                    outcome = run(*COMMAND, "--json", path, *more)
                    self.assert_one_sentence(outcome, 2, "Another run is writing", "r.json")
        finally:
            first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(os.listdir(self.folder.name), ["r.json"])
        self.assertEqual(keys_of(self.path), self.uninterrupted())

    def test_the_journal_of_a_killed_run_is_free(self):
        self.assertTrue(self.kill_after(0))
        self.assertEqual(run(*COMMAND, "--json", self.path).code, 0)

    def test_a_killed_run_leaves_its_journal_and_nothing_else(self):
        self.assertTrue(self.kill_after(1))
        self.assertEqual(os.listdir(self.folder.name), ["r.json.partial"])

    def test_a_disk_without_room_for_a_journal_leaves_none(self):
        # A limit on the size of files stands in for a full disk.
        command = 'ulimit -f 0; exec "$0" "$@"'
        outcome = subprocess.run(["bash", "-c", command, tool.TOOL, *COMMAND, "--json", self.path], capture_output=True,
                                 text=True, check=False, env={**os.environ, "TMPDIR": "/nonexistent"})
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        self.assertIn("could not be written", outcome.stderr)
        self.assertTrue(json.loads(outcome.stdout[:outcome.stdout.rindex("}") + 1])["rows"])
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_what_is_no_journal_is_left_as_it_is(self):
        with open(self.partial, "w", encoding="utf-8") as file:
            file.write("my thesis\n")
        for more in ([], ["--resume"]):
            self.assert_one_sentence(run(*COMMAND, "--json", self.path, *more), 2, "no journal")
        with open(self.partial, encoding="utf-8") as file:
            self.assertEqual(file.read(), "my thesis\n")
        os.remove(self.partial)
        own = os.path.join(self.folder.name, "thesis.txt")
        with open(own, "w", encoding="utf-8") as file:
            file.write("my thesis\n")
        os.symlink(own, self.partial)
        self.assert_one_sentence(run(*COMMAND, "--json", self.path), 2, "r.json.partial")
        os.remove(self.partial)
        os.mkfifo(self.partial)
        self.assert_one_sentence(run(*COMMAND, "--json", self.path), 2, "plain file")
        os.remove(self.partial)
        with open(own, encoding="utf-8") as file:
            self.assertEqual(file.read(), "my thesis\n")
        self.assert_one_sentence(run(*COMMAND, "--json", self.path, "--csv", self.partial), 2, "another name")


class DryRun(ToolTest):
    def test_says_what_would_be_measured_and_measures_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            outcome = run(*COMMAND, "--json", path, "--dry-run")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertIn("barrier-cost on host: 4 cases", outcome.out)
            self.assertRegex(outcome.out, r"4 cases, at most about \d+ s on an idle machine")
            self.assertEqual(os.listdir(folder), [])
            self.assertLess(outcome.seconds, 5)

    def test_finds_what_is_wrong(self):
        self.assert_one_sentence(run(*COMMAND, "-a", "blocks=0", "--dry-run"), 2, "blocks")

    def test_of_every_experiment_of_every_device_there_is_one(self):
        devices = [device["id"] for device in json.loads(run("devices", "--json").out)["devices"]]
        for one in json.loads(run("list", "--json").out)["experiments"]:
            for device in devices:
                if device.split(":")[0] not in one["devices"]:
                    continue
                outcome = run("run", one["name"], "-d", device, "--quick", "--dry-run")
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertRegex(outcome.out, rf"{one['name']} on {device}: \d+ cases?, at most about ")


if __name__ == "__main__":
    unittest.main()
