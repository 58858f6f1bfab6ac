"""Field records (9): tables, and the parts of the catalog's edits (12).

A description gives for each tag a name and how its field is read; [..] is a list. What the fields
mean stands in the tables of docs/format.md.
"""
from primitives import DAMAGE, UNSUPPORTED, Bytes, Refused, check

COLUMN_TYPES = (1, 2, 3, 4, 5, 6, 7, 19, 20, 21, 22, 23)

COLUMN = {1: ('family', 'varint'), 3: ('qualifier', 'rest'), 5: ('type', 'varint'),
          7: ('descending', 'varint')}
INDEX = {1: ('id', 'varint'), 3: ('name', 'rest'), 5: ('state', 'varint'), 7: ('columns', [COLUMN])}
FAMILY = {1: ('id', 'varint'), 3: ('name', 'rest'), 5: ('max_versions', 'varint'),
          7: ('ttl', 'varint'), 9: ('compression', 'varint'), 11: ('block_size', 'varint')}
TABLE = {1: ('id', 'varint'), 3: ('name', 'rest'), 5: ('secret', 'rest'), 7: ('families', [FAMILY]),
         9: ('indexes', [INDEX])}
COUNTERS = {1: ('next_file', 'varint'), 3: ('next_table', 'varint'), 5: ('next_region', 'varint'),
            7: ('last_timestamp', 'zigzag'), 9: ('clock_high', 'zigzag'),
            11: ('last_sequence', 'varint')}
COUNTS = {1: ('index', 'varint'), 3: ('current', 'varint'), 5: ('older', 'varint')}
FILE = {1: ('number', 'varint'), 3: ('id', 'rest'), 5: ('table', 'varint'), 7: ('size', 'varint'),
        9: ('hash', 'rest'), 11: ('rows', 'varint'), 13: ('cells', 'varint'),
        15: ('markers', 'varint'), 17: ('low_sequence', 'varint'), 19: ('high_sequence', 'varint'),
        21: ('low_time', 'zigzag'),
        23: ('high_time', 'zigzag'), 25: ('low_key', 'rest'),
        27: ('high_key', 'rest'), 29: ('counts', [COUNTS])}
REFERENCE = {1: ('file', 'varint'), 3: ('run', 'varint'), 5: ('low', 'varint'),
             7: ('high', 'varint')}
REGION = {1: ('id', 'varint'), 3: ('table', 'varint'), 5: ('start', 'rest'), 7: ('end', 'rest'),
          9: ('flushed', 'varint'), 11: ('references', [REFERENCE])}
SEGMENT = {1: ('number', 'varint'), 3: ('id', 'rest')}
EDIT = {1: ('counters', [COUNTERS]), 3: ('put_tables', [TABLE]), 5: ('remove_tables', ['varint']),
        7: ('add_files', [FILE]), 9: ('put_regions', [REGION]), 11: ('remove_regions', ['varint']),
        13: ('remove_files', ['varint']), 15: ('add_segments', [SEGMENT]),
        17: ('remove_segments', ['varint'])}


def record(data, fields, where):
    reader, found, last = Bytes(data, where), {}, 0
    lists = {name: [] for name, kind in fields.values() if isinstance(kind, list)}
    while reader.left():
        tag, field = reader.varint(), Bytes(reader.bytes(), where)
        name, kind = fields.get(tag, (None, None))
        check(tag > last or tag == last and name in lists, where, f'field {tag} after field {last}')
        last = tag
        if name is None:
            if tag % 2:
                raise Refused(UNSUPPORTED, f'{where}: field {tag} is unknown')
            continue
        element = kind[0] if name in lists else kind
        if isinstance(element, dict):
            value = record(field.rest(), element, where)
        else:
            value = getattr(field, element)()
        field.end()
        if name in lists:
            lists[name].append(value)
        else:
            found[name] = value
    found.update(lists)
    missing = [name for name, _ in fields.values() if name not in found]
    check(not missing, where, f'fields {missing} are missing')
    return found


def table_record(data, where):
    """A table; what this reader does not know in it is refused (9.1)."""
    table = record(data, TABLE, where)
    for index in table['indexes']:
        known = len(index['columns']) == 1 and index['columns'][0]['type'] in COLUMN_TYPES
        if not known or index['state'] not in (1, 2, 3):
            raise Refused(UNSUPPORTED, f'{where}: an index with an unknown type, state or columns')
    if any(family['compression'] > 1 for family in table['families']):
        raise Refused(UNSUPPORTED, f'{where}: a family with an unknown compression')
    return table
