#!/usr/bin/env python3
"""Checks that every public name of the library has a contract: a /// comment that Doxygen finds.

usage: api_reference.py ROOT WORK_DIRECTORY [--doxygen PROGRAM] [--list]

Public are the functions, classes, members, aliases, constants and enumerators in include/gpusync outside namespaces
`detail` and `host_detail`, and of the OpenCL part what its headers declare. No comment is asked of destructors, of what
is deleted or defaulted, of copies and moves, of specializations (their template has it), nor of a member that
- a base documents under the same name, or
- a concept documents: a page (`/// @page Grid`) with a list whose entries begin with names of members, which a class or
  a base of it says that it fulfils (`/// Fulfils @ref Grid`). `head::stamp()` is a member of a class in that class.

--list prints nothing but the names without a contract, with their places.

Exit codes: 0 every name has one, 1 something is missing, 77 there is no Doxygen.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


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


def concept_names(page):
    """The names of members at the beginnings of the entries of a page's lists."""
    names = set()
    for entry in page.iter("listitem"):
        paragraph = entry.find("para")
        if paragraph is None or (paragraph.text or "").strip():
            continue
        for part in paragraph:
            name = re.match(r"[\w:]+", text_of(part))
            if part.tag != "computeroutput" or name is None:
                break
            names.add(name[0])
            if (part.tail or "").strip() != ",":
                break
    return names


def fulfilled(compound):
    """The pages that a class says it fulfils."""
    pages = set()
    for tag in ("briefdescription", "detaileddescription"):
        for parent in compound.find(tag).iter():
            before = parent.text
            for child in parent:
                if child.tag == "ref" and (before or "").rstrip().endswith("Fulfils"):
                    pages.add(child.get("refid"))
                before = child.tail
    return pages


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


class Reference:
    """What Doxygen has found: all classes and namespaces by their names in its files, and the concepts' members."""

    def __init__(self, directory):
        self.all, self.concepts = {}, {}
        for file in sorted(os.listdir(directory)):
            for compound in ElementTree.parse(os.path.join(directory, file)).getroot().findall("compounddef"):
                if compound.get("kind") == "page":
                    self.concepts[compound.get("id")] = concept_names(compound)
                self.all[compound.get("id")] = compound
        self.by_name = {text_of(one.find("compoundname")): one for one in self.all.values() if public(one)}

    def bases(self, compound):
        """A class and what it derives from, near and far."""
        found = [compound]
        for base in compound.findall("basecompoundref"):
            if base.get("refid") in self.all:
                found += self.bases(self.all[base.get("refid")])
        return found

    def contracted(self, compound):
        """The names of members for which a class, its bases or their concepts have a contract."""
        names = set()
        for one in self.bases(compound):
            names.update(text_of(member.find("name")) for member in members_of(one)
                         if one is not compound and described(member))
            for page in fulfilled(one):
                names.update(self.concepts.get(page, ()))
        return names

    def missing_in(self, compound):
        """(name, place) of what lacks a contract: members of a class or a namespace, and itself."""
        owner = text_of(compound.find("compoundname"))
        around, _, last = owner.rpartition("::")
        outer = self.contracted(self.by_name[around]) if around in self.by_name else set()
        names = self.contracted(compound) | {name[len(last) + 2:] for name in outer if name.startswith(f"{last}::")}
        if not described(compound) and last not in outer:
            yield owner, place_of(compound)
        for member in members_of(compound):
            name = text_of(member.find("name"))
            if compound.get("kind") != "namespace" and (needs_none(member, owner) or name in names):
                continue
            if not described(member):
                yield f"{owner}::{name}", place_of(member)
            for value in member.findall("enumvalue"):
                if not described(value):
                    yield f"{owner}::{name}::{text_of(value.find('name'))}", place_of(member)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("work")
    parser.add_argument("--doxygen", default="doxygen")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    program = shutil.which(options.doxygen)
    if program is None:
        print("skipped: there is no Doxygen (apt-get install doxygen)")
        return 77
    warnings = run_doxygen(program, os.path.abspath(options.root), os.path.abspath(options.work))
    reference = Reference(os.path.join(options.work, "xml"))
    compounds = reference.by_name.values()
    names = sum(1 + len(members_of(compound)) for compound in compounds)
    missing = [one for compound in compounds for one in reference.missing_in(compound)]
    if options.list:
        print("".join(f"{place}: {name}\n" for name, place in missing), end="")
    else:
        for failure in warnings + [f"{place}: {name} has no contract" for name, place in missing]:
            print(f"FAILED: {failure}")
        print(f"{names} public names, {len(missing)} without a contract")
    return 1 if warnings or missing else 0


if __name__ == "__main__":
    sys.exit(main())
