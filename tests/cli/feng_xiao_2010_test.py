"""Experiment cost-decomposition of Feng and Xiao 2010 as a user meets it, on host threads."""

import json
import os
import subprocess
import tempfile
import unittest

from tool import ToolTest, run

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SCHEMA = os.path.join(TESTS, "../src/results/results.schema.json")
FIVE = ("no-barrier", "atomic-awaited", "block-barriers", "lock-based-none", "lock-based-fence")
PAPER = {"ta-atomic-add", "tc-check", "ts-block-barriers", "tf-fence"}


def validate(document):
    """Against the published schema, with Debian's python3-jsonschema."""
    script = "import json,sys,jsonschema; a=json.load(sys.stdin); jsonschema.validate(a[1], a[0])"
    with open(SCHEMA, encoding="utf-8") as file:
        both = json.dumps([json.load(file), document])
    subprocess.run(["/usr/bin/python3", "-c", script], input=both, text=True, check=True)


class FengXiao2010(ToolTest):
    def rows(self, *arguments):
        """(variants, parts, fits, sums, published) of a quick run, all checked for what holds of any."""
        outcome = run("run", "cost-decomposition", "-d", "host", "--quick", *arguments, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = json.loads(outcome.out)
        validate(document)
        self.assertTrue(document["context"]["complete"])
        ours = [row for row in document["rows"] if row["device"] == "host"]
        published = [row for row in document["rows"] if row["device"] == "published: GeForce GTX 280"]
        self.assertEqual(len(ours) + len(published), len(document["rows"]))
        for row in ours:
            # What is not measurable on a busy machine is skipped, and so is what would be drawn from it.
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertEqual(row["status"] == "ok", row["reason"] is None, row)
        fits = [row for row in ours if "fit" in row["axes"]]
        kinds = [[row for row in ours if row["axes"]["time_of"] == kind and "fit" not in row["axes"]]
                 for kind in ("variants", "parts", "sums")]
        self.assertEqual(len(fits) + sum(map(len, kinds)), len(ours))
        return kinds[0], kinds[1], fits, kinds[2], published

    def test_every_variant_is_verified_and_every_part_is_drawn_from_them(self):
        variants, parts, fits, _, _ = self.rows()
        blocks = {row["axes"]["blocks"] for row in variants}
        self.assertEqual(len(variants), 12 * len(blocks))
        self.assertEqual(len(parts), 12 * len(blocks))
        self.assertEqual(len(fits), 12)
        self.assertLessEqual({"F12", "F13", "F14", "F15", "F16", "F19"},
                             {item for row in variants for item in row["items"]})
        for row in variants:
            self.assertTrue(row["verified"], row)
            self.assertEqual(row["axes"]["stores"], 1)
            self.assertIn("F11", row["items"])
            # No way to wait, so nothing to judge: see then_and_now() in the verdicts.
            self.assertEqual(list(row["metrics"]), ["variant_time"])
        for row in parts:
            self.assertIsNone(row["verified"], row)
            time = row["metrics"]["part_time"]
            self.assertEqual(time["unit"], "us")
            if row["status"] != "ok":
                continue
            self.assertGreaterEqual(time["q3"], time["q1"])
            # Of one thread a block barrier is nothing, and on a busy machine nothing is noise.
            if row["method"] in ("tcom-work", "ta-atomic-add", "ts-block-barriers", "unawaited-add"):
                self.assertGreater(time["value"], -0.01 - 4 * (time["stddev"] or 0), row)

    def test_the_five_programs_of_the_paper_and_the_sums_of_their_parts(self):
        variants, parts, fits, sums, _ = self.rows("-a", "blocks=1,2", "-a", "stores=0,1", "-a",
                                                   "method=" + ",".join(FIVE))
        self.assertEqual({row["method"] for row in variants}, set(FIVE))
        self.assertEqual({row["method"] for row in parts}, PAPER | {"tcom-work"})
        self.assertEqual({(row["axes"]["stores"], row["method"]) for row in fits},
                         {(stores, part) for stores in (0, 1) for part in PAPER | {"tcom-work"}})
        times = {(row["axes"]["stores"], row["axes"]["blocks"], row["method"]): row["metrics"]["variant_time"]["samples"]
                 for row in variants if row["status"] == "ok"}
        for row in parts:
            if row["method"] != "tf-fence" or row["status"] != "ok":
                continue
            shape = (row["axes"]["stores"], row["axes"]["blocks"])
            differences = [fenced - unfenced for fenced, unfenced in
                           zip(times[(*shape, "lock-based-fence")], times[(*shape, "lock-based-none")])]
            for ours, theirs in zip(row["metrics"]["part_time"]["samples"], differences, strict=True):
                # Documents keep six digits of either.
                largest = max(map(abs, times[(*shape, "lock-based-fence")] + times[(*shape, "lock-based-none")]))
                self.assertAlmostEqual(ours, theirs, delta=2e-5 * largest)
        lines = {(row["axes"]["stores"], row["method"]): row["metrics"] for row in fits if row["status"] == "ok"}
        for row in sums:
            names = ["ts-block-barriers", "ta-atomic-add", "tc-check"]
            if row["method"] == "lock-based-fence":
                names.append("tf-fence")
            metrics = {name: metric["value"] for name, metric in row["metrics"].items()}
            line = [lines[(row["axes"]["stores"], name)] for name in [*names, "tcom-work"]]
            heights = [each["intercept"]["value"] + row["axes"]["blocks"] * each["time_per_block"]["value"]
                       for each in line]
            self.assertAlmostEqual(metrics["synchronization_time"], sum(heights[:-1]), 9)
            self.assertAlmostEqual(metrics["predicted_time"], sum(heights), 9)
            self.assertAlmostEqual(metrics["relative_error"],
                                   metrics["predicted_time"] / metrics["measured_time"] - 1, 9)

    def test_a_report_fits_saved_rows_again(self):
        recorded = os.path.join(TESTS, "../results/nvidia-h200/cost-decomposition.json")
        with open(recorded, encoding="utf-8") as file:
            document = json.load(file)
        without = [row for row in document["rows"]
                   if "fit" not in row["axes"] or row["device"].startswith("published")]
        self.assertLess(len(without), len(document["rows"]))
        document["rows"] = without
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("r.json", "as-recorded.html", "again.html")]
            with open(paths[0], "w", encoding="utf-8") as file:
                json.dump(document, file)
            pages = []
            for source, page in ((recorded, paths[1]), (paths[0], paths[2])):
                self.assertEqual(run("report", source, "--refit", "-o", page).code, 0)
                with open(page, encoding="utf-8") as file:
                    pages.append(file.read())
            self.assertEqual(*pages)

    def test_what_was_published_stands_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("r.json", "r.html")]
            outcome = run("run", "cost-decomposition", "-d", "host", "--quick", "-a", "blocks=1", "-a",
                          "method=no-barrier,block-barriers", "--json", paths[0])
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertEqual(run("report", paths[0], "-o", paths[1]).code, 0)
            with open(paths[0], encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            with open(paths[1], encoding="utf-8") as file:
                self.assertIn("published-tf-fence", file.read())
        published = [row for row in rows if row["device"] == "published: GeForce GTX 280"]
        at_30 = {row["method"]: row["metrics"] for row in published if row["axes"].get("blocks") == 30}
        self.assertAlmostEqual(at_30["published-lock-based-none"]["synchronization_time"]["value"], 7.5105, 9)
        self.assertAlmostEqual(at_30["published-lock-based-fence"]["synchronization_time"]["value"], 9.2362, 9)
        self.assertEqual({name for name, metrics in at_30.items() if "part_time" in metrics},
                         {"published-" + part for part in PAPER})
        fits = {row["method"]: row["metrics"] for row in published if "fit" in row["axes"]}
        self.assertAlmostEqual(fits["published-ta-atomic-add"]["time_per_block"]["value"], 0.23, 9)
        self.assertTrue(all(row["verified"] is None for row in published))
        # One number of blocks is no line, and says so.
        lonely = [row for row in rows if row["device"] == "host" and "fit" in row["axes"]]
        self.assertTrue(lonely)
        for row in lonely:
            self.assertEqual(row["status"], "skipped")
            self.assertIn("two different numbers of blocks", row["reason"])

    def test_a_wrong_method_names_the_culprit(self):
        outcome = run("run", "cost-decomposition", "-d", "host", "-a", "method=abacus")
        self.assert_one_sentence(outcome, 2, "abacus", "block-barriers")


if __name__ == "__main__":
    unittest.main()
