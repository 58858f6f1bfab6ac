#!/usr/bin/env python3
"""Writes docs/row-key-designs.md with its pictures, from what the tests of the emulator report.

  rm -f REPORT
  TANDEM_EMULATED_REPORT=REPORT TANDEM_EMULATED_ROWS=1000000 build/test_tools --run_test=emulated_load
  tools/dev/row_key_designs.py REPORT
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "row-key-designs"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 190, 56, 26, 22

# The design, what it is called, what it does to writers and readers.
DESIGNS = [
    ("sequence", "Monotone: an id, or a time, first",
     "Rows lie in the order in which they come, so the newest are one short range. Every write goes to the last region; "
     "regions before it are split off and rest, half full."),
    ("hash+id", "A hash of the id, then the id",
     "Writes spread over all regions, and a get computes the hash. A range of ids is a get for each."),
    ("mod+id:8", "The id modulo 8, then the id",
     "As many hot places as partitions: each is monotone in itself. A range of ids is eight scans, merged (`RowKeySchema::InFieldOrder`)."),
    ("random-salt+time:8", "A random salt, then the time",
     "To the store it is the next design. But a get has to look under each salt, since nobody can compute it: Tandem's "
     "declarations have no such salt."),
    ("salt+time:8", "A salt that follows from the rest of the key, then the time",
     "`salt(8), at:timestamp`. Writes spread over the salts, a get stays one get, a range of times is eight scans, merged."),
]

STYLE = """text { font: 12px sans-serif; fill: #555 }
.p { fill: #9db8d9 } .m { fill: #2f6fb2 } line { stroke: #ccc }
@media (prefers-color-scheme: dark) { text { fill: #aaa } .p { fill: #44617f } .m { fill: #7db4ee } line { stroke: #444 } }"""


def picture(entry):
    """Bytes of each region in the order of keys, predicted beside measured."""
    predicted = entry["predicted"]["region_bytes"]
    measured = entry["measured"]["region_bytes"]
    places = max(len(predicted), len(measured))
    most = max(predicted + measured)
    slot = (WIDTH - LEFT - 8) / places
    bar = slot * 0.42
    scale = (HEIGHT - TOP - BOTTOM) / most
    base = HEIGHT - BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           f"<title>{entry['design']}: bytes of each region, predicted and measured</title>",
           f"<style>{STYLE}</style>",
           f'<rect class="p" x="{LEFT}" y="6" width="10" height="10"/>'
           f'<text x="{LEFT + 15}" y="15">predicted, {len(predicted)} regions</text>',
           f'<rect class="m" x="{LEFT + 190}" y="6" width="10" height="10"/>'
           f'<text x="{LEFT + 205}" y="15">measured, {len(measured)} regions</text>',
           f'<line x1="{LEFT}" y1="{base}" x2="{WIDTH - 8}" y2="{base}"/>',
           f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{most / 1e6:.1f} MB</text>',
           f'<text x="{LEFT}" y="{HEIGHT - 6}">regions in the order of their keys</text>']
    for kind, values, offset in (("p", predicted, 0.06), ("m", measured, 0.52)):
        for i, value in enumerate(values):
            height = value * scale
            out.append(f'<rect class="{kind}" x="{LEFT + (i + offset) * slot:.1f}" y="{base - height:.1f}" '
                       f'width="{bar:.1f}" height="{height:.1f}"/>')
    return "\n".join(out + ["</svg>"]) + "\n"


def pair(entry, name, scale=1.0, digits=0):
    return f"{entry['predicted'][name] / scale:.{digits}f}, {entry['measured'][name] / scale:.{digits}f}"


def page(entries):
    rows = next(iter(entries.values()))["rows"]
    out = ["# Five designs of row keys, predicted and run", "",
           f"{rows:,} rows of 84 bytes and a key, one index, 16 MiB of memory, regions of at most 4 MiB. The emulator says what comes of each design before",
           "there is a table (`tandem emulate`); the engine was then given the same rows (`test/tools/emulated_load_test.cc`, background work done",
           "between batches). Written by `tools/dev/row_key_designs.py`. Each pair: predicted, measured. Hottest region: its share of the last",
           "twentieth of the writes, by the borders of the end.", "",
           "| design | regions | splits | on disk, MB | of indexes, MB | written, MB | hottest region, % |",
           "|---|---|---|---|---|---|---|"]
    for name, _, _ in DESIGNS:
        entry = entries[name]
        out.append(f"| `{name}` | {pair(entry, 'regions')} | {pair(entry, 'splits')} | {pair(entry, 'disk_bytes', 1e6, 1)} | "
                   f"{pair(entry, 'index_bytes', 1e6, 1)} | {pair(entry, 'written_bytes', 1e6)} | {pair(entry, 'hottest', 0.01, 1)} |")
    for name, title, text in DESIGNS:
        file = name.replace("+", "-").replace(":", "-") + ".svg"
        out += ["", f"## {title}", "", text, "", f"![{name}: bytes of each region, predicted and measured](row-key-designs/{file})"]
        (PICTURES / file).write_text(picture(entries[name]))
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    entries = {}
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        entry = json.loads(line)
        entries[entry["design"]] = entry
    missing = [name for name, _, _ in DESIGNS if name not in entries]
    if missing:
        sys.exit(f"the report lacks {', '.join(missing)}")
    PICTURES.mkdir(exist_ok=True)
    (ROOT / "docs" / "row-key-designs.md").write_text(page(entries))


if __name__ == "__main__":
    main()
