#!/usr/bin/env python3
"""Checks what scripts/genomes makes of GenBank entries, without its packages. usage: genomes_test.py ROOT"""

import importlib.machinery
import importlib.util
import io
import os
import sys
import unittest
import zipfile

SCRIPT = os.path.join(os.path.abspath(sys.argv.pop(1)), "scripts", "genomes")
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("genomes", SCRIPT)
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("genomes", loader))
loader.exec_module(script)

ENTRY = """LOCUS       BK{0}   {1} bp    DNA     linear   PLN 06-FEB-2015
DEFINITION  TPA: Saccharomyces cerevisiae S288c
            chromosome {0}.
ACCESSION   BK{0}
FEATURES             Location/Qualifiers
     source          1..{1}
                     /note="ORIGIN of nothing"
ORIGIN      
{2}//
"""


class Genomes(unittest.TestCase):
    def test_an_entry_becomes_fasta(self):
        made = script.fasta_of(ENTRY.format("I", 75, "        1 ccacaccaca cccacacacc cacacaccac accacacacc acaccacacc cacacacaca\n"
                                                     "       61 catcctaaca ctacc\n"))
        self.assertEqual(made, ">TPA: Saccharomyces cerevisiae S288c chromosome I.\n"
                               "CCACACCACACCCACACACCCACACACCACACCACACACCACACCACACCCACACACACACATCCTAACA\nCTACC\n")

    def test_chromosomes_stand_in_their_order(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            for number, letters in (("10", "t"), ("02", "g"), ("01", "a")):
                file.writestr(f"chr{number}.gb", ENTRY.format(number, 1, f"        1 {letters}\n"))
            file.writestr("genes.pickle", "acgt")
        made = script.fasta_of_chromosomes(archive.getvalue())
        self.assertEqual("".join(line for line in made.splitlines() if not line.startswith(">")), "AGT")
        self.assertEqual(made.count(">"), 3)


if __name__ == "__main__":
    unittest.main()
