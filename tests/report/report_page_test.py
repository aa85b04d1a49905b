#!/usr/bin/env python3
"""Opens the report in headless Chromium, and validates documents against the schema.

Usage: report_page_test.py TOOL [unittest arguments]. TOOL is the gpusync program; the environment variable GPUSYNC_TOOL
does as well. GPUSYNC_SCREENSHOTS names a folder to keep pictures in. Exit code 77 if there is no Chromium.
"""

import csv
import glob
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "tests", "results", "sample.json")
SCHEMA = os.path.join(ROOT, "src", "results", "results.schema.json")
COVERAGE = os.path.join(ROOT, "src", "experiments", "coverage.json")
FIGURES = os.path.join(ROOT, "src", "report", "figures.json")
RECORDED = sorted(glob.glob(os.path.join(ROOT, "results", "*", "*.json*")))
TOOL = os.environ.get("GPUSYNC_TOOL", "")

# Presses keys on every chart, and looks whether it says something of its first and of its last point.
CHARTS_BY_KEYBOARD = """[...document.querySelectorAll('.chart svg')].map(svg => {
  const said = key => { svg.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
                        const tip = svg.parentElement.querySelector('.tip'); return tip.hidden ? '' : tip.textContent; };
  svg.focus();
  return [document.activeElement === svg, said('Home'), said('ArrowRight'), said('End'), said('Escape')];
})"""
# What a press of a button hands over as a file.
EXPORTED = """new Promise(done => {
  const make = URL.createObjectURL;
  URL.createObjectURL = blob => { URL.createObjectURL = make; blob.text().then(done); return 'data:,'; };
  [...document.querySelectorAll('.exports button')].find(button => button.textContent === '%s').click();
})"""
TIP = "(() => { const tip = document.querySelector('.tip:not([hidden])'); return tip ? tip.textContent : ''; })()"
OPEN_TABLE = """(() => { document.querySelector('details.rows').open = true;
  return new Promise(done => setTimeout(done, 50)); })()"""
FIRST_CHART = "document.querySelector('.chart svg')"


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def choose(select, words):
    """JavaScript that chooses an option of the chooser `select`, by what stands before it."""
    return f"""(() => {{ const select = [...document.querySelectorAll('.controls label')]
        .find(label => label.textContent.startsWith('{select} ')).querySelector('select');
      select.value = [...select.options].find(option => option.textContent === '{words}').value;
      select.dispatchEvent(new Event('change')); }})()"""


