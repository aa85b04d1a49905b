#!/usr/bin/env python3
"""Checks scripts/profile-pace with an ncu that only pretends to profile, and prints what the real one prints.

usage: profile_pace_test.py ROOT [GPUSYNC]
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(sys.argv.pop(1))
GPUSYNC = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
SCRIPT = os.path.join(ROOT, "scripts", "profile-pace")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("profile_pace", SCRIPT)
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("profile_pace", loader))
loader.exec_module(script)

WALK = "void gpusync::tool::paced_kernel<gpusync::tool::column_walk_text, gpusync::pace::{}>(T1)"
PLAIN = "(gpusync::tool::kernel_start)0"
ALIGNED = ("void gpusync::tool::run_one_step<gpusync::tool::match_text<gpusync::tool::match_{}, (gpusync::tool::pace_kind){}, "
           f"(gpusync::tool::pace_kind){{}}>, {PLAIN}>(T1, unsigned int)")

# As `ncu --csv --page raw --print-units base --log-file` writes it, between its own remarks.
PRINTED = '''==PROF== Connected to process 4242 (/opt/gpusync/bin/gpusync)
==PROF== Profiling "paced_kernel" - 0: 0%....50%....100% - 4 passes
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","l1tex__t_sector_hit_rate.pct","sm__cycles_elapsed.max"
"","","","","","","","","","","","byte","ns","%","cycle"
"0","4242","gpusync","127.0.0.1","''' + WALK.format("off, (unsigned int)1") + '''","1","7","(1024, 1, 1)","(264, 1, 1)","0","9.0","8,900,000,000","3190000","60.5","6,300,000"
"1","4242","gpusync","127.0.0.1","''' + WALK.format("block, (unsigned int)16") + '''","1","7","(1024, 1, 1)","(264, 1, 1)","0","9.0","2,150,000,000","2170000","87.5","4,300,000"
"2","4242","gpusync","127.0.0.1","''' + WALK.format("off, (unsigned int)1") + '''","1","7","(1024, 1, 1)","(264, 1, 1)","0","9.0","8,800,000,000","3180000","60.0","n/a"
'''


class Parsing(unittest.TestCase):
    def test_names_are_those_of_variants(self):
        names = {
            "off, (unsigned int)1": "none",
            "off, 1024u": "none",
            "compiler_fence, (unsigned int)16": "control-16",
            "block, 1u": "block-1",
            "warps<(unsigned int)8, (unsigned int)1>, (unsigned int)128": "warps8-128",
            "warps<8u, 1u>, 128u": "warps8-128",
            "lead<4u>, 16u": "lead4-16",
        }
        for arguments, method in names.items():
            self.assertEqual(script.method_of(WALK.format(arguments)), method)
        self.assertEqual(script.method_of(
            "void gpusync::tool::paced_kernel<gpusync::tool::scalar_product_text<(bool)1>, gpusync::tool::counted<(unsigned int)1>, "
            "(unsigned int)4>(gpusync::tool::scalar_product_text<(bool)1>)"), "counted1-4")
        self.assertEqual(script.method_of("void gpusync::tool::paced_kernel<gpusync::tool::vector_add_text, "
                                          "gpusync::tool::fence_only, 1u>(gpusync::tool::vector_add_text)"), "fence-1")
        self.assertIsNone(script.method_of("void gpusync::tool::fill_kernel<gpusync::tool::vector_add_text>(T1)"))

    def test_names_are_those_of_ways_through_panels(self):
        of = "void gpusync::tool::<unnamed>::{}<(gpusync::tool::panel_op)0{}>(gpusync::tool::panel_text<(gpusync::tool::panel_op)0>)"
        self.assertEqual(script.method_of(of.format("drifting_panels", "")), "no-barrier")
        self.assertEqual(script.method_of(of.format("single_panels", "")), "launch-a-panel")
        self.assertEqual(script.method_of(of.format("window_panels", ", gpusync::basic_window<gpusync::pace::best_effort>")),
                         "window-2")
        self.assertEqual(script.method_of(of.format(
            "barrier_panels", ", gpusync::basic_grid_barrier<gpusync::grid::cooperative_groups, gpusync::cuda_grid>")), "cg")
        self.assertEqual(script.method_of(of.format("barrier_panels", ", gpusync::basic_grid_barrier<gpusync::grid::placed>")),
                         "placed-counters-acquire-release")

    def test_names_are_those_of_placements(self):
        names = {("tree", 0, 0): "suffix-tree", ("tree", 2, 0): "suffix-tree+1", ("array", 0, 2): "suffix-array+2",
                 ("tree", 2, 2): "suffix-tree+both", ("array", 1, 0): "suffix-array+control-1",
                 ("tree", 0, 1): "suffix-tree+control-2", ("array", 1, 1): "suffix-array+control-both"}
        for (index, edges, suffixes), method in names.items():
            kernel = ALIGNED.format(index, edges, suffixes)
            self.assertEqual(script.method_of(kernel), method)
            self.assertEqual(script.method_of(kernel.replace(PLAIN, "gpusync::tool::kernel_start::plain")), method)
        self.assertIsNone(script.method_of(f"void gpusync::tool::run_one_step<gpusync::tool::stencil_text, {PLAIN}>(T1, unsigned int)"))

    def test_what_an_alignment_saves(self):
        found = {"suffix-tree": {"time": 2000.0, "loaded_sectors": 1e6, "l2_read_misses": 100.0},
                 "suffix-tree+1": {"time": 1000.0, "loaded_sectors": 1e6, "l2_read_misses": 90.0},
                 "suffix-tree+control-1": {"time": 2000.0, "loaded_sectors": 1e6, "l2_read_misses": 120.0},
                 "suffix-array+1": {"time": 2000.0, "l2_read_misses": 5.0}}
        extra = script.of_alignment(found)
        self.assertAlmostEqual(extra["suffix-tree"]["global_read_throughput"][0], 16.0)  # 32 MB in 2 ms
        self.assertAlmostEqual(extra["suffix-tree+1"]["global_read_throughput"][0], 32.0)
        self.assertAlmostEqual(extra["suffix-tree+1"]["l2_read_misses_saved"][0], 10.0)
        self.assertAlmostEqual(extra["suffix-tree+1"]["l2_read_misses_saved_over_control"][0], 25.0)
        self.assertAlmostEqual(extra["suffix-tree+control-1"]["l2_read_misses_saved"][0], -20.0)
        self.assertNotIn("l2_read_misses_saved_over_control", extra["suffix-tree+control-1"])
        self.assertNotIn("l2_read_misses_saved", extra["suffix-tree"])
        self.assertEqual(extra["suffix-array+1"], {}, "there is nothing to compare it with")

    def test_counters_have_units_and_gaps(self):
        launches = script.launches_of(PRINTED)
        self.assertEqual(len(launches), 3)
        values = launches[0][1]
        self.assertAlmostEqual(values["gpu__time_duration.sum"], 3190)
        self.assertAlmostEqual(values["dram__bytes_read.sum"], 8.9e9)
        self.assertAlmostEqual(values["l1tex__t_sector_hit_rate.pct"], 0.605)
        self.assertAlmostEqual(values["sm__cycles_elapsed.max"], 6.3e6)
        self.assertNotIn("sm__cycles_elapsed.max", launches[2][1])
        self.assertEqual(script.launches_of("==ERROR== ERR_NVGPUCTRPERM\n"), [])
        scaled = script.launches_of(PRINTED.replace('"byte","ns"', '"Gbyte","msecond"'))
        self.assertAlmostEqual(scaled[0][1]["gpu__time_duration.sum"], 3190000e3)
        self.assertAlmostEqual(scaled[0][1]["dram__bytes_read.sum"], 8.9e18)

    def test_the_last_launch_counts_and_those_of_a_panel_together(self):
        found = script.profiled(script.launches_of(PRINTED))
        self.assertEqual(list(found), ["none", "block-16"])
        self.assertAlmostEqual(found["none"]["l1_hits"], 0.6)
        self.assertNotIn("cycles", found["none"])
        panel = "void single_panels<(panel_op)0>(T1, unsigned int)"
        both = script.profiled([(panel, {"dram__bytes_read.sum": 8e6, "lts__t_sector_hit_rate.pct": 0.9}),
                                (panel, {"dram__bytes_read.sum": 9e6, "lts__t_sector_hit_rate.pct": 0.7})], ("launch-a-panel",))
        self.assertAlmostEqual(both["launch-a-panel"]["dram_read"], 17e6)
        self.assertAlmostEqual(both["launch-a-panel"]["l2_hits"], 0.8)


PRETENDED_NCU = '''#!/usr/bin/env python3
import os, re, sys
arguments = sys.argv[1:]
def option(name):
    return arguments[arguments.index(name) + 1]
kernel, count, log = option("--kernel-name"), int(option("--launch-count")), option("--log-file")
if os.environ.get("PRETEND") == "forbidden":
    open(log, "w").write("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\\n")
    sys.exit(1)
counters = option("--metrics").split(",")
lacking = {"old": "srcunit", "partly": "op_read"}.get(os.environ.get("PRETEND"), "none lacks this")
if any(lacking in counter for counter in counters):
    open(log, "w").write("==ERROR== Failed to find a metric with %s\\n" % lacking)
    sys.exit(1)
axes = dict(each.split("=", 1) for each in arguments if re.match(r"[a-z0-9-]+=", each))
if "alignment" in arguments and axes["scale"] != "1000": sys.exit("not the sizes of table 5")
methods = axes["method"].split(",")
paced = "void gpusync::tool::paced_kernel<gpusync::tool::some_text, gpusync::{}, (unsigned int){}>(T1)"
names = []
if kernel == "regex:.*(paced_kernel).*":
    names = 3 * [paced.format("pace::off", 1)]
    for method in methods:
        form, every = method.rsplit("-", 1)
        names.append(paced.format("pace::compiler_fence", every))
        names.append(paced.format({"block": "pace::block", "lead1": "pace::lead<(unsigned int)1>"}[form], every))
elif kernel == "regex:.*(match_text).*":
    names = ["void run_one_step<match_text<match_%s, (pace_kind)%d, (pace_kind)%d>, (kernel_start)0>(T1)" % (index, edges, suffixes)
             for index in ("tree", "array") for edges, suffixes in ((0, 0), (2, 0), (0, 2), (2, 2), (1, 0), (0, 1), (1, 1))]
    if os.environ.get("PRETEND") == "shorter": names.pop()
    if os.environ.get("PRETEND") == "renamed": names = 14 * ["void run_one_step<average_text, (kernel_start)0>(T1, unsigned int)"]
elif kernel == "regex:.*(single_panels).*":
    names = 300 * ["void single_panels<(panel_op)0>(T1, unsigned int)"]
else:
    names = ["void drifting_panels<(panel_op)0>(T1)", "void window_panels<(panel_op)0, W>(T1, W)",
             "void barrier_panels<(panel_op)0, cooperative_groups>(T1)", "void barrier_panels<(panel_op)0, placed>(T1)"]
def value(name, counter):
    if counter.startswith("dram__bytes_read"):
        if "single" in name: return 8.4e6
        if "drifting" in name: return 6.3e10
        return float(os.environ.get("WINDOW_READS", "1.001")) * 2**31
    if counter == "lts__t_sectors_op_read_lookup_miss.sum": return 830 if "(pace_kind)0, (pace_kind)2" in name else 1000
    return 50 if counter.endswith(".pct") else 1000
with open(log, "w") as file:
    file.write("==PROF== Connected\\n")
    file.write(",".join('"%s"' % each for each in ["ID", "Kernel Name", *counters]) + "\\n")
    file.write(",".join(['""', '""', *('"%"' if each.endswith(".pct") else '""' for each in counters)]) + "\\n")
    for i, name in enumerate(names[:count]):
        file.write(",".join(['"%d"' % i, '"%s"' % name, *('"%s"' % value(name, each) for each in counters)]) + "\\n")
'''
PRETENDED_GPUSYNC = '''#!/bin/sh
echo '{"devices": [{"id": "cuda:0", "kind": "cuda", "name": "NVIDIA Pretence", "compute_units": 132}]}'
'''


class Limit(unittest.TestCase):
    def test_what_does_not_end_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(script.ended(["sh", "-c", "sleep 60"], os.path.join(folder, "log"), 0.2), "no end after 0.2 s")
            self.assertEqual(script.ended(["sh", "-c", "exit 3"], os.path.join(folder, "log"), 10), 3)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("bin"))
        for name, text in (("bin/gpusync", PRETENDED_GPUSYNC), ("ncu", PRETENDED_NCU)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(self.path(name), 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def profile(self, *parts, **environment):
        done = subprocess.run([sys.executable, SCRIPT, self.folder, self.path("out"), *parts], capture_output=True, text=True,
                              check=False, env={**os.environ, "NCU": self.path("ncu"), **environment})
        document = None
        if os.path.exists(self.path("out/pace-counters.json")):
            with open(self.path("out/pace-counters.json"), encoding="utf-8") as file:
                document = json.load(file)
        return done, document

    def test_everything_becomes_a_document_and_a_table(self):
        done, document = self.profile()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = document["rows"]
        self.assertEqual({row["axes"]["workload"] for row in rows},
                         {"panels", "column-walk", "memory-test", "sparse-product", "transpose", "scalar-product", "alignment"})
        panels = {(row["axes"]["op"], row["method"]): row["metrics"] for row in rows if row["axes"]["workload"] == "panels"}
        self.assertEqual(len(panels), 15)
        self.assertAlmostEqual(panels["gather", "window-2"]["dram_read_over_table"]["value"], 1.001)
        self.assertAlmostEqual(panels["gather", "launch-a-panel"]["dram_read_over_table"]["value"], 8.4e6 / (1 << 23))
        self.assertAlmostEqual(panels["scatter", "no-barrier"]["dram_read_over_table"]["value"], 6.3e10 / (1 << 31))
        walk = {(row["axes"]["l1"], row["method"]): row["metrics"] for row in rows if row["axes"]["workload"] == "column-walk"}
        self.assertEqual(len(walk), 18)
        self.assertEqual(walk["small", "block-64"]["accesses"]["value"], 256)
        self.assertAlmostEqual(walk["small", "block-64"]["l1_hits"]["value"], 0.5)
        self.assertAlmostEqual(walk["large", "none"]["cycles_per_iteration"]["value"], 1000 / 512)
        self.assertNotIn("accesses", walk["large", "none"])
        aligned = {(row["axes"]["reference"], row["method"]): row for row in rows if row["axes"]["workload"] == "alignment"}
        self.assertEqual(len(aligned), 2 * 14)
        self.assertEqual(aligned["BANTH", "suffix-tree+2"]["items"], ["L16"])
        metrics = aligned["BANTH", "suffix-tree+2"]["metrics"]
        self.assertAlmostEqual(metrics["l2_read_misses_saved"]["value"], 17)
        self.assertAlmostEqual(metrics["l2_read_misses_saved_over_control"]["value"], 17)
        self.assertAlmostEqual(metrics["l1_hits"]["value"], 0.5)
        self.assertEqual(metrics["l2_read_misses"]["value"], 830)
        with open(self.path("out/pace-counters.txt"), encoding="utf-8") as file:
            table = file.read()
        self.assertIn("block-256", table)
        self.assertIn("50.0 %", table)
        self.assertRegex(table, r"suffix-tree\+2 .* 830 +17 %\n")

    def test_a_window_that_reads_twice_fails(self):
        done, document = self.profile("panels", WINDOW_READS="1.03")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED window-2 of gather reads 1.030 times the table", done.stdout)
        self.assertNotIn("of probe", done.stdout)
        self.assertFalse(document["context"]["complete"])

    def test_counters_that_a_gpu_lacks_are_left_out(self):
        done, document = self.profile("loops", PRETEND="old")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("l2_sectors", document["rows"][0]["metrics"])
        self.assertIn("l2_hits", document["rows"][0]["metrics"])

    def test_what_a_gpu_has_is_read_though_it_lacks_others(self):
        done, document = self.profile("alignment", PRETEND="partly")
        self.assertEqual(done.returncode, 0, done.stdout)
        metrics = document["rows"][0]["metrics"]
        self.assertIn("l2_sectors", metrics)
        self.assertNotIn("l2_read_misses", metrics)
        self.assertFalse(any("saved" in name for row in document["rows"] for name in row["metrics"]))

    def test_a_placement_that_was_not_profiled_fails(self):
        done, document = self.profile("alignment", PRETEND="shorter")
        self.assertEqual(done.returncode, 1)
        self.assertIn("suffix-array+control-both was not among the launches", done.stdout)
        self.assertFalse(document["context"]["complete"])

    def test_kernels_of_other_names_fail(self):
        done, document = self.profile("alignment", PRETEND="renamed")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED alignment-BANTH: none of the kernels is known here, such as void run_one_step<average_text", done.stdout)
        self.assertEqual(document["rows"], [])

    def test_what_cannot_be_profiled_is_said(self):
        self.assertNotEqual(self.profile("column-walk")[1]["rows"], [])
        done, document = self.profile("column-walk", PRETEND="forbidden")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(document["rows"], [], "of the run before")
        self.assertIn("does not have permission", done.stdout)
        done, _ = self.profile("abacus")
        self.assertIn("usage:", done.stderr)

    def test_gpusync_reads_the_document(self):
        if GPUSYNC is None:
            self.skipTest("no gpusync was named")
        self.profile()
        shown = subprocess.run([GPUSYNC, "report", self.path("out/pace-counters.json"), "-o", self.path("page.html")],
                               capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)


if __name__ == "__main__":
    unittest.main()
