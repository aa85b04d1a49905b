#!/usr/bin/env python3
"""Code that must not compile, each with words that the compiler must say: a static_assert of the library's, or that
there is no such function. The same code without its fault must compile.

usage: refused_code_test.py COMPILER INCLUDE_DIRECTORY
"""

import os
import subprocess
import sys
import tempfile

HEAD = """
#include <gpusync/neighbours/host.hpp>
using namespace gpusync;
void code(host_neighbour_storage& storage, host_halo_storage<float>& words) {
  (void)storage, (void)words;
"""
TAIL = "}\n"

# right, wrong, what the compiler says of the wrong one
PAIRS = [
    ("auto all = storage.barrier();", "auto part = storage.barrier(block_range{0, 2});", "no matching function"),
    ("storage.barrier().sync();", "(void)storage.dropping_barrier();", "this algorithm joins nothing but whole grids"),
    ("auto barrier = storage.barrier(); auto& same = barrier; same.sync();",
     "auto barrier = storage.barrier(); auto copy = barrier; copy.sync();", "a handle is passed by reference"),
    ("auto halo = words.halo(); auto& same = halo; same.send();",
     "auto halo = words.halo(); auto copy = halo; copy.send();", "a handle is passed by reference"),
    ("host_halo<uint32_t>* halo = nullptr; halo->send();", "host_halo<uint16_t>* halo = nullptr; halo->send();",
     "trivially copyable, of 4 or 8 bytes"),
    ("host_halo<double>* halo = nullptr; halo->send();", "host_halo<std::string>* halo = nullptr; halo->send();",
     "trivially copyable, of 4 or 8 bytes"),
    ("float data[4]; launch(host_device{}, {4, 1}, [](float*) {}, &data[0]);",
     "float data[4]; launch(host_device{}, {4, 1}, [](const float*) {}, data);", "cannot be copied: pass a pointer"),
]


def main():
    compiler, include = sys.argv[1:]
    failures = []
    with tempfile.TemporaryDirectory() as folder:

        def compiled(body):
            source = os.path.join(folder, "code.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(HEAD + body + TAIL)
            end = subprocess.run([compiler, "-std=c++17", "-w", "-fsyntax-only", f"-I{include}", source],
                                 capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C"))
            return end.returncode == 0, end.stderr

        # All that is right at once: to read the headers is most of the time.
        taken, said = compiled("".join(f"{{ {right} }}\n" for right, _, _ in PAIRS))
        if not taken:
            failures.append(f"this should compile:\n{said}")
        for _, wrong, words in PAIRS:
            taken, said = compiled(wrong)
            if taken:
                failures.append(f"this should not compile: {wrong}")
            elif words not in said:
                failures.append(f"of {wrong} the compiler should say '{words}', not:\n{said}")
    print("\n".join(failures) or f"{len(PAIRS)} are refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
