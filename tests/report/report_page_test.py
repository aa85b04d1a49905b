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
        self.assertIn("is the cheapest way to wait", text)
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
                       metric({"value": "0.98"}), metric({"n": -1}), metric({"stop": "tired"}), metric({"unit": None})):
            document = {**self.document, "rows": [{**self.row, **change}]}
            self.assertFalse(self.validator.is_valid(document), change)
        for key in ("experiment", "axes", "metrics", "verified", "status", "reason"):
            row = {name: value for name, value in self.row.items() if name != key}
            self.assertFalse(self.validator.is_valid({**self.document, "rows": [row]}), key)
        self.assertFalse(self.validator.is_valid({**self.document, "schema": "gpusync-results/2"}))


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit(__doc__)
    if chromium.find() is None:
        print("no Chromium on this machine")
        sys.exit(77)
    unittest.main()
