"""Matches by the tool on host threads and the first OpenCL device beside mummer's, and what the experiment says of
them. Debian has mummer, and the genomes and reads: packages mummer, bowtie2-examples (the phage lambda with reads),
bowtie-examples (E. coli)."""

import gzip
import json
import os
import random
import shutil
import subprocess
import unittest

from tool import FolderTest, run

PHAGE = "/usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz"
PHAGE_READS = "/usr/share/doc/bowtie2/examples/reads/reads_1.fq.gz"
LONG_PHAGE_READS = "/usr/share/doc/bowtie2/examples/reads/longreads.fq.gz"
E_COLI = "/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz"

BY_DEVICE = ("-a", "method=suffix-tree,suffix-array")


def fasta(sequences):
    return "".join(f">{name} of a test\n{letters}\n" for name, letters in sequences.items())


def of_fastq(path, most):
    """The first reads of a FASTQ file, by name."""
    with gzip.open(path, "rt") as file:
        lines = [line.strip() for _, line in zip(range(4 * most), file)]
    return {name[1:].split()[0]: letters for name, letters in zip(lines[::4], lines[1::4])}


def by_query(text):
    """[(header, [lines in order])]: what a list of matches says, whatever the order of a query's matches."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith(">"):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [(header, sorted(lines)) for header, lines in found]


def directly(references, queries, least):
    """The same by a look at every pair of letters."""
    def equal(a, b):
        return a == b and a in "ACGT"

    width = max(map(len, references))
    found = []
    for name, query in queries.items():
        query = query.upper().replace("U", "T")
        lines = []
        for reference, letters in references.items():
            letters = letters.upper().replace("U", "T")
            for i, a in enumerate(letters):
                for j, b in enumerate(query):
                    if not equal(a, b) or (i and j and equal(letters[i - 1], query[j - 1])):
                        continue
                    length = 1
                    while (i + length < len(letters) and j + length < len(query)
                           and equal(letters[i + length], query[j + length])):
                        length += 1
                    if length >= least:
                        named = f"  {reference:{width}}  " if len(references) > 1 else ""
                        lines.append(f"{named}{i + 1:8}  {j + 1:8}  {length:8}\n")
        found.append((f"> {name}\n", sorted(lines)))
    return found


class Alignment(FolderTest):
    def devices(self):
        listed = {device["id"] for device in json.loads(run("devices", "--json").out)["devices"]}
        return [device for device in ("host", "opencl:0") if device in listed]

    def mummer(self, reference, query, least, *options):
        """What mummer prints."""
        if shutil.which("mummer") is None:
            self.skipTest("mummer is not installed, so there is nothing to compare with")
        return subprocess.run(["mummer", "-maxmatch", *options, "-l", str(least), reference, query],
                              capture_output=True, text=True, check=True, timeout=120).stdout

    def need(self, *paths):
        for path in paths:
            if not os.path.exists(path):
                self.skipTest(f"{path} is not installed")

    def matches(self, device, reference, query, least, *arguments):
        """What the tool writes, and its rows, which must all be right."""
        out = self.path("matches")
        outcome = run("run", "alignment", "-d", device, "-a", f"reference={reference}", "-a", f"query={query}", "-a",
                      f"min-match={least}", "--matches", out, "--quick", *(arguments or BY_DEVICE), "--json",
                      self.path("rows.json"))
        self.assertEqual(outcome.code, 0, outcome.err)
        with open(self.path("rows.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertTrue(document["context"]["complete"])
        for row in document["rows"]:
            self.assertEqual(row["status"], "ok", row)
            if row["method"].startswith("suffix-"):
                self.assertTrue(row["verified"], row)
        with open(out, encoding="ascii") as file:
            return file.read(), document["rows"]

    def test_the_phage_and_its_reads_match_as_mummer_says(self):
        self.need(PHAGE, PHAGE_READS, LONG_PHAGE_READS)
        with gzip.open(PHAGE, "rt") as file:
            phage = self.write("phage.fa", file.read())
        reads = of_fastq(PHAGE_READS, 3000) | {f"long-{name}": letters for name, letters in
                                               of_fastq(LONG_PHAGE_READS, 100).items()}
        query = self.write("reads.fa", fasta(reads))
        expected = self.mummer(phage, query, 20)
        self.assertIn("\n> r3000\n", expected)
        for device in self.devices():
            found, rows = self.matches(device, PHAGE, query, 20)
            self.assertEqual(by_query(found), by_query(expected), device)
            self.assertEqual("".join(sorted(found.splitlines(True))), "".join(sorted(expected.splitlines(True))))
            placements = {f"suffix-{by}{at}" for by in ("tree", "array")
                          for at in ("", "+1", "+2", "+both", "+control-1", "+control-2", "+control-both")}
            self.assertEqual({row["method"] for row in rows}, placements | {"all-matches"})

    def test_e_coli_and_simulated_reads_match_as_mummer_says(self):
        self.need(E_COLI)
        with gzip.open(E_COLI, "rt") as file:
            text = file.read()
        genome = self.write("e-coli.fa", text)
        letters = "".join(line for line in text.split("\n") if not line.startswith(">"))
        source = random.Random(2014)
        reads = {}
        for i in range(3000):
            at = source.randrange(len(letters) - 100)
            read = list(letters[at:at + 100])
            for _ in range(i % 4):
                read[source.randrange(100)] = source.choice("ACGTN")
            reads[f"read-{i}"] = "".join(read)
        query = self.write("reads.fa", fasta(reads))
        expected = self.mummer(genome, query, 20, "-n")
        found, rows = self.matches("host", E_COLI, query, 20, *BY_DEVICE, "-a", "placement=none,1")
        self.assertEqual(by_query(found), by_query(expected))
        listed = next(row for row in rows if row["method"] == "all-matches")
        self.assertEqual(listed["metrics"]["matches"]["value"], sum(len(lines) for _, lines in by_query(expected)))
        self.assertEqual({row["method"] for row in rows if row["method"].startswith("suffix-tree")},
                         {"suffix-tree", "suffix-tree+1", "suffix-tree+control-1"})

    def test_the_tool_compares_its_list_with_mummer_s(self):
        self.need(PHAGE, PHAGE_READS)
        if shutil.which("mummer") is None:
            self.skipTest("mummer is not installed, so there is nothing to compare with")
        query = self.write("reads.fa", fasta(of_fastq(PHAGE_READS, 2000)))
        outcome = run("run", "alignment", "-d", "host", "-a", f"reference={PHAGE}", "-a", f"query={query}", "-a",
                      "method=suffix-array,mummer", "-a", "placement=none", "--quick", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        rows = json.loads(outcome.out)["rows"]
        listed = next(row for row in rows if row["method"] == "all-matches")
        self.assertTrue(listed["verified"], listed)
        self.assertIn("mummer -maxmatch -n", listed["verification"])
        rivals = [row for row in rows if row["method"] == "mummer"]
        self.assertEqual({row["axes"]["processes"] for row in rivals}, {1, os.cpu_count()})
        for row in rivals:  # on a busy machine it may take no longer for reads than for none
            self.assertIn(row["status"], ("ok", "skipped"), row)
            self.assertGreater(row["metrics"]["index_time"]["value"], 0)

    IRREGULAR = ({"ref": "ACGTNNACGTnnacgtRYACGTTTTACGUACGTAAAAAAAAAAAAAAAA", "other": "nnnn", "third": "GGCATCAACGT"},
                 {"none": "", "short": "AC", "n": "NNNNNN", "across": "ACGTNNACGTNNACGT", "lower": "acgtttt",
                  "codes": "ACGTRYACGT", "as": "A" * 40, "rna": "acguacgu",
                  "long": "ACGTTTTNACGTACGTAAAAACAAAAGGCATCAACGTT" * 30, "last": ""})

    def test_irregular_sequences(self):
        references, queries = self.IRREGULAR
        for some in (references, {"ref": references["ref"]}):
            reference, query = self.write("r.fa", fasta(some)), self.write("q.fa", fasta(queries))
            for least in (3, 12):
                expected = directly(some, queries, least)
                for device in self.devices():
                    for threads in (1, 3):
                        found, _ = self.matches(device, reference, query, least, *BY_DEVICE, "-a", f"threads={threads}",
                                                "-a", "placement=none,both")
                        self.assertEqual(by_query(found), expected, (device, threads))

    def test_mummer_says_the_same_of_irregular_sequences(self):
        references, queries = ({name: letters.replace("U", "T").replace("u", "t") for name, letters in some.items()}
                               for some in self.IRREGULAR)
        reference, query = self.write("r.fa", fasta(references)), self.write("q.fa", fasta(queries))
        self.assertEqual(by_query(self.mummer(reference, query, 3, "-n")), directly(references, queries, 3))
        # Without -n, it lets N match N. The tool does not.
        self.assertNotEqual(by_query(self.mummer(reference, query, 3)), directly(references, queries, 3))

    def test_nothing_in_the_files(self):
        empty, good = self.write("empty.fa", ">a\n>b\n"), self.write("good.fa", ">g\nACGTACGT\n")
        self.assertEqual(self.matches("host", good, empty, 3)[0], "> a\n> b\n")
        self.assertEqual(self.matches("host", empty, good, 3)[0], "> g\n")
        self.assertEqual(self.matches("host", good, good, 9)[0], "> g\n")

    def test_generated_benchmarks_and_what_the_paper_says(self):
        rows = self.rows_of_quick_run("alignment", "host", "-a", "reads=200", "-a", "method=suffix-tree",
                                      "-a", "placement=2", "-a", "order=breadth,depth")
        measured = [row for row in rows if row["device"] == "host"]
        self.assertEqual({row["axes"]["reference"] for row in measured}, {"BANTH", "CBRIGG", "HSILL", "LMONO", "SSUIS"})
        self.assertEqual({row["axes"]["min-match"] for row in measured}, {50, 100, 14, 20})
        self.assertEqual({row["axes"]["genome"] for row in measured}, {"made"})
        for row in measured:
            if row["method"] == "suffix-tree+2":
                self.assertEqual(set(row["metrics"]), {"run_time", "reads_per_second", "rho_over_none", "rho"}, row)
                self.assertIn("L14", row["items"])
        published = {row["method"]: row for row in rows if row["device"].startswith("published")}
        self.assertEqual(published["published-suffix-tree-most"]["metrics"]["rho"]["value"], 11)

    def test_a_file_stands_for_the_genome_of_a_benchmark(self):
        rows = self.rows_of_quick_run("alignment", "host", "-a", f"reference={PHAGE}", "-a", "benchmark=LMONO,SSUIS",
                                      "-a", "reads=50", "-a", "method=suffix-array", "-a", "placement=1")
        measured = {row["axes"]["reference"]: row for row in rows if row["method"] == "suffix-array+1"}
        self.assertEqual(set(measured), {"LMONO", "SSUIS"})
        for name, least, length in (("LMONO", 20, 120), ("SSUIS", 14, 36)):
            self.assertEqual(measured[name]["axes"]["genome"], PHAGE)
            self.assertEqual(measured[name]["axes"]["bases"], 48502)
            self.assertEqual(measured[name]["axes"]["min-match"], least)
            self.assertEqual(measured[name]["axes"]["query"], f"50 reads of {length}")
            self.assertIn("L15", measured[name]["items"])
        sizes = [row for row in rows if "reference_size" in row["metrics"]]
        self.assertEqual(len(sizes), 5, "table 5 stands beside them")

    def test_the_axes_that_do_not_go_together(self):
        good = self.write("good.fa", ">g\nACGTACGT\n")
        for arguments, words in ((("-a", f"query={good}"), ("reference is missing",)),
                                 (("-a", f"reference={good}", "-a", "scale=20"), ("scale", "leave it out")),
                                 (("-a", f"reference={good}", "-a", f"query={good}", "-a", "benchmark=BANTH"),
                                  ("benchmark", "leave it out, or query")),
                                 (("-a", f"reference={good}", "-a", "benchmark=BANTH"), ("Reads of 100 bases", good)),
                                 (("-a", f"reference={good}", "-a", f"query={good}", "-a", "reads=3"), ("reads",)),
                                 (("-a", f"reference={good}"), ("Reads of 100 bases", "8")),
                                 (("-a", "placement=3"), ("placement", "'3'", "control-both")),
                                 (("-a", "method=bwa"), ("method", "'bwa'", "suffix-tree")),
                                 (("-a", "benchmark=BANTH,HSILL", "--matches", "-"), ("--matches", "2")),
                                 (("-a", "benchmark=BANTH", "--matches", "-", "--json", "-"), ("standard output",)),
                                 (("-a", "benchmark=BANTH", "--matches", "-", "--resume", "--json", self.path("x")),
                                  ("--matches", "--resume"))):
            outcome = run("run", "alignment", "-d", "host", *arguments)
            self.assertEqual(outcome.code, 2, outcome.err)
            for word in words:
                self.assertIn(word, outcome.err, arguments)
        outcome = run("run", "barrier-cost", "-d", "host", "--matches", self.path("x"))
        self.assertEqual(outcome.code, 2)
        self.assertIn("barrier-cost finds none", outcome.err)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_matches_do_not_take_the_place_of_what_is_read(self):
        good = self.write("good.fa", ">g\nACGTACGT\n")
        outcome = run("run", "alignment", "-d", "host", "-a", f"reference={good}", "-a", f"query={good}", "--matches",
                      good)
        self.assertEqual(outcome.code, 2)
        self.assertIn("take the place", outcome.err)


if __name__ == "__main__":
    unittest.main()
