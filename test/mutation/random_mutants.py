#!/usr/bin/env python3
"""Mutants of the engine: random small changes of its sources, chosen by a seed. Do the general suites
notice them, or the tests of a part? Each becomes a patch, which planted_bugs.sh applies, builds and
tries. Prints a JSON line a mutant and the share that was caught; a mutant that does not compile is none.

  test/mutation/random_mutants.py [N] [--seed S] [--seconds S] [--folder F]... [--list] [--keep DIR]

N (20) mutants from seed S (1), each tried for S seconds (180) at most. --list prints them alone. A
survivor is either equivalent, such as a changed estimate, or a blind spot: --keep DIR leaves the
patches there, to be looked at."""
import argparse
import difflib
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["base", "format", "index", "store_file", "compaction", "memstore", "wal", "engine"]
SUITES = "worlds crash errors tests cut files space model allocations interleave interleave_files flip differential"
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# Lines that decide nothing while the program runs.
SKIPPED = re.compile(r"^\s*(#|using\b|template\b|static_assert\b|namespace\b|case\b)|\boperator\b")
# A call, perhaps by way of a macro that returns its error, as a whole statement on its line.
CALL = re.compile(r"^(\s+)(?!return\b|throw\b|delete\b|else\b|ASSIGN_OR_RETURN\b|if\b|for\b|while\b)"
                  r"[\w:.\->*\[\]()]+\(.*\);\s*$")


def code_of(line):
    """The line with literals and comments blanked, so that columns stay."""
    blank = lambda match: " " * len(match.group(0))
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', blank, line)
    return re.sub(r"//.*", blank, line)


def comparisons(code):
    for match in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", code):
        yield match.span(), SWAPS[match.group(1)]


def off_by_one(code):
    for match in re.finditer(r"(?<=[\w)\]] )([+-]) 1\b(?!['.])", code):
        yield match.span(), match.group(1) + " 2"
        yield match.span(), match.group(1) + " 0"
    for match in re.finditer(r"(?<!\w)(?:size|length)\(\)(?! *[-+])", code):
        yield (match.end(), match.end()), " - 1"


def negations(code):
    match = re.match(r"\s*(?:\} else )?if \((.*)\)(?= (?:\{|return|continue|break)| [\w.:>-]+\(| [\w.]+ =)", code)
    if match and match.group(1).count("(") == match.group(1).count(")") and ";" not in match.group(1):
        yield match.span(1), None


def connectives(code):
    for match in re.finditer(r"&&|\|\|", code):
        yield match.span(), "||" if match.group(0) == "&&" else "&&"


def dropped_calls(code):
    match = CALL.match(code)
    if match and code.count("(") == code.count(")"):
        yield (match.end(1), len(code)), ";"


OPERATORS = {"comparison": comparisons, "off by one": off_by_one, "negation": negations,
             "connective": connectives, "dropped call": dropped_calls}


def sites(folders):
    """All mutants by operator: (file, line number, before, after)."""
    found = {name: [] for name in OPERATORS}
    for path in sorted(path for folder in folders for path in glob.glob(folder + "/**/*.cc", recursive=True)):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        starts = True
        for number, line in enumerate(lines, 1):
            code = code_of(line).rstrip()
            if code and not SKIPPED.search(code):
                for name, operator in OPERATORS.items():
                    # The rest of a statement that spans lines is no statement.
                    if name == "dropped call" and not starts:
                        continue
                    for (begin, end), text in operator(code):
                        text = f"!({line[begin:end]})" if text is None else text
                        found[name].append((path, number, line, line[:begin] + text + line[end:]))
            if code:
                starts = bool(re.search(r"[;{}:]$", code))
    return found


def choose(count, seed, folders):
    """As many of each operator as of any other."""
    found = sites(folders)
    chance = random.Random(seed)
    chosen = []
    while len(chosen) < count and any(found.values()):
        name = chance.choice([name for name in found if found[name]])
        chosen.append((name,) + found[name].pop(chance.randrange(len(found[name]))))
    return chosen


def write_patch(mutant, path):
    name, source, number, before, after = mutant
    with open(source, encoding="utf-8") as file:
        old = file.read().splitlines(keepends=True)
    new = old[:number - 1] + [after + "\n"] + old[number:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"Class: mutant, {name}\nBug: {source}:{number}\nSuites: {SUITES}\n\n")
        file.write(f"diff --git a/{source} b/{source}\n")
        file.writelines(difflib.unified_diff(old, new, "a/" + source, "b/" + source))


def try_patches(paths, seconds):
    """What planted_bugs.sh says about each patch, as it says it."""
    environment = dict(os.environ, SECONDS_EACH=str(seconds), QUIET="1")
    with subprocess.Popen(["test/mutation/planted_bugs.sh"] + paths, env=environment, text=True,
                          stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            result = json.loads(line)
            if "bug" in result:
                yield result


def describe(mutant):
    name, source, number, before, after = mutant
    return {"mutant": name, "file": source, "line": number, "before": before.strip(),
            "after": after.strip()}


def run(mutants, directory, seconds):
    paths = {}
    for i, mutant in enumerate(mutants, 1):
        name = f"mutant-{i:04}"
        write_patch(mutant, os.path.join(directory, name + ".patch"))
        paths[name] = mutant
    counts = {"tried": 0, "caught": 0, "not compiled": 0}
    files = [os.path.join(directory, name + ".patch") for name in paths]
    for result in try_patches(files, seconds) if files else []:
        if "built" in result:
            counts["not compiled"] += 1
            continue
        counts["tried"] += 1
        counts["caught"] += result["caught_by"] is not None
        print(json.dumps(dict(describe(paths[result["bug"]]), patch=result["bug"],
                              caught_by=result["caught_by"], seconds=result.get("seconds"))), flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", metavar="DIR")
    arguments = parser.parse_args()
    keep = os.path.abspath(arguments.keep) if arguments.keep else None
    os.chdir(ROOT)
    mutants = choose(arguments.count, arguments.seed, arguments.folder or FOLDERS)
    if arguments.list:
        for mutant in mutants:
            print(json.dumps(describe(mutant)))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        if keep:
            os.makedirs(keep, exist_ok=True)
        counts = run(mutants, keep or scratch, arguments.seconds)
    share = 100.0 * counts["caught"] / counts["tried"] if counts["tried"] else 0.0
    print(json.dumps({"suite": "mutants", **counts, "percent": round(share, 1), "seed": arguments.seed}))
    return 0 if share >= 90 else 8


if __name__ == "__main__":
    sys.exit(main())
