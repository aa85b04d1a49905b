#!/usr/bin/env python3
"""Checks that every public name of the library has a contract: a /// comment that Doxygen finds.

usage: api_reference.py ROOT WORK_DIRECTORY [--doxygen PROGRAM] [--list] [--write]

Public are the functions, classes, members, aliases, constants and enumerators in include/gpusync outside namespaces
`detail` and `host_detail`, and of the OpenCL part what its headers declare. No comment is asked of destructors, of what
is deleted or defaulted, of copies and moves, of specializations (their template has it), nor of the members that every
algorithm has: these stand in docs/adding.md, in the table of a grid barrier.

What has none yet is in api_without_contract.txt beside this file, one class or namespace a line with the number of its
names that lack one. A name more fails the check, and so does a number that is too large: the list shall shrink. --list
prints every name that lacks a contract, --write writes the list anew.

Exit codes: 0 complete but for that list, 1 something is missing, 77 there is no Doxygen.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

EXCEPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "api_without_contract.txt")
# A public name that lacks a contract, and whose line of the list it counts for.
Missing = collections.namedtuple("Missing", "owner name place")


def run_doxygen(program, root, work):
    """Writes XML of all headers to WORK/xml, documented or not."""
    with open(os.path.join(root, "docs", "Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    settings += f"""
INPUT            = {root}/include/gpusync {root}/docs/reference.dox
STRIP_FROM_PATH  = {root}
OUTPUT_DIRECTORY = {work}
GENERATE_HTML    = NO
GENERATE_XML     = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL      = YES
"""
    shutil.rmtree(os.path.join(work, "xml"), ignore_errors=True)
    os.makedirs(work, exist_ok=True)
    done = subprocess.run([program, "-"], input=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"doxygen failed:\n{done.stdout}{done.stderr}")
    # With EXTRACT_ALL it does not say what is undocumented: what it says is wrong with a comment.
    return [line for line in done.stderr.splitlines() if " warning: " in line]


def text_of(element):
    return "" if element is None else "".join(element.itertext()).strip()


def described(element):
    return any(text_of(element.find(tag)) for tag in ("briefdescription", "detaileddescription"))


def internal(name):
    parts = name.split("::")
    return any(part in ("detail", "host_detail", "tuned", "embedded") or part.startswith("@") for part in parts)


def place_of(element):
    location = element.find("location")
    return "?" if location is None else f"{location.get('file')}:{location.get('line')}"


def algorithm_members(root):
    """The names in the first column of the first table of docs/adding.md."""
    names = set()
    with open(os.path.join(root, "docs", "adding.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("| `"):
                for word in re.findall(r"`([a-z_]+)", line.split("|")[1]):
                    names.add(word)
    return names


def needs_none(member, owner):
    """Whether a member of a class needs no comment."""
    name, arguments = text_of(member.find("name")), text_of(member.find("argsstring"))
    kind = owner.rsplit("::", 1)[-1]
    if name.startswith("~") or arguments.endswith("=delete") or arguments.endswith("=default"):
        return True
    if name not in (kind, "operator="):
        return False
    parameters = [text_of(p.find("type")) for p in member.findall("param")]
    return len(parameters) == 1 and re.fullmatch(rf"(const )?{re.escape(kind)} ?&&?", parameters[0]) is not None


def public(compound):
    """Whether a class or a namespace is the library's, not internal, and no specialization."""
    name = text_of(compound.find("compoundname"))
    return (compound.get("kind") in ("class", "struct", "union", "namespace")
            and compound.get("prot") not in ("private", "protected")
            and name.split("::")[0] == "gpusync" and not internal(name) and "<" not in name)


def members_of(compound):
    return [member for member in compound.findall("./sectiondef/memberdef")
            if member.get("prot") in ("public", "package") and member.get("kind") != "friend"
            and not internal(text_of(member.find("name"))) and "<" not in text_of(member.find("name"))]


def missing_in(compound, of_all_algorithms):
    """The names in a class or a namespace, and its own, that lack a contract."""
    owner = text_of(compound.find("compoundname"))
    if not described(compound):
        yield Missing(owner, owner, place_of(compound))
    members = members_of(compound)
    is_algorithm = any(text_of(m.find("name")) == "family" for m in members)
    for member in members:
        name = text_of(member.find("name"))
        if compound.get("kind") != "namespace" and needs_none(member, owner):
            continue
        if is_algorithm and name in of_all_algorithms:
            continue
        if not described(member):
            yield Missing(owner, f"{owner}::{name}", place_of(member))
        for value in member.findall("enumvalue"):
            if not described(value):
                yield Missing(owner, f"{owner}::{name}::{text_of(value.find('name'))}", place_of(member))


def missing_names(root, work):
    """How many public names there are, and those that lack a contract."""
    of_all_algorithms = algorithm_members(root)
    compounds = {}
    for file in sorted(os.listdir(os.path.join(work, "xml"))):
        if re.match(r"(class|struct|union|namespace)", file):
            for compound in ElementTree.parse(os.path.join(work, "xml", file)).getroot().findall("compounddef"):
                if public(compound):
                    compounds[text_of(compound.find("compoundname"))] = compound
    algorithms = {name for name, compound in compounds.items()
                  if any(text_of(m.find("name")) == "family" for m in members_of(compound))}
    names, missing = 0, []
    for name, compound in compounds.items():
        around, _, last = name.rpartition("::")
        if around in algorithms and last in of_all_algorithms:
            continue  # an algorithm's state and token
        names += 1 + len(members_of(compound))
        missing += missing_in(compound, of_all_algorithms)
    return names, missing


def read_exceptions():
    allowed = {}
    with open(EXCEPTIONS, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].split()
            if line:
                allowed[line[0]] = int(line[1])
    return allowed


def write_exceptions(found):
    with open(EXCEPTIONS, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    with open(EXCEPTIONS, "w", encoding="utf-8") as file:
        file.writelines(head)
        file.writelines(f"{owner} {found[owner]}\n" for owner in sorted(found))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("work")
    parser.add_argument("--doxygen", default="doxygen")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    program = shutil.which(options.doxygen)
    if program is None:
        print("skipped: there is no Doxygen (apt-get install doxygen)")
        return 77
    warnings = run_doxygen(program, os.path.abspath(options.root), os.path.abspath(options.work))
    names, missing = missing_names(options.root, options.work)
    found = collections.Counter(one.owner for one in missing)
    if options.list:
        for one in missing:
            print(f"{one.place}: {one.name}")
    if options.write:
        write_exceptions(found)
    allowed = read_exceptions()
    failures = list(warnings)
    for owner in sorted(set(found) | set(allowed)):
        if found[owner] > allowed.get(owner, 0):
            failures.append(f"{owner}: {found[owner]} names lack a contract, {allowed.get(owner, 0)} are excused:")
            failures += [f"  {one.place}: {one.name}" for one in missing if one.owner == owner]
        elif found[owner] < allowed[owner]:
            failures.append(f"{owner}: {found[owner]} names lack a contract, {allowed[owner]} are excused: lower the "
                            f"number in {os.path.basename(EXCEPTIONS)} ({os.path.basename(__file__)} --write)")
    for failure in failures:
        print(f"FAILED: {failure}" if not failure.startswith("  ") else failure)
    print(f"{names} public names, {len(missing)} without a contract, all of them known" if not failures else
          f"{names} public names, {len(missing)} without a contract")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
