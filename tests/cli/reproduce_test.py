"""All experiments in a given time: one document, one page, gone on with by the same command.

usage: reproduce_test.py GPUSYNC
"""

import json
import os
import signal
import subprocess
import time
import unittest

import tool
from tool import FolderTest, run


def key_of(row):
    return row["experiment"], row["device"], json.dumps(row["axes"]), row["method"]


def turns_of_experiments():
    """How many of the same paper, or of ours, come before an experiment."""
    names = [one["name"] for one in json.loads(run("list", "--json").out)["experiments"]]
    had, turns = {}, {}
    items = json.loads(run("coverage", "--json").out)["items"]
    for home, name in [*((item["id"][0], name) for item in items for name in item["by"]), *(("ours", name) for name in names)]:
        if name in names and name not in turns:
            turns[name] = had[home] = had.get(home, -1) + 1
    return turns


class Reproduce(FolderTest):
    def reproduce(self, *more, seconds="4", **options):
        return run("reproduce", "-d", "host", "--quick", "--time", seconds, "-o", self.place("all"), *more, **options)

    def place(self, *names):
        return os.path.join(self.folder, *names)

    def document(self):
        with open(self.place("all", "results.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_the_same_command_goes_on_until_all_is_there(self):
        first = self.reproduce()
        self.assertEqual(first.code, 0, first.err)
        before = self.document()
        self.assertFalse(before["context"]["complete"], "not so much in four seconds")
        last = first.out.strip().split("\n")[-1]
        self.assertIn("There was no time for ", last)
        self.assertIn("the same command goes on", last)
        self.assertIn("report.html", last)
        with open(self.place("all", "report.html"), encoding="utf-8") as file:
            self.assertIn("</html>", file.read())
        names = {row["experiment"] for row in before["rows"] if row["status"] == "ok"}
        self.assertGreaterEqual(len(names), 2)
        turns = turns_of_experiments()
        order = [turns[name] for name in dict.fromkeys(row["experiment"] for row in before["rows"] if row["status"] == "ok")
                 if name != "observations"]
        back = sum(a > b for a, b in zip(order, order[1:]))
        self.assertLessEqual(back, 1, f"each paper and ours in turn, but for those that take long: {order}")
        second = self.reproduce()
        self.assertEqual(second.code, 0, second.err)
        self.assertIn("not measured again", second.err)
        after = self.document()
        self.assertTrue({key_of(row) for row in before["rows"]} <= {key_of(row) for row in after["rows"]})
        self.assertGreater(len({row["experiment"] for row in after["rows"]}), len(names))
        for document in (before, after):
            rows = [row for row in document["rows"] if not row["device"].startswith("published")]
            self.assertEqual(len(rows), len({key_of(row) for row in rows}), "each row once")

    def test_what_judges_the_others_comes_last_each_time(self):
        for turn in ("first", "second"):
            outcome = self.reproduce(seconds="3")
            self.assertEqual(outcome.code, 0, outcome.err)
            rows = self.document()["rows"]
            self.assertEqual(rows[-1]["experiment"], "observations", turn)
            mine = [row for row in rows if row["experiment"] == "observations"]
            self.assertEqual(len(mine), len({row["method"] for row in mine}), "once, however often it was judged")

    def test_each_experiment_of_the_device_has_its_turn_or_is_named(self):
        outcome = self.reproduce()
        listed = json.loads(run("list", "--json").out)["experiments"]
        measured = {row["experiment"] for row in self.document()["rows"]}
        unreached = outcome.out.strip().split("\n")[-1].split("no time for ")[-1]
        for each in listed:
            if "host" in each["devices"]:
                # Models measure nothing: they judge what others have.
                self.assertTrue(each["name"] in measured or each["name"] in unreached or each["name"] in ("pace-model", "advice"),
                                each["name"])
            else:
                self.assertIn(f"{each['name']} does not run on host", outcome.err)

    def stopped(self, folder="all"):
        """What a run says that is interrupted when its first cases, or more, are in the journal."""
        command = [tool.TOOL, "reproduce", "-d", "host", "--quick", "--time", "60", "-o", folder]
        size = lambda: os.path.getsize(self.partial()) if os.path.exists(self.partial()) else 0  # noqa: E731
        before = size()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        for _ in range(600):
            time.sleep(0.05)
            if size() > before + 4000:
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("the same command goes on from here", err)
        self.assertTrue(os.path.exists(self.partial()))
        return err

    def partial(self):
        return self.place("all", "results.json.partial")

    def test_a_run_that_is_stopped_keeps_what_it_has_and_no_less_than_was_there(self):
        self.stopped()
        rows = self.document()["rows"]
        self.assertFalse(self.document()["context"]["complete"])
        os.remove(self.partial())
        with open(self.place("all", "results.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "gpusync-results/2", "context": {"mine": True}, "rows": 40 * rows}, file)
        self.assertIn("have more rows, and stay", self.stopped())
        self.assertTrue(self.document()["context"]["mine"])
        # Wherever it is said that the folder is.
        self.assertIn("not measured again", self.stopped("./all/../all"))

    def test_what_a_journal_does_not_let_go_on_is_told_in_words_of_this_command(self):
        self.stopped()
        with open(self.partial(), encoding="utf-8") as file:
            head, case = file.readline(), file.readline()
        refusal = run("reproduce", "-d", "host", "-o", self.place("all"))
        self.assert_one_sentence(refusal, 2, "is of another command: give the same command there, or delete it")
        self.assertNotIn("--", refusal.err)
        with open(self.partial(), "w", encoding="utf-8") as file:
            file.write("my thesis\n" + case)
        refusal = run("reproduce", "-d", "host", "-o", self.place("all"))
        self.assert_one_sentence(refusal, 2, "no journal", "give -o another folder")
        # Nothing is lost with a journal that has no case.
        with open(self.partial(), "w", encoding="utf-8") as file:
            file.write(head)
        self.assertEqual(run("reproduce", "-d", "host", "--time", "1", "--quick", "-o", self.place("all")).code, 0)

    def test_a_disk_without_room_loses_no_measurement(self):
        # A limit on the size of files stands in for a full disk.
        command = 'ulimit -f 8; exec "$0" "$@"'
        outcome = subprocess.run(["bash", "-c", command, tool.TOOL, "reproduce", "-d", "host", "--quick", "--time", "3", "-o",
                                  self.place("all")], capture_output=True, text=True, check=False,
                                 env={**os.environ, "TMPDIR": "/nonexistent"})
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        self.assertRegex(outcome.stderr, r"results\.json could not be written \(File too large\)")
        self.assertIn("barrier-cost: ", outcome.stdout)
        document = outcome.stdout[outcome.stdout.index("{\n"):outcome.stdout.index("\n}\n") + 2]
        self.assertTrue(json.loads(document)["rows"])

    def test_what_cannot_be_is_refused(self):
        with open(self.place("file"), "w", encoding="utf-8") as file:
            file.write("x")
        self.assert_one_sentence(run("reproduce", "--quick", "-o", self.place("file")), 2, "file", "cannot be a folder")
        self.assert_one_sentence(run("reproduce", "-d", "cuda:99", "-o", self.place("all")), 3, "cuda:99")
        self.assert_one_sentence(run("reproduce"), 2, "--output")
        for seconds in ("0", "nan", "x", "-1"):
            self.assert_one_sentence(run("reproduce", f"--time={seconds}", "-o", self.place("all")), 2, "--time")
        self.assertFalse(os.path.exists(self.place("all")))


if __name__ == "__main__":
    unittest.main()
