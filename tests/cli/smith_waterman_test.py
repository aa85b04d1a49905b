"""Alignments by the tool on host threads and the first OpenCL device beside those of other programs: parasail and
EMBOSS's water. Debian has both, and the phage whose pieces are aligned: packages parasail, emboss, bowtie2-examples."""

import functools
import gzip
import json
import os
import random
import re
import resource
import shutil
import subprocess
import unittest
from typing import NamedTuple

from tool import FolderTest, run

PHAGE = "/usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz"


class Scoring(NamedTuple):
    match: int
    mismatch: int
    gap_open: int
    gap_extend: int

    def arguments(self):
        return [part for name, value in self._asdict().items() for part in ("-a", f"{name.replace('_', '-')}={value}")]

    @property
    def gap_first(self):
        """What a gap's first letter costs in all: parasail and water call that the opening."""
        return self.gap_open + self.gap_extend

    def matrix(self):
        """A table for parasail and water. Their own tables have other thoughts about N, and parasail's -M and -X let it
        match for nothing."""
        rows = [[str(self.match if a == b and a in "ACGT" else self.mismatch) for b in "ACGTN*"] for a in "ACGTN*"]
        return "   ".join(" ACGTN*") + "\n" + "".join(f"{a} {' '.join(row)}\n" for a, row in zip("ACGTN*", rows))


DEFAULT = Scoring(2, -1, 3, 1)
LINEAR = Scoring(3, -3, 0, 2)
DEAR_MISMATCHES = Scoring(2, -9, 1, 1)
FREE_MISMATCHES = Scoring(5, 0, 9, 0)


def fasta(sequences):
    return "".join(f">{name} of a test\n" + re.sub("(.{1,70})", "\\1\n", letters) + "\n"
                   for name, letters in sequences.items())


def plain(sequences):
    """As other programs take them: upper case, DNA, N for whatever is unknown, nothing empty."""
    upper = {name: letters.upper().replace("U", "T") for name, letters in sequences.items() if letters}
    return {name: re.sub("[^ACGT]", "N", letters) for name, letters in upper.items()}


@functools.cache
def by_the_book(query, reference, scoring):
    """(score, query end, reference end), or (0, None, None): the recurrence, cell by cell, where the first cell in the
    reference and then in the query is the one to report."""
    best = (0, None, None)
    scores, downs = [0] * (len(query) + 1), [0] * (len(query) + 1)
    for row, b in enumerate(reference):
        diagonal, along = 0, 0
        for column, a in enumerate(query, 1):
            pair = diagonal + (scoring.match if a == b != "N" else scoring.mismatch)
            diagonal = scores[column]
            downs[column] = max(downs[column] - scoring.gap_extend, diagonal - scoring.gap_first)
            along = max(along - scoring.gap_extend, scores[column - 1] - scoring.gap_first)
            scores[column] = score = max(0, pair, downs[column], along)
            if score > best[0]:
                best = (score, column - 1, row)
    return best


def expectation(queries, references, scoring):
    """What the tool is to find, as {(query, reference): by_the_book(…)}."""
    left, right = ({**dict.fromkeys(sequences, ""), **plain(sequences)} for sequences in (queries, references))
    return {(a, b): by_the_book(left[a], right[b], scoring) for a in left for b in right}


def parasail(folder, queries, references, scoring):
    """What parasail finds, as {(query, reference): (score, query end, reference end)}. Of several ends of the same
    score its sw_scan_32 reports the one that we do. The queries are its standard input, for /dev/null would be one file
    too many."""
    paths = {name: os.path.join(folder, f"parasail.{name}") for name in ("queries", "references", "matrix", "out")}
    for name, text in (("queries", fasta(queries)), ("references", fasta(references)), ("matrix", scoring.matrix())):
        with open(paths[name], "w", encoding="ascii") as file:
            file.write(text)
    with open(paths["queries"], "rb") as file:
        subprocess.run(["parasail_aligner", "-a", "sw_scan_32", "-x", "-t", "1", "-m", paths["matrix"], "-o",
                        str(scoring.gap_first), "-e", str(scoring.gap_extend), "-f", paths["references"], "-g",
                        paths["out"]], stdin=file, check=True, timeout=60)
    found = {}
    with open(paths["out"], encoding="ascii") as file:
        for line in file:
            query, reference, _, _, score, query_end, reference_end = map(int, line.split(","))
            ends = (query_end, reference_end) if score > 0 else (None, None)
            found[list(queries)[query], list(references)[reference]] = (score, *ends)
    return found


