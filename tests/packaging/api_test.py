#!/usr/bin/env python3
"""The library's public names: is each documented, and does docs/api.md list them all?

usage: api_test.py check INCLUDE API_MD      exit code 1 and what is wrong, if something is
       api_test.py write INCLUDE API_MD      brings the list up to the headers

A public name is one that a header declares in namespace gpusync or in one of those below it, but for the namespaces in
HIDDEN. What a name is for, the first sentence of its `///` comment says; a name without such a comment is a fault.
Reads the headers as clang-format has left them: what stands in a namespace begins in the first column.

Nor may a header draw a line between GPUs but where __CUDA_ARCH__ reaches 900 or, those of objects, 800: tests compile for
each side of these (gpu.instantiations and gpu.objects of CMakeLists.txt).
"""

import pathlib
import re
import sys

HIDDEN = {"detail", "host_detail", "embedded", "tuned"}
INTRODUCTION = """# Public names

What a program may name, by namespace and header; written by `tests/packaging/api_test.py write` from the headers' `///`
comments, where the contracts stand in full. What lies in a namespace `detail` may change at any time.
"""
LINES_BETWEEN_GPUS = {"800": "gpusync/rmw/", "900": "gpusync/"}  # where they may be
SKIPPED = re.compile(r"namespace\b|extern\b|static_assert\b|friend\b|public:|private:|protected:")


def joined(lines, i):
    """The declaration that begins in line i, without its body, and the number of the line after it."""
    text = ""
    while i < len(lines):
        text += (" " if text else "") + lines[i].strip()
        i += 1
        if text.endswith(("{", ";", "}")):
            break
    return text, i


def name_of(declaration):
    """The name that a declaration makes, or None for what makes none: specializations, operators, announcements."""
    text = re.sub(r"^(GPUSYNC_API_TEMPLATE )?", "", declaration)
    if text.startswith("template <> ") or "operator" in text.split("(")[0]:
        return None
    while text.startswith("template <"):  # cut the parameter list
        depth = 0
        for at, letter in enumerate(text):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                text = text[at + 1:].lstrip()
                break
    text = re.sub(r"\[\[\w+\]\] |GPUSYNC_(HD|API|COLD) |__device__ |__forceinline__ |__attribute__\(\(.*?\)\) ", "", text)
    match = re.match(r"(?:class|struct|enum class|enum) (?:alignas\(\d+\) )?(\w+)(.?)", text)
    if match:
        return None if match[2] in ("<", ";") or text.endswith(";") and "{" not in text else match[1]
    match = re.match(r"using (\w+) =", text)
    if match:
        return match[1]
    if text.startswith("using "):
        return None  # the standard's integers, where there is no <cstdint>
    head = text.split(" = ")[0].split("{")[0].replace("decltype(auto)", "auto")
    match = re.search(r"(\w+)\(", head) or re.search(r"(\w+)(\[\w*\])?;?\s*$", head)
    if match and re.search(re.escape(match[1]) + "<", head):
        return None  # a specialization of a variable
    return match[1] if match else None


def comment_above(lines, i):
    """The text of the /// comment that ends above line i."""
    words = []
    while i > 0 and lines[i - 1].startswith("///"):
        i -= 1
        words.insert(0, lines[i][3:].strip())
    return " ".join(words)


def first_sentence(comment):
    """With a bar escaped, for it ends a cell."""
    comment = comment.split("  ")[0]  # its first paragraph
    match = re.match(r"(.+?[.:])(?= [A-Z]|$)", comment)
    return (match[1] if match else comment).rstrip(".:").replace("|", "\\|")


def names_in(path):
    """(namespace, name, comment) of each declaration of a header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    namespaces = []
    i = 0
    while i < len(lines):
        line = lines[i]
        opened = re.match(r"(?:inline )?namespace ([\w:]+) \{$", line)
        if opened:
            namespaces.append(opened[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif namespaces and re.match(r"\w|\[\[", line) and not SKIPPED.match(line):
            start = i
            declaration, i = joined(lines, i)
            name = name_of(declaration)
            where = "::".join(namespaces)
            if name and where.split("::")[0] == "gpusync" and not HIDDEN & set(where.split("::")):
                yield where, name, comment_above(lines, start)
            continue
        i += 1


def all_names(include):
    """{(namespace, name): (header, comment)}; of overloads, the first that has a comment."""
    names = {}
    root = pathlib.Path(include)
    for path in sorted(root.glob("gpusync/**/*")):
        if path.suffix not in (".hpp", ".cuh"):
            continue
        for where, name, comment in names_in(path):
            known = names.get((where, name))
            if known is None or not known[1]:
                names[where, name] = (path.relative_to(root).as_posix(), comment)
    return names


def listed(names):
    """docs/api.md."""
    text = INTRODUCTION
    for where in sorted({where for where, _ in names}):
        text += f"\n## `{where}`\n\n| name | header | |\n|---|---|---|\n"
        for (namespace, name), (header, comment) in sorted(names.items()):
            if namespace == where:
                text += f"| `{name}` | `{header.removeprefix('gpusync/')}` | {first_sentence(comment)} |\n"
    return text


def lines_between_gpus(include):
    """What is wrong with the headers' comparisons of __CUDA_ARCH__."""
    for path in sorted(pathlib.Path(include).rglob("*.*")):
        for line in re.sub(r"//.*", "", path.read_text(encoding="utf-8")).splitlines():
            for comparison in re.findall(r"__CUDA_ARCH__ *([<>=!]=?.*?)(?:$|&&|\|\|)", line):
                if comparison.split()[0] != ">=" or not str(path.relative_to(include)).startswith(
                        LINES_BETWEEN_GPUS.get(comparison.split()[1], "nowhere")):
                    yield f"{path}: __CUDA_ARCH__ {comparison} is a line between GPUs that no test compiles for"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("check", "write"):
        print(__doc__)
        return 2
    names = all_names(sys.argv[2])
    api = pathlib.Path(sys.argv[3])
    if sys.argv[1] == "write":
        api.write_text(listed(names), encoding="utf-8")
    wrong = [f"{header}: {where}::{name} has no /// comment" for (where, name), (header, comment) in names.items()
             if not comment]
    wrong += lines_between_gpus(sys.argv[2])
    have = api.read_text(encoding="utf-8") if api.exists() else ""
    if len(names) < 50:
        wrong.append(f"only {len(names)} names were found: the headers are no longer read as they are written")
    want = set(listed(names).splitlines())
    for line in sorted(want - set(have.splitlines())):
        wrong.append(f"{api} lacks: {line}")
    for line in sorted(set(have.splitlines()) - want):
        wrong.append(f"{api} has, but the headers do not: {line}")
    if wrong:
        wrong.append("Run tests/packaging/api_test.py write include docs/api.md once the comments are right.")
    print("\n".join(wrong) or f"{len(names)} public names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
