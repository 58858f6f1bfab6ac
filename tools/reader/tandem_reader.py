#!/usr/bin/env python3
"""Lists what a closed Tandem database holds. Written from docs/format.md alone, to prove that page.

    tandem_reader.py rows DB [TABLE]        every cell of every store file, versions and markers too
    tandem_reader.py index DB TABLE INDEX   every entry of an index, current and older

One JSON object a line. Bytes that are no UTF-8 text without control characters stand in base64, as
NAME_b64. Cells come by table id, region (start key), reference (oldest first), ordinal, family id
and cell order (6.2); entries by region, reference, value, ordinal, current before older.

Everything is verified: ROOT, manifest, log and each store file as a whole before the first line,
each block again in its place. What does not agree ends the listing with one line on standard error.

Exit codes: 0 done, 2 usage, 3 no such database, table or index, 4 damage, 5 not closed cleanly, 6
open in another process, 7 made by a version or feature unknown here.

Relies on libxxhash.so.0 and libzstd.so.1; nothing else beyond Python 3.10.
"""
import base64
import json
import sys

sys.dont_write_bytecode = True

from database import Database
from index import index_entries
from primitives import NOT_FOUND, Refused
from rows import CELL_KINDS

USAGE = 2


def print_record(kind, fields):
    line = {'kind': kind}
    for name, value in fields.items():
        if isinstance(value, bytes):
            text = plain_text(value)
            encoded = name if text is not None else name + '_b64'
            line[encoded] = text if text is not None else base64.b64encode(value).decode()
        else:
            line[name] = value
    print(json.dumps(line, ensure_ascii=False, separators=(',', ':')))


def plain_text(value):
    try:
        text = value.decode('utf-8')
    except UnicodeDecodeError:
        return None
    return None if any(c < ' ' or '\x7f' <= c <= '\x9f' for c in text) else text


def references(database, table):
    """Region, reference and store file of everything that belongs to a table."""
    for region in database.regions_of(table['id']):
        for reference in region['references']:
            yield region, reference, database.stores[reference['file']]


def print_rows(database, table):
    for region, reference, store in references(database, table):
        for ordinal, family, key, cells in store.rows():
            if not reference['low'] <= ordinal < reference['high']:
                continue
            for cell in cells:
                print_record('cell', {
                    'table': table['name'], 'region': region['id'], 'file': reference['file'],
                    'ordinal': ordinal, 'row': key, 'family': family['name'],
                    'column': cell.qualifier, 'timestamp': cell.timestamp,
                    'sequence': cell.sequence, 'operation': CELL_KINDS[cell.kind],
                    'value': cell.value})


def print_index(database, table, name):
    for region, reference, store in references(database, table):
        keys = store.keys()
        for index in store.table['indexes']:
            if index['name'] != name:
                continue
            for value, ordinal, current in index_entries(store, index, keys):
                if reference['low'] <= ordinal < reference['high']:
                    print_record('index_key', {
                        'table': table['name'], 'region': region['id'], 'file': reference['file'],
                        'region_start': region['start'], 'index': name, 'value': value,
                        'row': keys[ordinal], 'part': 'current' if current else 'older'})


def named(records, name, what):
    for found in records:
        if found['name'] == name:
            return found
    raise Refused(NOT_FOUND, f'{what} {name.decode(errors="replace")} is not there')


def main(arguments):
    names = [argument.encode(errors='surrogateescape') for argument in arguments[2:]]
    if not (arguments[:1] == ['rows'] and len(arguments) in (2, 3)
            or arguments[:1] == ['index'] and len(arguments) == 4):
        print(__doc__, file=sys.stderr)
        return USAGE
    sys.stdout.reconfigure(encoding='utf-8')
    try:
        database = Database(arguments[1])
        tables = [database.tables[number] for number in sorted(database.tables)]
        if names:
            tables = [named(tables, names[0], 'table')]
        if arguments[0] == 'index':
            named(tables[0]['indexes'], names[1], 'index')
            print_index(database, tables[0], names[1])
        else:
            for table in tables:
                print_rows(database, table)
    except Refused as refused:
        print(f'tandem_reader: {refused}', file=sys.stderr)
        return refused.code
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
