"""gpusync tune refuses what it cannot tune, and gpusync list has the experiments with grid barriers."""

import json
import os
import pathlib
import tempfile
import unittest

from tool import ToolTest, run

GRID_BARRIERS = ["barrier-stress", "grid-barriers", "late-arrival", "message-floor", "split-phase"]


def devices():
    return json.loads(run("devices", "--json").out)["devices"]


class Tune(ToolTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.table = os.path.join(self.folder.name, "table")

    def assert_refused(self, arguments, code, *words):
        self.assert_one_sentence(run("tune", *arguments, "-o", self.table), code, *words)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_the_host_has_no_counters_to_place(self):
        self.assert_refused(["-d", "host"], 2, "host", "CUDA")

    def test_an_opencl_device_cannot_be_tuned(self):
        if not any(device["id"] == "opencl:0" for device in devices()):
            self.skipTest("there is no OpenCL device")
        self.assert_refused(["-d", "opencl:0"], 2, "opencl:0", "CUDA")

    def test_without_a_cuda_device_there_is_no_such_device(self):
        if any(device["id"].startswith("cuda:") for device in devices()):
            self.skipTest("there is a CUDA device")
        self.assert_refused([], 3, "needs a CUDA device", "gpusync doctor")

    def test_device_that_is_not_there(self):
        self.assert_refused(["-d", "cuda:99"], 3, "cuda:99", "host")

    def test_unknown_kind_of_device(self):
        self.assert_refused(["-d", "abacus"], 2, "abacus", "cuda:N")

    def test_two_devices(self):
        self.assert_refused(["-d", "host", "-d", "host"], 2, "one device")
        self.assert_refused(["-d", "cuda:0", "-d", "cuda:99"], 2, "one device")

    def test_unknown_flags(self):
        self.assert_refused(["--quick"], 2, "--quick")
        self.assert_refused(["fast"], 2, "fast")

    def test_an_existing_table_survives_a_refusal(self):
        with open(self.table, "w", encoding="utf-8") as file:
            file.write("kept")
        self.assert_one_sentence(run("tune", "-d", "host", "-o", self.table), 2, "host")
        with open(self.table, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")


    def make_header(self, text):
        table, header = os.path.join(self.folder.name, "runs.tuning"), os.path.join(self.folder.name, "made.hpp")
        with open(table, "w", encoding="utf-8") as file:
            file.write(text)
        return header, run("tune", "--from", table, "-o", header)

    def test_a_table_becomes_the_header_that_ships(self):
        """The table of the H200 as it shipped when it was text."""
        header, outcome = self.make_header(
            "gpusync-tuning 1\ndevice NVIDIA H200\n"
            "rule 0.25 32  1 1 2 0 150\nrule 0.25 any  1 1 2 1 175\nrule 0.50 32  1 1 2 0 100\n"
            "rule 0.50 any  1 1 2 1 200\nrule 1 32  1 1 2 0 175\nrule 1 512  1 1 2 1 175\nrule 1 any  1 1 2 1 275\n"
            "rule 2 32  1 1 2 0 225\nrule 2 512  1 1 2 0 225\nrule 2 any  1 1 2 0 275\nrule 4 32  2 1 2 0 225\n"
            "rule 4 any  2 1 2 0 225\nrule any 32  4 2 2 0 275\nrule any any  4 2 2 0 325\n# a comment\n"
            "reduce float any one-block 32 4\n")
        self.assertEqual(outcome.code, 0, outcome.err)
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertEqual(pathlib.Path(header).read_text(encoding="utf-8"),
                         (root / "include/gpusync/grid/tuned/nvidia_h200.hpp").read_text(encoding="utf-8"))

    def test_the_header_of_the_h100_is_its_recorded_table(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        recorded = root / "results/nvidia-h100/nvidia-h100.tuning"
        header, outcome = self.make_header(recorded.read_text(encoding="utf-8"))
        self.assertEqual(outcome.code, 0, outcome.err)
        shipped = root / "include/gpusync/grid/tuned/nvidia_h100_80gb_hbm3.hpp"
        self.assertEqual(pathlib.Path(header).read_text(encoding="utf-8"), shipped.read_text(encoding="utf-8"))

    def test_tables_that_make_no_header(self):
        for text, *words in (("device x\n", "runs.tuning, line 1", "gpusync-tuning 1"), ("", "runs.tuning is empty"),
                             ("gpusync-tuning 1\ndevice x\n", "runs.tuning has no rules"),
                             ("gpusync-tuning 1\ndevice \x1b[31mx\n", "runs.tuning, line 2", "no control characters"),
                             ("gpusync-tuning 1\nrule any any 1 1 1 0 0\n", "runs.tuning has no line `device NAME`")):
            header, outcome = self.make_header(text)
            self.assert_one_sentence(outcome, 2, *words)
            self.assertFalse(os.path.exists(header))

    def test_headers_and_what_contradicts_them(self):
        header = os.path.join(self.folder.name, "x.hpp")
        for arguments, *words in ((["--from", self.table, "-o", header], self.table, "could not be read"),
                                  (["--from", self.table], ".hpp"),
                                  (["--from", self.table, "-o", self.table], ".hpp"),
                                  (["--from", self.table, "-d", "host", "-o", header], "-d", "--from"),
                                  (["--only", "halos", "-o", header], "barriers alone", "--only halos"),
                                  (["-d", "host", "-o", header], "host", "CUDA")):
            with self.subTest(arguments):
                self.assert_one_sentence(run("tune", *arguments), 2, *words)
        self.assertEqual(os.listdir(self.folder.name), [])


class GridBarriers(ToolTest):
    def test_are_listed(self):
        outcome = run("list")
        self.assertEqual(outcome.code, 0, outcome.err)
        listed = [line.split()[0] for line in outcome.out.strip().split("\n")]
        for name in GRID_BARRIERS:
            self.assertIn(name, listed)
            self.assertIn(f"\n{name}\n", "\n" + run("list", name).out)

    def test_are_listed_as_json_with_title_devices_and_axes(self):
        outcome = run("list", "--json")
        self.assertEqual(outcome.code, 0, outcome.err)
        experiments = {one["name"]: one for one in json.loads(outcome.out)["experiments"]}
        for name in GRID_BARRIERS:
            with self.subTest(name):
                self.assertIn(name, experiments)
                self.assertNotEqual(experiments[name]["title"], "")
                self.assertEqual(experiments[name]["devices"], ["cuda"])
                self.assertTrue(experiments[name]["axes"])

    def test_do_not_run_on_the_host(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in GRID_BARRIERS:
                with self.subTest(name):
                    outcome = run("run", name, "-d", "host", "--json", os.path.join(folder, "x.json"))
                    self.assert_one_sentence(outcome, 2, name, "host")
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
