"""Random pairs by Smith-Waterman's pipeline, all in one process of the device, beside parasail: scores and end cells.

usage: pipeline_pairs_test.py PROGRAM [--device host] [--pairs 400] [--longest 300] [--seed 1] [--found FILE]

PROGRAM is pipeline_pairs. FILE: what its `align` with the same numbers has printed on another machine. Ends with 77,
and says why, where parasail's library (Debian: parasail) or the device is missing.
"""

import argparse
import ctypes
import ctypes.util
import itertools
import multiprocessing
import os
import subprocess
import sys

SKIPPED = 77


class Parasail:
    """Its sw_scan_32, which of several ends of the same score reports the one that we do."""

    def __init__(self, path):
        self.library = library = ctypes.CDLL(path)
        number, pointer, text = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
        for name, result, *arguments in (
                ("parasail_matrix_create", pointer, text, number, number),
                ("parasail_matrix_set_value", None, pointer, number, number, number),
                ("parasail_matrix_free", None, pointer),
                ("parasail_sw_scan_32", pointer, text, number, text, number, number, number, pointer),
                ("parasail_result_get_score", number, pointer),
                ("parasail_result_get_end_query", number, pointer),
                ("parasail_result_get_end_ref", number, pointer),
                ("parasail_result_free", None, pointer)):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self.matrices = {}

    def matrix(self, match, mismatch):
        if (match, mismatch) not in self.matrices:
            made = self.library.parasail_matrix_create(b"ACGTN", match, mismatch)
            self.library.parasail_matrix_set_value(made, 4, 4, mismatch)  # what is unknown matches nothing
            self.matrices[match, mismatch] = made
        return self.matrices[match, mismatch]

    def align(self, query, reference, match, mismatch, gap_open, gap_extend):
        """(score, query end, reference end); nothing ends where the score is 0."""
        library = self.library
        result = library.parasail_sw_scan_32(query, len(query), reference, len(reference), gap_open + gap_extend,
                                             gap_extend, self.matrix(match, mismatch))
        score = library.parasail_result_get_score(result)
        ends = library.parasail_result_get_end_query(result), library.parasail_result_get_end_ref(result)
        library.parasail_result_free(result)
        return (score, *ends) if score > 0 else (0, -1, -1)


def compute(line):
    query, reference, *scoring = line.split()
    return compute.parasail.align(query.encode(), reference.encode(), *map(int, scoring))


def begin(path):
    compute.parasail = Parasail(path)


def differences(found, expected, pairs):
    """A sentence for each pair whose result is another; so many pairs there must be of either."""
    told = []
    if (len(found), len(expected)) != (pairs, pairs):
        told.append(f"{len(found)} pairs were aligned, and {len(expected)} by parasail, not {pairs}")
    told += [f"pair {i}: {a} instead of {b}" for i, (a, b) in enumerate(zip(found, expected)) if a != b]
    return told


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][7:])
    parser.add_argument("program")
    parser.add_argument("--device", default="host")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--longest", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--found")
    asked = parser.parse_args()
    path = ctypes.util.find_library("parasail")
    if path is None:
        print("parasail's library is not installed, so there is nothing to compare with: skipped.")
        return SKIPPED
    numbers = [str(asked.seed), str(asked.pairs), str(asked.longest)]
    if asked.found:
        with open(asked.found, encoding="ascii") as file:
            printed = file.read()
    else:
        ran = subprocess.run([asked.program, "align", asked.device, *numbers], capture_output=True, text=True)
        if ran.returncode == SKIPPED:
            print(f"{ran.stderr.strip()} Skipped.")
            return SKIPPED
        if ran.returncode != 0:
            print(f"{asked.program} align ended with {ran.returncode}: {ran.stderr.strip()}")
            return 1
        printed = ran.stdout
    found = [tuple(map(int, line.split())) for line in printed.splitlines()]
    with subprocess.Popen([asked.program, "letters", *numbers], stdout=subprocess.PIPE, text=True) as letters:
        with multiprocessing.Pool(os.cpu_count(), begin, (path,)) as pool:
            expected = list(pool.imap(compute, letters.stdout, 16))
    if letters.returncode != 0:
        print(f"{asked.program} letters ended with {letters.returncode}.")
        return 1
    told = differences(found, expected, asked.pairs)
    # Were one score or one end another, it would be told.
    for place in range(3):
        other = [tuple(n + (i == place) for i, n in enumerate(expected[-1]))] if expected else []
        if not differences(expected[:-1] + other, expected, len(expected)):
            told.append("a result that is another was not found out")
    if all(score == 0 for score, *_ in expected):
        told.append("no pair has anything to align")
    if told:
        print("\n".join(itertools.islice(told, 20)))
        print(f"{len(told)} differences.")
        return 1
    print(f"{asked.pairs} pairs of 1 to {asked.longest} letters score and end as parasail says.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