def water(folder, query, references, scoring):
    """The scores that EMBOSS's water finds, by reference. It is wrong for some sequences of a few letters."""
    paths = {name: os.path.join(folder, f"water.{name}") for name in ("query", "references", "matrix")}
    for name, text in (("query", fasta({"query": query})), ("references", fasta(references)),
                       ("matrix", scoring.matrix())):
        with open(paths[name], "w", encoding="ascii") as file:
            file.write(text)
    printed = subprocess.run(["water", "-asequence", paths["query"], "-snucleotide1", "-bsequence", paths["references"],
                              "-snucleotide2", "-datafile", paths["matrix"], "-gapopen", str(scoring.gap_first),
                              "-gapextend", str(scoring.gap_extend), "-aformat", "score", "-outfile", "stdout"],
                             capture_output=True, text=True, check=True, timeout=60).stdout
    return {name: float(score) for name, score in re.findall(r"^query (\S+) \d+ \((\S+)\)$", printed, re.MULTILINE)}


def mutant(letters, source):
    """Letters changed, lost and inserted, here and there many at once; half of them in lower case."""
    made = []
    at = 0
    while at < len(letters):
        dice = source.random()
        if dice < 0.006:
            at += int(source.expovariate(0.1)) + 1
        elif dice < 0.012:
            made += source.choices("ACGTN", k=int(source.expovariate(0.1)) + 1)
        else:
            made.append(source.choice("ACGTUNRY") if dice < 0.06 else letters[at])
            at += 1
    half = len(made) // 2
    return "".join(made[:half]) + "".join(made[half:]).lower()


def awkward_sequences():
    """By name: short, empty, equal, repeated, unknown, random."""
    source = random.Random(1)
    piece = "".join(source.choices("ACGT", k=60))
    made = {"none": "", "one": "A", "other": "g", "unknown": "N", "equal": "A" * 90, "longer": "a" * 130,
            "all-n": "N" * 70, "codes": "RYSWKMBDHVNacgu" * 3, "tandem": "ACG" * 30, "shifted": "CGA" * 25 + "T",
            "alternating": "AT" * 40, "piece": piece, "gap": piece[:30] + "G" * 40 + piece[30:],
            "twice": piece + "NNNN" + piece, "backwards": piece[::-1], "edge": "C" * 63 + piece[:1],
            "overlap": piece[-25:] + "TTT" * 9}
    made.update({f"random-{k}": "".join(source.choices("ACGTN", (5, 4, 1, 1, 1), k=k)) for k in (2, 31, 32, 33, 65)})
    return made


