#!/usr/bin/env python3
"""Opens the report in headless Chromium, and validates documents against the schema.

Usage: report_page_test.py TOOL [unittest arguments]. TOOL is the gpusync program, or an .html file that it made of
tests/results/sample.json; the environment variable GPUSYNC_TOOL does as well. GPUSYNC_SCREENSHOTS names a folder to
keep pictures in. Exit code 77 if there is no Chromium.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "tests", "results", "sample.json")
SCHEMA = os.path.join(ROOT, "src", "results", "results.schema.json")
TOOL = os.environ.get("GPUSYNC_TOOL", "")

# How many different colours a canvas shows; a blank one shows one.
COLOURS = """[...document.querySelectorAll('canvas')].map(canvas => {
  const pixels = new Uint32Array(
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size;
})"""


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Page(unittest.TestCase):
    """The page made of the sample document."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.page = TOOL
        if not TOOL.endswith(".html"):
            cls.page = os.path.join(cls.folder.name, "report.html")
            subprocess.run([TOOL, "report", SAMPLE, "-o", cls.page], check=True, timeout=60)
        cls.rows = load(SAMPLE)["rows"]
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, **how):
        """Opens the page and keeps a picture of it if asked to."""
        self.browser.open(self.page, **how)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])
        if folder := os.environ.get("GPUSYNC_SCREENSHOTS"):
            os.makedirs(folder, exist_ok=True)
            self.browser.screenshot(os.path.join(folder, f"report-{name}.png"), full=True)

    def assert_drawn(self):
        colours = self.browser.evaluate(COLOURS)
        self.assertEqual(len(colours), 6)  # three devices, with and without stores
        for count in colours:
            self.assertGreater(count, 10)

    def test_names_no_address(self):
        with open(self.page, encoding="utf-8") as file:
            self.assertEqual(re.findall(r"https?://\S*", file.read()), [])

    def test_desktop_shows_verdicts_charts_and_every_row(self):
        self.open("desktop")
        self.assert_drawn()
        text = self.browser.evaluate("document.querySelector('.answer').textContent")
        self.assertIn("NVIDIA H200", text)
        self.assertRegex(text, "^Use .* us a step")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('table.rows tbody tr').length"),
                         len(self.rows))
        reasons = {row["reason"] for row in self.rows if row["reason"]}
        shown = self.browser.evaluate("document.querySelector('table.rows').textContent")
        for reason in reasons:
            self.assertIn(reason, shown)

    def test_phone_does_not_scroll_sideways(self):
        for width in (320, 360):
            self.open(f"phone-{width}", width=width, height=740)
            self.assert_drawn()
            self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
            self.assertLessEqual(self.browser.evaluate("window.innerWidth"), width)

    def test_dark_mode_is_dark_in_page_and_charts(self):
        brightness = """(() => { const [r, g, b] =
            getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); return r + g + b; })()"""
        self.open("light")
        self.assertGreater(self.browser.evaluate(brightness), 600)
        light = self.browser.evaluate("document.querySelector('canvas').toDataURL()")
        self.open("dark", dark=True)
        self.assertLess(self.browser.evaluate(brightness), 150)
        self.assert_drawn()
        self.assertNotEqual(self.browser.evaluate("document.querySelector('canvas').toDataURL()"), light)

    def test_keyboard_reaches_the_skip_link_first_and_sorts_a_table(self):
        self.open("keyboard")
        self.browser.press("Tab", 9)
        self.assertEqual(self.browser.evaluate("document.activeElement.className"), "skip")
        self.browser.evaluate("document.querySelectorAll('table.rows thead button')[5].focus()")
        values = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[5].dataset.value ?? null)"
        for order in ("ascending", "descending"):
            self.browser.press("Enter", 13, "\r")
            self.assertEqual(self.browser.evaluate("document.querySelector('[aria-sort]').ariaSort"), order)
            found = self.browser.evaluate(values)
            measured = [float(value) for value in found if value is not None]
            self.assertEqual(measured, sorted(measured, reverse=order == "descending"))
            self.assertEqual(found[len(measured):], [None] * (len(found) - len(measured)))

    def test_charts_can_be_changed(self):
        self.open("controls")
        picture = "document.querySelector('canvas').toDataURL()"
        before = self.browser.evaluate(picture)
        for change in ("document.querySelector('.controls input').click()",
                       "(() => { const select = document.querySelector('.controls select'); select.value = 2;"
                       " select.dispatchEvent(new Event('change')); })()",
                       "document.querySelector('.legend button').click()"):
            self.browser.evaluate(change)
            after = self.browser.evaluate(picture)
            self.assertNotEqual(after, before)
            before = after
        self.assertEqual(self.browser.complaints(), [])

    def test_filter_hides_rows(self):
        self.open("filter")
        self.browser.evaluate("""(() => { const input = document.querySelector('.filter input');
            input.value = 'skipped'; input.dispatchEvent(new Event('input')); })()""")
        shown = self.browser.evaluate(
            "[...document.querySelectorAll('tbody tr')].filter(row => row.getClientRects().length).length")
        self.assertEqual(shown, sum(row["status"] == "skipped" for row in self.rows))

    def test_without_javascript_words_and_tables_remain(self):
        self.open("no-script", script=False)
        document = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        rows = self.browser.call("DOM.querySelectorAll", nodeId=document, selector="table.rows tbody tr")["nodeIds"]
        self.assertEqual(len(rows), len(self.rows))
        notice = self.browser.call("DOM.querySelectorAll", nodeId=document, selector="noscript p")["nodeIds"]
        self.assertEqual(len(notice), 1)

    def test_prints(self):
        self.open("print", dark=True)
        self.assertGreater(len(self.browser.pdf()), 50_000)
        self.assertEqual(self.browser.complaints(), [])


