"""Python says in the same words as C++ what does not fit, who was missing, and what was misused; and reads the same
report.
    sentences_test.py COMPILER"""

import ast
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from gpusync import NotCoResident, _report, _residency  # noqa: E402

# Not those of storages that Python has none of: reductions, halos, dependency counters, channels, and of host threads.
OTHERS = {"shared_handle", "concurrent_calls", "out_of_turn", "no_such_word", "overtaken", "unknown_counter",
          "surplus_publish", "incomplete_epoch", "wrong_end", "beyond_chunk", "too_many_warps"}


def misuses():
    """The names in gpusync::misuse, in order."""
    text = (ROOT / "include/gpusync/core/misuse.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum class misuse : uint32_t \{(.*?)\};", text, re.DOTALL).group(1)
    return re.findall(r"^\s*(\w+),", body, re.MULTILINE)


def of_residency(numbers):
    sm, needs = _residency.Sm(*numbers[:5]), _residency.Needs(*numbers[5:8])
    per_sm, blocks = numbers[8:]
    try:
        _residency.require_co_resident(_residency.explain(132, per_sm, sm, needs), "NVIDIA H200", blocks, needs)
    except NotCoResident as error:
        return f"{error} {error.requested} {error.limit}"
    return ""


def of_report(numbers):
    return _report.in_words(_report.parse(struct.pack(f"<{len(numbers)}I", *numbers)))


# Python's functions that repeat a sentence of C++'s which needs a CUDA device to be heard there.
REPEATED = {"_residency.py": ["check_shape"], "_launch.py": ["_residency_of", "check_launch"],
            "_barrier.py": ["require_usable"], "_driver.py": ["device"], "_layout.py": ["require_servable"]}
# What in those is about Python alone.
OF_PYTHON = ("launches from Python have none", "cannot launch a grid whose blocks all run at once",
             "bytes of dynamic shared memory.",
             # What C++ puts together of smaller parts.
             "A placed-counters barrier serves 1 to ", "A barrier's storage was made for CUDA device ", ", but the launch is on CUDA device ")


def texts_of(functions, text):
    """The constant parts, long enough to be known by, of what these functions raise."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef) and function.name in functions:
            for thrown in (one for one in ast.walk(function) if isinstance(one, ast.Raise)):
                for one in ast.walk(thrown):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) >= 12:
                        yield one.value


def not_said_by_cpp():
    literals = []
    for header in (ROOT / "include/gpusync").rglob("*.*h*"):
        text = header.read_text(encoding="utf-8")
        literals += re.sub(r'"\s*\n\s*"', "", text).split("\n")
    said = re.sub(r"\s+", " ", " ".join(literals))
    for name, functions in REPEATED.items():
        texts = list(texts_of(functions, (ROOT / "python/gpusync" / name).read_text(encoding="utf-8")))
        if not texts:
            yield f"{name} raises nothing in {', '.join(functions)}"
        for one in texts:
            if not any(other in one for other in OF_PYTHON) and one.strip() not in said:
                yield f"no header says {one!r}, as {name} does"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    names = misuses()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "sentences")
        subprocess.run([sys.argv[1], "-std=c++17", "-O0", f"-I{ROOT / 'include'}", "-o", program,
                        str(HERE / "sentences.cpp")], check=True)
        lines = subprocess.run([program, str(len(names))], check=True, capture_output=True, text=True).stdout
    compared, wrong, sentences = 0, 0, set()
    for line in lines.splitlines():
        question, expected = line.split("\t")
        kind, *numbers = question.split()
        numbers = [int(one) for one in numbers]
        if kind == "report" and names[numbers[3]] in OTHERS:
            continue
        said = {"residency": of_residency, "report": of_report}[kind](numbers)
        compared += 1
        sentences.add(expected)
        if said != expected:
            wrong += 1
            print(f"FAILED: {question}\n  C++:    {expected}\n  Python: {said}")
    unknown = OTHERS - set(names)
    if unknown:
        print(f"FAILED: C++ has no misuse {', '.join(sorted(unknown))} any more")
    for one in not_said_by_cpp():
        wrong += 1
        print(f"FAILED: {one}")
    print(f"{compared} compared, {len(sentences)} sentences, {wrong} wrong")
    return 1 if wrong or unknown or len(sentences) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
