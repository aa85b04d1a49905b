"""What the commands print and write when all goes well."""

import csv
import io
import json
import os
import re
import subprocess
import tempfile
import unittest

import tool
from tool import ToolTest, run

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCHEMA = os.path.join(TESTS, "../src/results/results.schema.json")


def validate(document):
    """Against the published schema, with Debian's python3-jsonschema."""
    script = "import json,sys,jsonschema; a=json.load(sys.stdin); jsonschema.validate(a[1], a[0])"
    with open(SCHEMA, encoding="utf-8") as file:
        both = json.dumps([json.load(file), document])
    subprocess.run(["/usr/bin/python3", "-c", script], input=both, text=True, check=True)


# What a run takes that is not about what is measured: two rows instead of all.
FEW = ["--quick", "-a", "method=no-barrier,lock-based-fence", "-a", "stores=0"]


class Run(ToolTest):
    def check_document(self, text, device):
        document = json.loads(text)
        validate(document)
        self.assertTrue(document["context"]["complete"])
        rows = document["rows"]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(row["device"], device)
            if row["status"] == "ok":
                self.assertTrue(row["verified"], row)
                self.assertGreater(row["metrics"]["step_time"]["n"], 0)
            else:
                self.assertTrue(row["reason"], row)
        return document

    def test_json_on_stdout_is_a_valid_document_of_verified_rows(self):
        outcome = run("run", "barrier-cost", "-d", "host", *FEW, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.check_document(outcome.out, "host")

    def test_every_opencl_row_is_verified_or_skipped_with_its_reason(self):
        devices = json.loads(run("devices", "--json").out)["devices"]
        if not any(device["id"] == "opencl:0" for device in devices):
            self.skipTest("there is no OpenCL device")
        outcome = run("run", "barrier-cost", "-d", "opencl:0", "--quick", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = self.check_document(outcome.out, "opencl:0")
        self.assertTrue(any(row["status"] == "ok" and row["method"].startswith("lock-based") for row in document["rows"]))

    def test_too_many_blocks_are_skipped_in_words(self):
        outcome = run("run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=65535", "-a", "threads=1024",
                      "-a", "stores=0", "-a", "method=lock-based-fence", "--json", "-")
        self.assertEqual(outcome.code, 1, outcome.err)
        self.assertIn("Nothing was measured", outcome.err)
        row = json.loads(outcome.out)["rows"][0]
        self.assertEqual(row["status"], "skipped")
        self.assertIn("cannot all run at once", row["reason"])
        self.assertIsNone(row["metrics"]["step_time"]["value"])

    def test_axes_and_samples(self):
        outcome = run("run", "barrier-cost", "-d", "host", "--quick", "-a", "blocks=1,2", "-a", "stores=1", "-a",
                      "method=lock-based-acquire-release", "--json", "-")
        rows = json.loads(outcome.out)["rows"]
        self.assertEqual([row["axes"] for row in rows], [{"blocks": b, "threads": 1, "stores": 1} for b in (1, 2)])
        for row in rows:
            time = row["metrics"]["step_time"]
            self.assertEqual(len(time["samples"]), time["n"])
            if row["status"] == "skipped":  # other work on the machine was louder than a step
                self.assertIn("Not above the noise", row["reason"])
                self.assertIsNone(time["value"])
                continue
            self.assertLessEqual(time["q1"], time["median"])
            self.assertIn(time["stop"], ("spread", "time", "samples"))

    def test_a_run_of_everything_is_verified_its_outputs_agree_and_the_answer_comes_last(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, name) for name in ("r.json", "r.csv", "r.md", "r.html")]
            outcome = run("run", "barrier-cost", "-d", "host", "--quick", "--json", names[0], "--csv", names[1], "--md",
                          names[2])
            self.assertEqual(outcome.code, 0, outcome.err)
            answer = outcome.out.strip().split("\n")[-1]
            self.assertRegex(answer, "^(Use .* a step|Too noisy to say whether |Too few rounds )")
            self.assertLessEqual(len(answer.split()), 25)
            with open(names[0], encoding="utf-8") as file:
                document = self.check_document(file.read(), "host")
            self.assertLessEqual({"no-barrier", "launch-wait", "lock-based-none", "lock-based-fence",
                                  "lock-based-acquire-release"}, {row["method"] for row in document["rows"]})
            self.assertTrue(any(row["status"] == "ok" and row["method"] in ("lock-based-fence", "lock-based-acquire-release")
                                for row in document["rows"]), "no barrier was measured")
            said = {row["method"]: (row["kind"], row["ordered"], row["rival"]) for row in document["rows"]}
            self.assertEqual(said["no-barrier"], ("floor", True, False))
            self.assertEqual(said["launch-wait"], ("host-wait", True, True))
            self.assertEqual(said["lock-based-none"], ("barrier", False, False))
            self.assertEqual(said["lock-based-fence"], ("barrier", True, False))
            with open(names[1], encoding="utf-8", newline="") as file:
                table = list(csv.DictReader(io.StringIO(file.read())))
            self.assertEqual(len(table), len(document["rows"]))
            for line, row in zip(table, document["rows"]):
                self.assertEqual(line["method"], row["method"])
                self.assertEqual((line["kind"], line["ordered"]), (row["kind"], str(row["ordered"]).lower()))
                value = row["metrics"]["step_time"]["value"]  # null: not above the noise of a busy machine
                self.assertEqual(line["step_time_value"], "" if value is None else line["step_time_value"])
                if value is not None:
                    self.assertEqual(float(line["step_time_value"]), value)
            with open(names[2], encoding="utf-8") as file:
                markdown = file.read()
            self.assertTrue(all(row["method"] in markdown for row in document["rows"]))
            self.assertEqual(run("report", names[0], "-o", names[3]).code, 0)
            with open(names[3], encoding="utf-8") as file:
                self.assertIn("lock-based", file.read())
            self.assertEqual(sorted(os.listdir(folder)), ["r.csv", "r.html", "r.json", "r.md"])

    def test_a_full_disk_loses_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("run", "barrier-cost", "-d", "host", "--quick", "-a", "method=no-barrier", "-a", "stores=0",
                          "--json", "/dev/full", env={**os.environ, "TMPDIR": folder})
            self.assertEqual(outcome.code, 1)
            self.assertIn("/dev/full", outcome.err)
            (saved,) = os.listdir(folder)
            self.assertIn(saved, outcome.err)
            with open(os.path.join(folder, saved), encoding="utf-8") as file:
                validate(json.load(file))

    def test_a_reader_that_has_gone_loses_no_file_and_is_no_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            process = subprocess.Popen([tool.TOOL, "run", "barrier-cost", "-d", "host", *FEW, "--json", path],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdout.close()
            err = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(60), 0, err)
            self.assertNotIn("tandard output", err)
            self.assertEqual(os.listdir(folder), ["r.json"])

    def test_every_output_that_fails_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = run("run", "barrier-cost", "-d", "host", "--quick", "-a", "method=no-barrier", "-a", "stores=0",
                          "--json", "/dev/full", "--csv", "/dev/full", env={**os.environ, "TMPDIR": folder})
            self.assertEqual(outcome.code, 1)
            self.assertEqual(len(os.listdir(folder)), 2, outcome.err)

    def test_quiet_says_nothing_on_stderr_and_otherwise_progress_is_plain_lines(self):
        self.assertEqual(run("run", "barrier-cost", "-d", "host", *FEW, "--quiet").err, "")
        talk = run("run", "barrier-cost", "-d", "host", *FEW).err
        self.assertIn("barrier-cost:", talk)
        self.assertNotIn("\033", talk)
        self.assertNotIn("\r", talk)


class Commands(ToolTest):
    def test_devices(self):
        outcome = run("devices", "--json")
        self.assertEqual(outcome.code, 0)
        ids = [device["id"] for device in json.loads(outcome.out)["devices"]]
        self.assertEqual(ids[-1], "host")
        plain = run("devices").out
        for name in ids:
            self.assertIn(name, plain)

    def test_list(self):
        experiments = json.loads(run("list", "--json").out)["experiments"]
        self.assertIn("barrier-cost", [one["name"] for one in experiments])
        self.assertIn("barrier-cost", run("list").out)

    def test_coverage_counts_every_item_of_the_five_papers(self):
        items = json.loads(run("coverage", "--json").out)["items"]
        expected = [f"{letter}{i}" for letter, count in [("F", 20), ("L", 18), ("Z", 24), ("H", 9), ("S", 10)]
                    for i in range(1, count + 1)]
        self.assertEqual([item["id"] for item in items], expected)
        for item in items:
            self.assertEqual(set(item), {"id", "title", "status", "by", "devices", "note"})
            self.assertIn(item["status"], ("done", "partial", "missing"))
            self.assertEqual(bool(item["by"]), item["status"] != "missing", item)
        self.assertIn("F20", run("coverage").out)

    def test_every_experiment_covers_only_items_that_claim_it(self):
        items = {item["id"]: item for item in json.loads(run("coverage", "--json").out)["items"]}
        for one in json.loads(run("list", "--json").out)["experiments"]:
            for item in one["items"]:
                self.assertIn(one["name"], items[item]["by"], item)

    def test_everything_that_an_item_is_claimed_by_exists(self):
        names = {one["name"] for one in json.loads(run("list", "--json").out)["experiments"]}
        for top in [TESTS, os.path.join(TESTS, os.pardir, "verify")]:
            for folder, _, files in os.walk(top):
                if "CMakeLists.txt" not in files:
                    continue
                with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as file:
                    names.update(re.findall(r"(?:gpusync_(?:cuda_)?test|add_executable)\((\w+)", file.read()))
        for item in json.loads(run("coverage", "--json").out)["items"]:
            self.assertLessEqual(set(item["by"]), names, item)

    def test_doctor(self):
        outcome = run("doctor")
        self.assertEqual(outcome.code, 0)
        self.assertIn("host", outcome.out)

    def test_stdout_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = subprocess.run([tool.TOOL, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn("tandard output", process.stderr)


if __name__ == "__main__":
    unittest.main()