def figure(value, unit, spread=0.1):
    return {"value": value, "unit": unit, "n": 3, "q1": value and value - spread, "median": value,
            "q3": value and value + spread, "stddev": spread, "samples": None, "stop": None}


def row(device, axes, method, metrics, verified=True, **more):
    return {"experiment": "an-application", "items": [], "device": device, "axes": axes, "method": method,
            "metrics": metrics, "verified": verified, "verification": None, "clock_mhz": None,
            "status": "failed" if verified is False else "ok", "reason": "Wrong." if verified is False else None, **more}


def then_and_now():
    """What an experiment with printed figures of other quantities than its own times writes."""
    now, then = "cuda:0", "published: Old Card"
    rows = []
    barriers = ["lock-none", "lock-fence", *(f"extra-{k}" for k in range(14))]
    for blocks in (1, 30, 132):
        rows.append(row(now, {"blocks": blocks, "threads": 256}, "relaunch", {"run_time": figure(20, "ms")}))
        for place, method in enumerate(barriers):
            rows.append(row(now, {"blocks": blocks, "threads": 256}, method,
                            {"run_time": figure(5 + place, "ms"), "improvement": figure(blocks - place, "%")},
                            verified=method != "lock-none" or blocks == 1))
    for method, since, until in (("lock-none", 1, 132), ("lock-fence", 13.5, 132), ("extra-3", None, None)):
        rows.append(row(now, {"threads": 256, "fit": "crossing with relaunch"}, method,
                        {"faster_until": figure(until, "blocks", 0), "faster_from": figure(since, "blocks", 0)}, None))
    rows.append(row(then, {"blocks": 30}, "published-lock-none", {"improvement": figure(11.7, "%", 0)}, None))
    rows.append(row(then, {"blocks": 30}, "published-either", {"improvement": figure(-23.1, "%", 0)}, None))
    rows.append(row(then, {"figure": 2}, "published-lock-fence", {"faster_until": figure(17, "blocks", 0)}, None))
    return {"schema": "gpusync-results/1", "context": {"complete": True}, "rows": rows}


# What each chart shows: its title, the names beside its bars or its lines, and the figures.
SHOWN = """[...document.querySelectorAll('figure')].map(figure => {
  const chart = Chart.getChart(figure.querySelector('canvas'));
  return {title: figure.querySelector('figcaption').firstChild.textContent, kind: chart.config.type,
          labels: chart.data.labels.map(label => [label].flat().join('')),
          lines: chart.data.datasets.map((set, index) => [set.label, set.data, chart.isDatasetVisible(index)])};
})"""


class ThenAndNow(unittest.TestCase):
    """Printed figures that are of another quantity than the times that methods are compared by."""

    @classmethod
    def setUpClass(cls):
        if TOOL.endswith(".html"):
            raise unittest.SkipTest("needs the tool, not a page")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        document, page = (os.path.join(cls.folder.name, name) for name in ("r.json", "r.html"))
        with open(document, "w", encoding="utf-8") as file:
            json.dump(then_and_now(), file)
        subprocess.run([TOOL, "report", document, "-o", page], check=True, timeout=60)
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open(page)
        cls.complaints = cls.browser.complaints()
        cls.charts = {chart["title"]: chart for chart in cls.browser.evaluate(SHOWN)}

    def test_charts_are_those_of_the_times_and_of_every_printed_quantity(self):
        self.assertEqual(self.complaints, [])
        self.assertEqual(list(self.charts), ["cuda:0", "Then and now: improvement",
                                             "Then and now: crossing with relaunch"])
        self.assertTrue(all(count > 10 for count in self.browser.evaluate(COLOURS)))

    def test_lines_of_the_main_methods_are_shown_and_the_others_wait(self):
        lines = self.charts["cuda:0"]["lines"]
        shown = {name for name, _, visible in lines if visible}
        # What the paper names, relaunching, and the fastest with right results of each shape.
        self.assertEqual(shown, {"lock-none (wrong results)", "lock-fence", "relaunch"})
        self.assertEqual(len(lines), 17)
        hidden = "document.querySelector('figure .more .legend').childNodes.length"
        self.assertEqual(self.browser.evaluate(hidden), 14)

    def test_printed_figures_stand_beside_ours_of_the_same_shape(self):
        chart = self.charts["Then and now: improvement"]
        self.assertEqual(chart["labels"], ["lock-none(wrong results)", "either", "lock-fence"])
        self.assertEqual([(name, data) for name, data, _ in chart["lines"]],
                         [("then: Old Card", [11.7, -23.1, None]),
                          ("now: cuda:0, 30 blocks of 256 threads", [30, None, 29])])

    def test_another_shape_can_be_chosen_and_all_methods_shown(self):
        chosen = self.browser.evaluate("""(() => {
            const figure = document.querySelectorAll('figure')[1];
            const select = figure.querySelector('select'), box = figure.querySelector('input');
            const names = [...select.options].map(option => option.textContent);
            select.value = names.indexOf('132 blocks of 256 threads');
            select.dispatchEvent(new Event('change'));
            const now = Chart.getChart(figure.querySelector('canvas')).data.datasets[1].data;
            box.click();
            const all = Chart.getChart(figure.querySelector('canvas')).data.labels.length;
            box.click();
            select.value = 0;
            select.dispatchEvent(new Event('change'));
            return [names, now, all];
        })()""")
        self.assertEqual(chosen[0][0], "30 blocks of 256 threads")
        self.assertEqual(chosen[1:], [[132, None, 131], 17])

    def test_ranges_of_blocks_float_between_their_ends(self):
        chart = self.charts["Then and now: crossing with relaunch"]
        self.assertEqual(chart["labels"], ["lock-none", "lock-fence"])
        self.assertEqual([data for _, data, _ in chart["lines"]],
                         [[None, [1, 17]],  # nothing is printed of its lower end: from the first number of blocks on
                          [[1, 132], [13.5, 132]]])


