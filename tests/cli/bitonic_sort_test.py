"""Experiment bitonic-sort as a user meets it, on host threads and the first OpenCL device."""

import json
import os
import resource
import tempfile
import unittest

from tool import ToolTest, run

TYPES = ("uint32", "int32", "float32", "uint64", "int64", "float64")
INPUTS = ("random", "sorted", "reversed", "equal", "few", "special")
ONE_METHOD = ("-a", "method=lock-based-acquire-release")


class BitonicSort(ToolTest):
    def rows(self, *arguments, device="host"):
        """The rows that were measured, of a run that must succeed."""
        outcome = run("run", "bitonic-sort", "-d", device, "--quick", *arguments, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = json.loads(outcome.out)
        self.assertTrue(document["context"]["complete"])
        rows = [row for row in document["rows"] if row["device"] == device]
        self.assertTrue(rows)
        return rows

    def assert_sorted(self, row, words):
        self.assertEqual((row["status"], row["verified"]), ("ok", True), row)
        checked = int(row["verification"].split(" words")[0])
        self.assertGreater(checked, 0)
        self.assertEqual(checked % words, 0, row)  # a whole number of runs, each looked at as a whole

    def test_every_type_with_and_without_values_from_every_input(self):
        rows = self.rows("-a", "elements=77", "-a", "type=" + ",".join(TYPES), "-a", "values=0,1", "-a",
                         "input=" + ",".join(INPUTS), "-a", "blocks=2", *ONE_METHOD)
        found = {(row["axes"]["type"], row["axes"]["values"], row["axes"]["input"]) for row in rows}
        self.assertEqual(found, {(kind, values, made) for kind in TYPES for values in (0, 1) for made in INPUTS})
        self.assertEqual(len(rows), len(found))
        for row in rows:
            words = 77 * (2 if row["axes"]["type"].endswith("64") else 1) * (1 + row["axes"]["values"])
            self.assert_sorted(row, words)

    def test_an_opencl_device_sorts_too(self):
        listed = {device["id"] for device in json.loads(run("devices", "--json").out)["devices"]}
        if "opencl:0" not in listed:
            self.skipTest("no OpenCL device")
        for row in self.rows("-a", "elements=1000", "-a", "type=int32,float64", "-a", "values=0,1", "-a",
                             "input=special", "-a", "blocks=1", *ONE_METHOD, device="opencl:0"):
            self.assert_sorted(row, 1000)

    def test_numbers_of_elements_that_are_no_powers_of_two(self):
        rows = self.rows("-a", "elements=2,3,1000,1025", "-a", "blocks=1,2", *ONE_METHOD)
        measured = [row for row in rows if "fit" not in row["axes"]]
        self.assertEqual(len(measured), 8)
        for row in measured:
            self.assert_sorted(row, row["axes"]["elements"])

    def test_nothing_to_sort_is_no_verdict(self):
        for elements in (0, 1):
            rows = self.rows("-a", f"elements={elements}", "-a", "blocks=1,2")
            self.assertGreater(len(rows), 10)
            for row in rows:
                self.assertNotEqual(row["verified"], False, row)
                self.assertEqual(next(iter(row["metrics"])), "empty_run_time")
                self.assertNotIn("elements_sorted", row["metrics"])
            outcome = run("run", "bitonic-sort", "-d", "host", "--quick", "-a", f"elements={elements}", "-a",
                          "blocks=1")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertNotIn("cheapest", outcome.out)
            self.assertNotIn("as fast as", outcome.out)

    def test_wrong_words_and_numbers_are_named(self):
        for axis, *words in (("type=float16", "float16", "float32"), ("input=shuffled", "shuffled", "reversed"),
                             ("values=2", "values", "'2'", "0 to 1"), ("elements=-1", "elements", "'-1'"),
                             ("elements=2^40", "elements", "2^40"), ("method=abacus", "abacus", "lock-based-fence"),
                             ("form=registers", "registers", "memory"), ("blocks=0", "blocks", "'0'"),
                             ("keys=1", "'keys'", "elements")):
            with self.subTest(axis):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "x.json")
                    outcome = run("run", "bitonic-sort", "-d", "host", "-a", axis, "--json", path)
                    self.assert_one_sentence(outcome, 2, *words)
                    self.assertFalse(os.path.exists(path))

    def test_more_than_the_host_has_room_for_is_refused_with_the_numbers(self):
        def with_little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        outcome = run("run", "bitonic-sort", "-d", "host", "-a", "elements=2^31", "-a", "type=float64", "-a", "values=1",
                      preexec_fn=with_little_memory)
        # Four times 2^31 elements of 16 bytes.
        self.assert_one_sentence(outcome, 2, "2147483648 elements of 16 bytes", "131072 MiB", "host's memory", "use fewer")
        # What fits is not refused.
        fits = run("run", "bitonic-sort", "-d", "host", "--quick", "-a", "elements=1000", "-a", "blocks=1", *ONE_METHOD,
                   preexec_fn=with_little_memory)
        self.assertEqual(fits.code, 0, fits.err)


if __name__ == "__main__":
    unittest.main()
