"""The experiments of Shen 2013 as a user meets them, on the first OpenCL device."""

import json
import os
import subprocess
import tempfile
import unittest

from tool import ToolTest, run

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCHEMA = os.path.join(TESTS, "../src/results/results.schema.json")
THREE = ("launch-wait", "centralized-acquire-release", "decentralized-acquire-release")


def validate(document):
    """Against the published schema, with Debian's python3-jsonschema."""
    script = "import json,sys,jsonschema; a=json.load(sys.stdin); jsonschema.validate(a[1], a[0])"
    with open(SCHEMA, encoding="utf-8") as file:
        both = json.dumps([json.load(file), document])
    subprocess.run(["/usr/bin/python3", "-c", script], input=both, text=True, check=True)


class Shen2013(ToolTest):
    def setUp(self):
        devices = json.loads(run("devices", "--json").out)["devices"]
        if not any(device["id"] == "opencl:0" for device in devices):
            self.skipTest("there is no OpenCL device")

    def rows(self, experiment, *arguments):
        """(measured, published, fits) of a quick run, all checked for what holds of any."""
        outcome = run("run", experiment, "-d", "opencl:0", "--quick", *arguments, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = json.loads(outcome.out)
        validate(document)
        self.assertTrue(document["context"]["complete"])
        fits = [row for row in document["rows"] if "fit" in row["axes"]]
        figures = [row for row in document["rows"] if "fit" not in row["axes"]]
        published = [row for row in figures if row["device"].startswith("published: ")]
        measured = [row for row in figures if row["device"] == "opencl:0"]
        self.assertEqual(len(measured) + len(published), len(figures))
        for row in measured:
            self.assertTrue(row["verified"], row)
            self.assertEqual(row["status"], "ok", row)
        for row in published:
            self.assertIsNone(row["verified"])
            self.assertTrue(row["method"].startswith("published-"))
        self.assertLessEqual(set(THREE), {row["method"] for row in measured})
        return measured, published, fits

    def test_one_synchronization_over_groups(self):
        measured, published, fits = self.rows("opencl-barriers")
        self.assertEqual(len(published), 24)
        for row in measured:
            self.assertGreater(row["metrics"]["device_time"]["value"], 0)
            self.assertGreater(row["metrics"]["host_time"]["value"], 0)
        centralized = next(row for row in fits if row["method"] == "published-centralized")
        self.assertAlmostEqual(centralized["metrics"]["time_per_group"]["value"], 0.2584, 4)
        self.assertEqual(centralized["metrics"]["place"]["value"], 3)

    def test_iterations_and_where_a_barrier_wins(self):
        measured, published, fits = self.rows("opencl-iterations")
        self.assertEqual(len(published), 21)
        wins = {row["method"]: row["metrics"].get("wins_from", {}).get("value") for row in fits}
        self.assertEqual((wins["published-decentralized"], wins["published-centralized"]), (10, 12))
        self.assertIn("centralized-acquire-release", wins)
        self.assertNotIn("wins_from", next(row for row in fits if row["method"] == "launch-wait")["metrics"])
        self.assertEqual({row["axes"]["iterations"] for row in measured}, {1, 10, 50, 200})

    def test_memory_is_what_was_allocated(self):
        measured, published, _ = self.rows("opencl-memory")
        self.assertEqual(len(published), 21)
        for row in measured:
            metrics = row["metrics"]
            self.assertEqual(metrics["device_memory"]["value"] * 1024, metrics["allocated"]["value"])
            waits_on_device = row["method"] not in ("no-barrier", "launch-wait")
            self.assertEqual(metrics["barrier_memory"]["value"] > 0, waits_on_device)
            self.assertLessEqual(metrics["algorithm_memory"]["value"], metrics["barrier_memory"]["value"])

    def test_groups_that_do_not_run_at_once_are_skipped_in_words(self):
        outcome = run("run", "opencl-barriers", "-d", "opencl:0", "--quick", "-a", "groups=65535", "-a", "items=1", "-a",
                      "method=launch-wait,centralized-acquire-release", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        rows = {row["method"]: row for row in json.loads(outcome.out)["rows"] if row["device"] == "opencl:0"
                and "fit" not in row["axes"]}
        self.assertEqual(rows["centralized-acquire-release"]["status"], "skipped")
        self.assertIn("cannot all run at once", rows["centralized-acquire-release"]["reason"])
        self.assertEqual(rows["launch-wait"]["status"], "ok")

    def test_the_report_draws_what_was_published_beside_what_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("r.json", "r.html")]
            self.assertEqual(run("run", "opencl-memory", "-d", "opencl:0", "--quick", "--json", paths[0]).code, 0)
            self.assertEqual(run("report", paths[0], "-o", paths[1]).code, 0)
            with open(paths[1], encoding="utf-8") as file:
                self.assertIn("published-decentralized", file.read())

    def test_a_wrong_method_names_the_culprit(self):
        outcome = run("run", "opencl-barriers", "-d", "opencl:0", "-a", "method=abacus")
        self.assertEqual(outcome.code, 2)
        self.assertIn("abacus", outcome.err)


if __name__ == "__main__":
    unittest.main()