def sums():
    """The sample's times as those of sums of growing inputs."""
    document = load(SAMPLE)
    row = next(row for row in document["rows"] if row["status"] == "ok" and "step_time" in row["metrics"])
    row["experiment"] = "reduction"
    document["rows"] = [{**row, "method": method, "axes": {"type": "float", "bytes": 2 ** power}}
                        for power in (30, 9, 10, 16) for method in ("gpusync", "cub-int")]
    return document


class OverBytes(unittest.TestCase):
    """Steps that work on inputs of some sizes."""

    def test_the_sizes_rise_in_words(self):
        if TOOL.endswith(".html"):
            raise unittest.SkipTest("needs the tool, not a page")
        with tempfile.TemporaryDirectory() as folder:
            document, page = (os.path.join(folder, name) for name in ("s.json", "s.html"))
            with open(document, "w", encoding="utf-8") as file:
                json.dump(sums(), file)
            subprocess.run([TOOL, "report", document, "-o", page], check=True, timeout=60)
            browser = chromium.Browser()
            self.addCleanup(browser.close)
            browser.open(page)
            self.assertEqual(browser.complaints(), [])
            charts = browser.evaluate("""[...document.querySelectorAll('canvas')].map(canvas => {
              const {labels, datasets} = Chart.getChart(canvas).data;
              return {labels, lines: datasets.map(({label}) => label)};
            })""")
            self.assertEqual(charts, [{"labels": ["512 B", "1 KiB", "64 KiB", "1 GiB"],
                                       "lines": ["gpusync", "cub-int"]}])


class Schema(unittest.TestCase):
    """The schema takes what the format allows, and nothing else."""

    @classmethod
    def setUpClass(cls):
        try:
            import jsonschema
        except ImportError:
            raise unittest.SkipTest("python3-jsonschema is not installed")
        schema = load(SCHEMA)
        jsonschema.Draft7Validator.check_schema(schema)
        cls.validator = jsonschema.Draft7Validator(schema)

    def setUp(self):
        self.document = load(SAMPLE)
        self.row = self.document["rows"][0]

    def test_takes_the_sample_and_unknown_keys(self):
        self.validator.validate(self.document)
        self.row["unknown"] = {"anything": 1}
        self.document["context"]["unknown"] = []
        self.validator.validate(self.document)

    def test_refuses_what_the_format_does_not_allow(self):
        def metric(change):
            return {"metrics": {"step_time": {**self.row["metrics"]["step_time"], **change}}}
        for change in ({"status": "fine"}, {"verified": "yes"}, {"verified": False}, {"axes": {"blocks": 1.5}},
                       {"status": "skipped"}, {"items": ["X1"]}, {"method": ""}, {"reason": 1},
                       metric({"value": "0.98"}), metric({"n": -1}), metric({"stop": "tired"}), metric({"unit": None}),
                       {"kind": "magic"}, {"ordered": None}, {"rival": 1}):
            document = {**self.document, "rows": [{**self.row, **change}]}
            self.assertFalse(self.validator.is_valid(document), change)
        for key in ("experiment", "axes", "metrics", "verified", "status", "reason", "kind", "ordered", "rival"):
            row = {name: value for name, value in self.row.items() if name != key}
            self.assertFalse(self.validator.is_valid({**self.document, "rows": [row]}), key)
        self.assertFalse(self.validator.is_valid({**self.document, "schema": "gpusync-results/3"}))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit(__doc__)
    if chromium.find() is None:
        print("no Chromium on this machine")
        sys.exit(77)
    unittest.main()