class SmithWaterman(FolderTest):
    def devices(self):
        listed = {device["id"] for device in json.loads(run("devices", "--json").out)["devices"]}
        return [device for device in ("host", "opencl:0") if device in listed]

    def aligned(self, device, queries, references, scoring, *arguments):
        """What the tool finds for each pair, as parasail() says it; the references' file is compressed."""
        paths = (self.write("queries.fa", fasta(queries)),
                 self.write("references.fa.gz", gzip.compress(fasta(references).encode())))
        outcome = run("run", "smith-waterman", "-d", device, "-a", f"query={paths[0]}", "-a", f"reference={paths[1]}",
                      *scoring.arguments(), *arguments, "--quick", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        document = json.loads(outcome.out)
        self.assertTrue(document["context"]["complete"])
        found = {}
        for row in document["rows"]:
            self.assertEqual((row["status"], row["verified"], row["device"]), ("ok", True, device), row)
            pair = (row["axes"]["query"], row["axes"]["reference"])
            result = tuple(row["metrics"][name]["value"] for name in ("score", "query_end", "reference_end"))
            self.assertEqual(found.setdefault(pair, result), result, row)  # whatever the method
        self.assertEqual(set(found), {(query, reference) for query in queries for reference in references})
        return found

    def found_on_each_device(self, queries, references, scoring):
        """(device, what it finds) for each. One group of an OpenCL device is enough: where others use the processors
        too, two of PoCL's that poll for each other take minutes now and then."""
        for device in self.devices():
            alone = ("-a", "blocks=1") if device.startswith("opencl") else ()
            yield device, self.aligned(device, queries, references, scoring, *alone)

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed, so there is nothing to compare with")

    def phage_pieces(self, length):
        """({query: letters}, {reference: letters}): pieces of the phage lambda, and mutants of parts of them."""
        if not os.path.exists(PHAGE):
            self.skipTest(f"{PHAGE} of Debian's bowtie2-examples is not installed")
        with gzip.open(PHAGE, "rt") as file:
            phage = "".join(line.strip() for line in file if not line.startswith(">"))
        source = random.Random(length)
        references = {f"at-{at}": phage[at:at + length] for at in (0, 20000, 48502 - length)}
        quarter = length // 4
        queries = {f"mutant-of-{name}": mutant(letters[quarter:3 * quarter], source)
                   for name, letters in references.items()}
        return queries, references

    def test_awkward_sequences_score_and_end_as_the_recurrence_says(self):
        references = awkward_sequences()
        queries = {name: references[name] for name in list(references)[::2]}
        for scoring in (LINEAR, DEAR_MISMATCHES, FREE_MISMATCHES):
            expected = expectation(queries, references, scoring)
            for device, found in self.found_on_each_device(queries, references, scoring):
                self.assertEqual(found, expected, (device, scoring))

    def test_parasail_agrees_with_the_recurrence_on_awkward_sequences(self):
        self.need("parasail_aligner")
        sequences = plain(awkward_sequences())
        for scoring in (LINEAR, DEAR_MISMATCHES, FREE_MISMATCHES):
            with self.subTest(scoring=scoring):
                self.assertEqual(parasail(self.folder, sequences, sequences, scoring),
                                 expectation(sequences, sequences, scoring))

    def test_pieces_of_a_phage_score_and_end_as_parasail_says(self):
        self.need("parasail_aligner")
        queries, references = self.phage_pieces(1200)
        for scoring in (DEFAULT, LINEAR):
            expected = parasail(self.folder, plain(queries), plain(references), scoring)
            for device, found in self.found_on_each_device(queries, references, scoring):
                self.assertEqual(found, expected, (device, scoring))

    def test_random_pairs_score_and_end_by_the_pipeline_as_parasail_says(self):
        """A few hundred pairs on host threads, by the tool. On a GPU: GPUSYNC_PIPELINE_DEVICE=cuda:0. 10^4 pairs in one
        process: tests/workloads/pipeline_pairs_test.py."""
        self.need("parasail_aligner")
        device = os.environ.get("GPUSYNC_PIPELINE_DEVICE", "host")
        pairs = int(os.environ.get("GPUSYNC_PIPELINE_PAIRS", "320"))
        longest = int(os.environ.get("GPUSYNC_PIPELINE_LETTERS", "300"))
        blocks = () if device != "host" else ("-a", "blocks=2")
        source = random.Random(18)
        scorings = (DEFAULT, LINEAR, DEAR_MISMATCHES, FREE_MISMATCHES)
        left = pairs
        while left > 0:
            # A run of the tool for some queries with some references.
            side = 9 if left < 400 else 24
            def letters(unknown):
                return "".join(source.choices("ACGTN", (4, 3, 3, 4, unknown), k=source.randint(1, longest)))
            unknown = source.choice((0, 0, 0.3))
            queries = {f"q{i}": letters(unknown) for i in range(side)}
            references = {f"r{i}": letters(unknown) for i in range(side // 2)}
            references.update({f"m{i}": mutant(queries[f"q{i}"], source)[:longest] or "A" for i in range(side // 3)})
            scoring = scorings[(left // 7) % len(scorings)]
            expected = parasail(self.folder, plain(queries), plain(references), scoring)
            found = self.aligned(device, queries, references, scoring, "-a", "form=pipeline", *blocks)
            self.assertEqual(found, expected, (device, scoring))
            left -= len(expected)

    def test_pieces_of_a_phage_score_as_water_says(self):
        self.need("water")
        queries, references = self.phage_pieces(600)
        for scoring in (DEFAULT, Scoring(5, -4, 9, 1)):
            scores = {(name, reference): score for name, letters in plain(queries).items()
                      for reference, score in water(self.folder, letters, plain(references), scoring).items()}
            self.assertEqual(len(scores), len(queries) * len(references))
            for device, found in self.found_on_each_device(queries, references, scoring):
                self.assertEqual({pair: result[0] for pair, result in found.items()}, scores, (device, scoring))

    def test_the_example_of_textbooks_on_several_blocks(self):
        for device in self.devices():
            for blocks in (1, 2):
                with self.subTest(device=device, blocks=blocks):
                    found = self.aligned(device, {"q": "TGTTACGG"}, {"r": "GGTTGACTA"}, LINEAR, "-a",
                                         f"blocks={blocks}")
                    self.assertEqual(found, {("q", "r"): (13, 5, 6)})

    def traced(self, queries, references, scoring):
        """(score, query begin and end, reference begin and end, CIGAR) of each pair's alignment, and its row."""
        paths = self.write("q.fa", fasta(queries)), self.write("r.fa", fasta(references))
        outcome = run("run", "smith-waterman", "-d", "host", "-a", f"query={paths[0]}", "-a", f"reference={paths[1]}",
                      *scoring.arguments(), "-a", "traceback=1", "--quick", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        rows = json.loads(outcome.out)["rows"]
        ends = {(row["axes"]["query"], row["axes"]["reference"]): row["metrics"] for row in rows
                if row["method"] != "traceback"}
        for row in rows:
            if row["method"] != "traceback":
                continue
            pair = (row["axes"]["query"], row["axes"]["reference"])
            for name in ("score", "query_end", "reference_end"):  # of the alignment, and of the run of the matrix
                self.assertEqual(row["metrics"][name]["value"], ends[pair][name]["value"], row)
            yield pair, row

    def rescored(self, cigar, row, query, reference, scoring):
        """The score of an alignment by its CIGAR, each letter looked at."""
        found = {name: row["metrics"][name]["value"] for name in
                 ("query_begin", "query_end", "reference_begin", "reference_end")}
        score, i, j = 0, int(found["query_begin"]), int(found["reference_begin"])
        counts = {"=": 0, "X": 0, "gaps": 0, "letters": 0}
        for letters, kind in re.findall(r"(\d+)([=XID])", cigar):
            for k in range(int(letters)):
                if kind in "=X":
                    same = query[i] == reference[j] != "N"
                    self.assertEqual(same, kind == "=", (cigar, i, j))
                    score += scoring.match if same else scoring.mismatch
                    counts[kind] += 1
                else:
                    score -= scoring.gap_extend + (scoring.gap_open if k == 0 else 0)
                    counts["letters"] += 1
                i += kind in "=XI"
                j += kind in "=XD"
            counts["gaps"] += kind in "ID"
        self.assertEqual("".join(map("".join, re.findall(r"(\d+)([=XID])", cigar))), cigar)
        self.assertEqual((i - 1, j - 1), (found["query_end"], found["reference_end"]))
        self.assertEqual([counts["="], counts["X"], counts["gaps"], counts["letters"]],
                         [row["metrics"][name]["value"] for name in ("matches", "mismatches", "gaps", "gap_letters")])
        return score

    def test_alignments_that_were_traced_back_have_the_score_that_their_rows_say(self):
        source = random.Random(3)
        piece = "".join(source.choices("ACGTN", (5, 4, 3, 5, 1), k=400))
        queries = {"piece": piece, "mutant": mutant(piece, source), "nothing": "N" * 9, "one": "A"}
        references = {"whole": piece[:250] + "GGATC" + piece[250:], "back": piece[::-1]}
        for scoring in (DEFAULT, LINEAR, DEAR_MISMATCHES):
            traced = dict(self.traced(queries, references, scoring))
            self.assertEqual(set(traced), {(q, r) for q in queries for r in references})
            left, right = plain(queries), plain(references)
            for (query, reference), row in traced.items():
                self.assertTrue(row["verified"], row)
                score = row["metrics"]["score"]["value"]
                printed = re.fullmatch(r"the alignment scores (\d+): ([0-9=XID]*)", row["verification"])
                self.assertEqual(int(printed[1]), score)
                if score == 0:
                    self.assertEqual(printed[2], "")
                    self.assertIsNone(row["metrics"]["query_begin"]["value"])
                else:
                    self.assertEqual(self.rescored(printed[2], row, left[query], right[reference], scoring), score)

    def test_nothing_to_align_is_no_verdict(self):
        outcome = run("run", "smith-waterman", "-d", "host", "-a", "length=0", "-a", "blocks=1,2", "--quick")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("empty_run_time", outcome.out)
        self.assertNotIn("cheapest", outcome.out)
        self.assertNotIn("no way to wait", outcome.out)

    def test_more_than_the_host_has_room_for_is_refused_with_the_numbers(self):
        def with_little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        outcome = run("run", "smith-waterman", "-d", "host", "-a", "length=2^24", preexec_fn=with_little_memory)
        self.assert_one_sentence(outcome, 2, "16777216 letters", "1152 MiB of the host's memory", "use shorter")

    def test_a_name_with_a_comma_is_refused_by_its_name(self):
        path = self.write("a,b.fa", ">a\nACGT\n")
        good = self.write("good.fa", ">a\nACGT\n")
        for query, reference in ((path, good), (good, path), (f"{good},{path}", good)):
            self.assert_refused(query, reference, path, "comma", "link")
        self.write("a", ">x\nACGT\n")  # then what stands before the comma is a file, and what stands behind is none
        self.assert_refused(path, good, "b.fa", "No such file")

    def assert_refused(self, query, reference, *words):
        """Exit code 2, one sentence with these words, and no document written."""
        outcome = run("run", "smith-waterman", "-d", "host", "-a", f"query={query}", "-a", f"reference={reference}",
                      "--quick", "--json", self.path("x.json"))
        self.assert_one_sentence(outcome, 2, *words)
        self.assertFalse(os.path.exists(self.path("x.json")))

    def test_files_that_are_no_sequences(self):
        good = self.write("good.fa", ">a\nACGT\n")
        cases = {"protein.fa": (">p\nACGT\nMKVLE\n", "line 3, column 4", "'L'", "protein"), "empty.fa": ("", "empty"),
                 "fastq.fa": ("@r\nACGT\n+\nIIII\n", "line 1, column 1", "FASTQ"), "bare.fa": ("ACGT\n", "'A'", "'>'"),
                 "gaps.fa": (">a\nAC-GT\n", "line 2, column 3", "'-'"), "binary.fa": (b">a\nAC\x00", "'\\x00'"),
                 "comments.fa": ("; nothing\n", "no sequence"),
                 "cut.fa.gz": (gzip.compress(fasta(awkward_sequences()).encode())[:-9], "cut off")}
        for name, (contents, *words) in cases.items():
            with self.subTest(name):
                bad = self.write(name, contents)
                self.assert_refused(bad, good, name, *words)
                self.assert_refused(good, bad, name, *words)

    def test_files_that_cannot_be_read(self):
        good = self.write("good.fa", ">a\nACGT\n")
        self.assert_refused(good, self.path("missing.fa"), "missing.fa", "No such file")
        self.assert_refused(self.folder, good, self.folder, "folder")


if __name__ == "__main__":
    unittest.main()