class InBrowser(unittest.TestCase):
    """One browser, and pages made by the tool."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.browser = chromium.Browser()
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def page_of(cls, *documents, name="page.html"):
        """The path of the page of documents: files, or what is to be written to one."""
        paths = []
        for i, document in enumerate(documents):
            if not isinstance(document, str):
                paths.append(os.path.join(cls.folder.name, f"{i}.json"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(document, file)
            else:
                paths.append(document)
        page = os.path.join(cls.folder.name, name)
        subprocess.run([TOOL, "report", *paths, "-o", page], check=True, timeout=120, stderr=subprocess.DEVNULL)
        return page

    def open(self, page, name=None, **how):
        """Opens a page, which must not complain nor ask for anything, and keeps a picture of it if asked to."""
        self.browser.open(page, **how)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])
        if name and (folder := os.environ.get("GPUSYNC_SCREENSHOTS")):
            os.makedirs(folder, exist_ok=True)
            self.browser.screenshot(os.path.join(folder, f"report-{name}.png"), full=True)

    def evaluate(self, expression):
        return self.browser.evaluate(expression)


class Page(InBrowser):
    """The page made of the sample document."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = cls.page_of(SAMPLE)
        cls.rows = load(SAMPLE)["rows"]

    def test_says_first_what_to_do_and_names_no_address(self):
        self.open(self.page, "desktop")
        self.assertRegex(self.evaluate("document.querySelector('.answer').textContent"), "^Use .* us a step.*NVIDIA H200")
        with open(self.page, encoding="utf-8") as file:
            self.assertEqual(re.findall(r"https?://\S*", file.read()), [])

    def test_a_chart_starts_at_zero_and_has_a_line_for_each_method_measured(self):
        self.open(self.page)
        self.assertIn("0", self.evaluate("[...document.querySelectorAll('.chart .tick text')].map(text => text.textContent)"))
        lines = set(self.evaluate("[...document.querySelectorAll('.legend button')].map(button => button.textContent.replace(' (wrong results)', ''))"))
        measured = {row["method"] for row in self.rows if row["device"] == "cuda:0" and row["axes"]["threads"] == 256 and
                    row["axes"]["stores"] == 1 and row["status"] == "ok"}
        self.assertLessEqual(measured, lines)

    def test_the_phone_does_not_scroll_sideways(self):
        for width in (320, 390):
            self.open(self.page, f"phone-{width}", width=width, height=740)
            self.assertEqual(self.evaluate("document.querySelectorAll('.chart svg').length"), 1)
            self.assertLessEqual(self.evaluate("document.documentElement.scrollWidth"), width)

    def test_dark_mode_is_dark_in_page_and_charts(self):
        brightness = """(colour => { const [r, g, b] = colour.match(/\\d+/g).map(Number); return r + g + b; })(%s)"""
        back = brightness % "getComputedStyle(document.body).backgroundColor"
        ink = brightness % "getComputedStyle(document.querySelector('.chart text')).fill"
        self.open(self.page)
        light = self.evaluate(f"[{back}, {ink}]")
        self.open(self.page, "dark", dark=True)
        dark = self.evaluate(f"[{back}, {ink}]")
        self.assertGreater(light[0] - light[1], 300)
        self.assertGreater(dark[1] - dark[0], 200)

    def test_keys_reach_the_skip_link_first_and_the_points_of_a_chart(self):
        self.open(self.page)
        self.browser.press("Tab", 9)
        self.assertEqual(self.evaluate("document.activeElement.className"), "skip")
        self.evaluate(FIRST_CHART + ".focus()")
        said = []
        for key, code in (("ArrowRight", 39), ("ArrowRight", 39), ("ArrowDown", 40)):
            self.browser.press(key, code)
            said.append(self.evaluate(TIP))
        self.assertEqual(len(set(said)), 3)
        for text in said:
            self.assertRegex(text, r"us.*NVIDIA H200.*blocks \d+")
        self.browser.press("Escape", 27)
        self.assertEqual(self.evaluate(TIP), "")

    def test_the_pointer_shows_the_nearest_point(self):
        self.open(self.page)
        x, y = self.evaluate("""(() => { const mark = document.querySelector('.chart circle');
            mark.scrollIntoView({block: 'center'}); const box = mark.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 2, y=y + 2)
        self.assertRegex(self.evaluate(TIP), r"us")

    def test_every_choice_changes_the_chart(self):
        self.open(self.page)
        picture = FIRST_CHART + ".innerHTML"
        before = self.evaluate(picture)
        for change in (choose("stores", "none"), "document.querySelector('.controls input').click()",
                       "document.querySelector('.legend button').click()", choose("as", "bars"), choose("device", "all devices"),
                       choose("device", "PoCL on AMD EPYC 9554")):
            self.evaluate(change)
            after = self.evaluate(picture)
            self.assertNotEqual(after, before, change)
            before = after
        self.assertEqual(self.browser.complaints(), [])
        self.assertIn("PoCL", self.evaluate("document.querySelector('figcaption').textContent"))

    def test_charts_can_be_had_as_csv_and_as_svg(self):
        self.open(self.page)
        table = list(csv.DictReader(io.StringIO(self.evaluate(EXPORTED % "CSV"))))
        measured = {(row["method"], row["axes"]["blocks"], row["metrics"]["step_time"]["value"]) for row in self.rows
                    if row["device"] == "cuda:0" and row["metrics"] and row["metrics"]["step_time"]["value"]}
        self.assertGreater(len(table), 10)
        for line in table:
            self.assertTrue(any(line["method"] == method and int(line["blocks"]) == blocks and
                                abs(float(line["step_time"]) / value - 1) < 1e-4 for method, blocks, value in measured), line)
        drawing = xml.etree.ElementTree.fromstring(self.evaluate(EXPORTED % "SVG"))
        self.assertTrue(drawing.tag.endswith("svg"))
        self.assertGreater(len([each for each in drawing.iter() if "stroke:rgb" in each.get("style", "")]), 10)

    def test_a_hidden_line_is_in_no_file_and_keys_outlive_the_last(self):
        self.open(self.page)
        methods = lambda: {row["method"] for row in csv.DictReader(io.StringIO(self.evaluate(EXPORTED % "CSV")))}  # noqa: E731
        before = methods()
        self.assertGreater(len(before), 2)
        name = self.evaluate("(() => { const first = document.querySelector('.legend button'); first.click(); return first.textContent; })()")
        self.assertEqual(before - methods(), {name})
        self.evaluate("""(() => { const buttons = () => [...document.querySelectorAll('.legend')[0].children];
            for (let i = 1; i < buttons().length; ++i) buttons()[i].click(); })()""")
        self.assertEqual(methods(), set())
        self.evaluate(FIRST_CHART + ".focus()")
        for key, code in (("End", 35), ("Home", 36), ("ArrowRight", 39)):
            self.browser.press(key, code)
        self.assertEqual(self.evaluate(TIP), "")
        self.assertEqual(self.browser.complaints(), [])

    def open_table(self):
        self.open(self.page)
        self.evaluate(OPEN_TABLE)

    def test_the_table_has_every_row_sorts_and_filters(self):
        self.open_table()
        count = "document.querySelectorAll('tbody tr').length"
        shown = self.evaluate(count)
        while self.evaluate("!document.querySelector('.more').hidden"):
            self.evaluate("document.querySelector('.more').click()")
        self.assertLess(shown, len(self.rows))
        self.assertEqual(self.evaluate(count), len(self.rows))
        self.evaluate("[...document.querySelectorAll('thead button')].find(button => button.textContent === 'step time').focus()")
        column = self.evaluate("document.activeElement.parentElement.cellIndex")
        for order in ("ascending", "descending"):
            self.browser.press("Enter", 13, "\r")
            self.assertEqual(self.evaluate("document.querySelector('[aria-sort]').ariaSort"), order)
            found = self.evaluate(f"[...document.querySelectorAll('tbody tr')].map(row => parseFloat(row.cells[{column}].textContent))")
            self.assertEqual(found, sorted(found, reverse=order == "descending"))
        self.evaluate("""(() => { const input = document.querySelector('.filter input');
            input.value = 'skipped'; input.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(self.evaluate(count), sum(row["status"] == "skipped" for row in self.rows))

    def test_the_verdicts_on_all_shapes_open(self):
        self.open(self.page)
        found = self.evaluate("""(() => { document.querySelector('details.verdicts').open = true;
            return new Promise(done => setTimeout(() => done([...document.querySelectorAll('.verdicts li')].map(li => li.textContent)), 50)); })()""")
        shapes = {json.dumps([row["device"], row["axes"]]) for row in self.rows}
        self.assertEqual(len(found), len(shapes))

    def test_without_javascript_the_words_remain(self):
        self.open(self.page, script=False)
        document = self.browser.call("DOM.getDocument")["root"]["nodeId"]
        for selector in (".answer", "noscript p", ".context dd"):
            found = self.browser.call("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"]
            self.assertGreater(len(found), 0, selector)

    def test_prints_the_answers_and_the_figure(self):
        self.open(self.page, dark=True)
        self.assertEqual(pages_of(self.browser.pdf()), 1)
        self.assertEqual(self.browser.complaints(), [])


class Recorded(InBrowser):
    """One page of all recorded documents."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = cls.page_of(*RECORDED)
        cls.documents = [load(path) for path in RECORDED]

    def test_is_small_and_opens_at_once(self):
        self.assertLess(os.path.getsize(self.page), 6 << 20)
        times = []
        for _ in range(3):  # other work of the machine only ever makes it slower
            self.open(self.page, "recorded")
            times.append(self.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
        self.assertLess(min(times), 1500)

    def test_every_figure_is_drawn_reads_by_keyboard_and_none_is_missing(self):
        self.open(self.page)
        drawn = "document.querySelectorAll('.experiment.drawn').length"
        names = {row["experiment"] for document in self.documents for row in document["rows"]}
        self.assertLess(self.evaluate(drawn), len(names) / 2)  # the others wait until they come near
        self.evaluate("""(async () => { for (const section of document.querySelectorAll('.experiment, .front')) {
            section.scrollIntoView(); await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); } })()""")
        self.assertEqual(self.evaluate(drawn), len(names))
        drawable = {row["experiment"] for document in self.documents for row in document["rows"] if row["metrics"]}
        self.assertEqual(self.evaluate("[...document.querySelectorAll('.experiment')].filter(each => !each.querySelector('svg')).length"),
                         len(names - drawable))  # those that have nothing but words
        shown = set(self.evaluate("[...document.querySelectorAll('.experiment figcaption')].map(each => each.firstChild.textContent)"))
        done = {item["id"] for item in load(COVERAGE) if item["status"] == "done"}
        for spec in load(FIGURES):
            item = spec["title"].split(":")[0]
            if item in done or not re.fullmatch(r"[FLZHS]\d+", item):  # what is partial may not have been recorded
                self.assertIn(spec["title"], shown)
        for focused, *said, nothing in self.evaluate(CHARTS_BY_KEYBOARD):
            self.assertTrue(focused)
            self.assertTrue(all(said), said)
            self.assertEqual(nothing, "")
        self.assertEqual(self.browser.complaints(), [])
        self.assertLessEqual(pages_of(self.browser.pdf()), 25)

    def test_five_papers_have_claims_then_and_now_and_a_figure(self):
        self.open(self.page, "recorded-phone-dark", width=390, height=844, dark=True)
        self.assertLessEqual(self.evaluate("document.documentElement.scrollWidth"), 390)
        self.evaluate("dispatchEvent(new Event('beforeprint'))")
        papers = self.evaluate("""[...document.querySelectorAll('.paper')].map(paper => [paper.querySelectorAll('.claim').length,
            paper.querySelectorAll('.front svg').length, [...paper.querySelectorAll('.claim')].every(claim =>
              claim.querySelectorAll('dd').length === 2 && document.querySelector(claim.querySelector('a').hash))])""")
        self.assertEqual([figures for _, figures, _ in papers], [1] * 5)
        self.assertTrue(all(claims >= 3 and whole for claims, _, whole in papers), papers)

    def test_a_method_has_one_colour_and_those_used_without_the_library_have_warm_ones(self):
        self.open(self.page)
        self.evaluate("dispatchEvent(new Event('beforeprint'))")
        rivals = set(self.evaluate("JSON.parse(document.getElementById('shared').textContent).colours.rivals"))
        figures = self.evaluate("""[...document.querySelectorAll('figure')].map(figure =>
            [...figure.querySelectorAll('.legend button:not([disabled])')].map(button =>
              [button.textContent, button.querySelector('.swatch').className.replace('swatch', '').trim()]))""")
        colours, coloured = {}, re.compile(r"(own|rival)-\d")
        for lines in figures:
            # Of several quantities each has a colour; what was printed has its method's, and another label.
            shown = {label: name for label, name in lines if ", " not in label and coloured.fullmatch(name)}
            if any(", " in label for label, _ in lines):
                continue
            for method, name in shown.items():
                colours.setdefault(method, set()).add(name)
                self.assertEqual(name.startswith("rival"), method in rivals, f"{method} is {name}")
            self.assertEqual(len(set(shown.values())), len(shown), shown)
        self.assertGreater(len(colours), 20)
        self.assertEqual({method: names for method, names in colours.items() if len(names) > 1}, {})

    def test_what_was_printed_stands_dashed_beside_what_was_measured(self):
        self.open(self.page)
        found = self.evaluate("""(() => { const section = [...document.querySelectorAll('.experiment')]
            .find(each => each.querySelector('h3').textContent.startsWith('opencl-iterations')); section.scrollIntoView();
            return new Promise(done => setTimeout(() => done([section.querySelectorAll('.line.printed').length,
              section.querySelectorAll('.line:not(.printed)').length]), 200)); })()""")
        self.assertEqual(found[0], 3)
        self.assertGreater(found[1], 3)


class Documents(InBrowser):
    """Documents that nobody made well."""

    def with_rows(self, rows, **context):
        document = load(SAMPLE)
        return {**document, "context": {**document["context"], **context}, "rows": rows}

    def measured_row(self):
        return next(row for row in load(SAMPLE)["rows"] if row["status"] == "ok" and row["metrics"])

    def test_names_that_are_scripts_stay_text(self):
        attack = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
        rows = [{**row, "device": attack, "experiment": attack, "method": attack + str(i), "axes": {attack: i, "b": attack}}
                for i, row in enumerate(load(SAMPLE)["rows"][:8])]
        rows += [{**rows[0], "device": "published: " + attack, "method": "published-" + attack},
                 {**rows[0], "experiment": "__proto__", "method": "constructor", "axes": {"__proto__": 1}}]
        page = self.page_of(self.with_rows(rows, started=attack, note=attack))
        self.open(page)
        self.evaluate("(() => { for (const each of document.querySelectorAll('details')) each.open = true; })()")
        self.evaluate("document.querySelector('.exports button').click()")
        self.assertEqual(self.evaluate("document.title"), "gpusync report")
        self.assertEqual(self.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.complaints(), [])
        self.assertIn("<img", self.evaluate("document.querySelector('.experiment h3').textContent"))

    def test_names_without_end_and_methods_without_number_stay_readable(self):
        base = next(row for row in load(SAMPLE)["rows"] if row["status"] == "ok")
        rows = [{**base, "device": "D" * 5000, "method": "m" * 5000 + str(i), "axes": {**base["axes"], "w" * 500: "v" * 500}}
                for i in range(300)]
        self.open(self.page_of(self.with_rows(rows)), width=390)
        self.assertLessEqual(self.evaluate("document.documentElement.scrollWidth"), 390)
        self.assertEqual(self.evaluate("document.querySelectorAll('.chart .bar').length"), 80)
        self.assertIn("220 more are in the table", self.evaluate("document.querySelector('.chart').textContent"))

    def test_a_document_without_rows_says_so(self):
        self.open(self.page_of(self.with_rows([])))
        self.assertIn("nothing was measured", self.evaluate("document.querySelector('.warning:not(noscript *)').textContent"))

    def test_rows_without_figures_are_a_table(self):
        rows = [row for row in load(SAMPLE)["rows"] if row["status"] == "skipped"]
        self.open(self.page_of(self.with_rows(rows)))
        self.assertEqual(self.evaluate("document.querySelectorAll('.chart').length"), 0)
        self.assertIn("None of its rows has a number", self.evaluate("document.querySelector('.figures').textContent"))

    def test_a_huge_document_makes_a_page_that_says_what_it_left_out(self):
        base = [row for row in load(SAMPLE)["rows"] if row["status"] == "ok"]
        rows = [{**base[i % len(base)], "axes": {**base[i % len(base)]["axes"], "blocks": 1 + i // len(base)}}
                for i in range(70_000)]
        page = self.page_of(self.with_rows(rows))
        self.assertLess(os.path.getsize(page), 10 << 20)
        self.open(page)
        said = self.evaluate("document.querySelector('.experiment .warning').textContent")
        left, of = map(int, re.search(r"(\d+) of (\d+) rows", said).groups())
        self.assertEqual(of, len(rows))
        self.assertIn(f"All {of - left} rows", self.evaluate("document.querySelector('details.rows').textContent"))
        self.assertEqual(self.evaluate("document.querySelectorAll('.chart svg').length"), 1)

    def test_lines_of_as_many_points_as_are_kept_are_drawn(self):
        base = self.measured_row()
        rows = [{**base, "axes": {**base["axes"], "blocks": 1 + i}} for i in range(60_000)]
        self.open(self.page_of(self.with_rows(rows)))
        self.assertGreater(self.evaluate("document.querySelectorAll('.chart circle').length"), 50_000)

    def test_figures_at_the_ends_of_what_numbers_can_be_are_drawn(self):
        base = self.measured_row()
        largest, least = 1.797e308, 4.9e-324
        for form, axes in (("bars", []), ("lines", ["blocks"]), ("map", ["blocks", "lane"])):
            rows = []
            for i, value in enumerate((largest, -largest, least, 1e-310, 0, 1)):
                metric = {**base["metrics"]["step_time"], "value": value, "q1": -largest, "q3": largest}
                at = {"lane": i // 3} if "lane" in axes else {}
                rows.append({**base, "method": base["method"] if axes else f"m{i}", "metrics": {"step_time": metric},
                             "axes": {"blocks": i % 3 if at else i, **at} if axes else {"blocks": 1}})
            with self.subTest(form):
                self.open(self.page_of(self.with_rows(rows)))
                self.assertEqual(self.evaluate("document.querySelectorAll('.chart svg').length"), 1)
                self.assertNotRegex(self.evaluate(FIRST_CHART + ".outerHTML"), "NaN|Infinity")

    def test_axes_named_like_what_every_object_has_are_axes(self):
        base = self.measured_row()
        rows = [{**base, "method": "constructor", "axes": axes} for axes in ({"__proto__": 1, "toString": 2}, {"constructor": 3})]
        # json.dumps writes "__proto__" as any other key.
        self.open(self.page_of(self.with_rows(rows)))
        self.evaluate(OPEN_TABLE)
        head, *table = self.evaluate("[...document.querySelectorAll('details.rows tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        columns = [next(i for i, cell in enumerate(head) if name in cell.replace(" ", "_")) for name in ("__proto__", "toString", "constructor")]
        self.assertEqual([[line[i] for i in columns] for line in table], [["1", "2", ""], ["", "", "3"]])

    def test_a_file_of_a_chart_is_well_formed_whatever_its_names_hold(self):
        base = self.measured_row()
        self.open(self.page_of(self.with_rows([{**base, "method": "a\uffff\ufffeb"}])))
        self.assertTrue(xml.etree.ElementTree.fromstring(self.evaluate(EXPORTED % "SVG")).tag.endswith("svg"))

    def test_an_incomplete_run_is_marked(self):
        self.open(self.page_of(SAMPLE, self.with_rows(load(SAMPLE)["rows"][:4], complete=False)))
        self.assertIn("1 of 2 runs was cut short", self.evaluate("document.querySelector('main > .warning').textContent"))
        self.evaluate("document.querySelector('main > .warning a').click()")
        self.assertIn("INCOMPLETE", self.evaluate("document.querySelector(location.hash).textContent"))
        self.assertEqual(self.evaluate("document.querySelectorAll('.incomplete').length"), 1)


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
