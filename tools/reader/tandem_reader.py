#!/usr/bin/env python3
"""Lists what a closed Tandem database holds. Written from docs/format.md alone, to prove that page.

    tandem_reader.py rows DB [TABLE]        every cell of every store file, versions and markers too
    tandem_reader.py index DB TABLE INDEX   every entry of an index, current and older; of a global
                                            one every cell and marker of its entries

One JSON object a line; bytes that are no plain text stand in base64 as NAME_b64. All files are
verified before the first line; what does not agree is refused in one line on standard error.
Numbers in parentheses are chapters of docs/format.md. Needs libxxhash.so.0 and libzstd.so.1.
"""
import base64, ctypes, datetime, decimal, fcntl, heapq, itertools, json, mmap, os, re, struct, sys
import uuid
from collections import namedtuple

USAGE, NOT_FOUND, DAMAGE, NOT_CLOSED, BUSY, UNSUPPORTED = 2, 3, 4, 5, 6, 7  # Exit codes.
FILE_KINDS = _, ROOT, MANIFEST, LOG, STORE = '', 'ROOT', 'manifest', 'log', 'store'  # (1)
ROWS, CHUNK, HEAD, PIECE, SECTION_TABLE = 1, 2, 3, 4, 17  # Kinds of blocks (5.1).
SCHEMA, DICTIONARY, BLOCK_INDEX, LEAVES, POSTINGS, PRESENCE, RECORDS = 1, 2, 4, 8, 9, 15, 17
# Sections (5.2), and the kinds of their blocks.
BLOCK_KINDS = {SCHEMA: 14, DICTIONARY: 7, BLOCK_INDEX: 5, LEAVES: 11, POSTINGS: 13, PRESENCE: 9,
               RECORDS: 18}
CELL_KINDS = 'put', 'delete-cell', 'delete-column', 'delete-family'
BYTES, TEXT, UINT64, DOUBLE, BOOL = 1, 2, 4, 5, 6  # Types of columns (7).
MASK, SIGN, ROOT_SIZE = (1 << 64) - 1, 1 << 63, 12288
# Records (9, 12): the fields of tags 1, 3, 5, .. in order; $ bytes, * a list, + a list of bytes, else
# a number, which may be left out with ?.
FIELDS = {
    'table': 'id name$ secret$ family* index* typed* next_index? observer+ row_key+ '
             'global* entries* former_key+', 'global': 'index* entries since?', 'entries': 'table index',
    'family': 'id name$ max_versions ttl compression block_size dropped? former*',
    'former': 'changed_at max_versions? expired?',
    'index': 'id name$ state column* unique? included* where+', 'included': 'family qualifier$',
    'column': 'family qualifier$ type descending function* of_key?',
    'function': 'kind first? count? text+ part*', 'part': 'sort text+ family? qualifier+',
    'typed': 'family qualifier$ type',
    'edit': 'counters* table* -table* file* region* -region* -file* segment* -segment* '
            'snapshot* -snapshot+ sequence* -sequence+',
    'counters': 'file_number table_id region_id last_timestamp clock_high last_sequence',
    'file': 'number id$ table size hash$ rows cells markers low_sequence high_sequence '
            'low_timestamp high_timestamp low_key$ high_key$ counts*',
    'region': 'id table start$ end$ flushed_through reference*', 'reference': 'file run low high',
    'counts': 'index current older', 'segment': 'number id$',
    'snapshot': 'name$ sequence time created table* region*',
    'sequence': 'name$ first last next'}
KNOWN = {'kind': range(1, 21), 'sort': range(3), 'state': (1, 2, 3, 4), 'compression': (0, 1),
         'type': (*range(1, 8), *range(19, 24))}
PARTS = re.compile(r'(?:(salt|hash|mod)\((?:(\w+), )?(\d+)(?:, (\d+))?\)|(?:(reverse)\(\w+\), )?'
                   r'(\w+):(text|bytes|u?int64|timestamp|uuid)(?:\((\d+)\))?( desc)?)(?:, |$)')
WIDTHS = {'int64': 8, 'uint64': 8, 'timestamp': 8, 'uuid': 16}  # Types of fields (9.2).
Block = namedtuple('Block', 'kind flags count first data offset end')
Hash128 = type('Hash128', (ctypes.Structure,), {'_fields_': [('halves', ctypes.c_uint64 * 2)]})
XXH, ZSTD = ctypes.CDLL('libxxhash.so.0'), ctypes.CDLL('libzstd.so.1')
ZSTD.ZSTD_decompress.restype = SIZE = ctypes.c_size_t
XXH.XXH3_64bits_withSeed.restype, XXH.XXH3_128bits.restype = ctypes.c_uint64, Hash128

class Refused(Exception):
    """Exit code and reason."""

def check(holds, what, code=DAMAGE):
    if not holds:
        raise Refused(code, what)

def hash64(data, seed=0):
    return XXH.XXH3_64bits_withSeed(data, SIZE(len(data)), ctypes.c_uint64(seed))

class Reader:
    """Reads bytes from front to back (2)."""
    def __init__(self, data):
        self.data, self.at = data, 0
    def take(self, size):
        self.at += size
        check(size >= 0 and self.at <= len(self.data), f'{size} bytes are not there')
        return self.data[self.at - size:self.at]
    def unpack(self, form):
        return struct.unpack('<' + form, self.take(struct.calcsize('<' + form)))
    def number(self, size):
        return int.from_bytes(self.take(size), 'little')
    def varint(self):
        byte = self.number(1)
        return byte if byte < 128 else byte - 128 + (self.varint() << 7)
    def bytes(self):
        return self.take(self.varint())

def record(data, kind):
    """The fields of a record (9) by name."""
    reader, specs = Reader(data), FIELDS[kind].split()
    found = {spec[:-1]: 0 if spec[-1] == '?' else [] for spec in specs if spec[-1] in '*+?'}
    while reader.at < len(data):
        tag, field = reader.varint(), Reader(reader.bytes())
        if tag % 2 == 0:
            continue
        check(tag // 2 < len(specs), f'{kind}: field {tag} is unknown', UNSUPPORTED)
        name, form = specs[tag // 2].rstrip('$*+?'), specs[tag // 2][-1]
        value = field.data if form in '$+' else (
            record(field.data, name) if form == '*' and name in FIELDS else field.varint())
        check(value in KNOWN.get(name, [value]), f'{kind}: {name} {value} is unknown', UNSUPPORTED)
        found[name] = found[name] + [value] if form in '*+' else value
    check(len(found) == len(specs), f'{kind}: nothing but {list(found)}')
    return found

class File:
    """A file and its header (4). `identity`: id of its database; its number, id and size."""
    def __init__(self, path, kind, *identity):
        self.name = name = f'{kind}-{identity[1]}' if identity else kind
        with open(os.path.join(path, name), 'rb') as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        magic, own_kind, version, features, database, number, self.id, checksum = (
            struct.unpack_from('<8sBxH20xQ16sQ16s40xQ', self.map))
        check(magic == b'\x89TANDEM\n' and checksum == hash64(self.map[:120]), f'{name}: header')
        check(version == 1 and not features, f'{name}: unknown version or feature', UNSUPPORTED)
        found = FILE_KINDS[own_kind], database, number, self.id, len(self.map)
        check(found == (kind, *(identity or (self.id, 0, self.id, ROOT_SIZE))), f'{name}: identity')

    def number(self, offset, size=8):
        return int.from_bytes(self.map[offset:offset + size], 'little')
    def holds(self, checksum, begin, end, place):
        """Whether a checksum is that of the bytes, of a structure at `place` (3)."""
        seed = hash64(self.id) ^ place * 0x9E3779B97F4A7C15 & MASK
        return self.number(checksum) == hash64(self.map[begin:end], seed)
    def checked(self, offset, size):
        """A structure that begins with its checksum, behind which the reader stands."""
        check(self.holds(offset, offset + 8, offset + size, offset),
              f'{self.name} at {offset}: checksum')
        return Reader(self.map[offset + 8:offset + size])

class Store(File):
    """A store file (5), verified as a whole when it is opened, each block where it is read."""
    def __init__(self, path, database_id, entry):
        super().__init__(path, STORE, database_id, entry['number'], entry['id'], entry['size'])
        whole = (ctypes.c_char * len(self.map)).from_buffer(self.map)
        found = bytes(XXH.XXH3_128bits(whole, SIZE(len(whole))))
        check(found == entry['hash'], f'{self.name}: hash of the file')
        footer = len(whole) - 128
        check(self.holds(footer + 56, footer, footer + 56, footer), f'{self.name}: footer')
        table = self.block(self.number(footer + 16), SECTION_TABLE).data
        self.sections = {(kind, owner, flags & 1): (offset, offset + size) for kind, flags, owner,
                         offset, size in struct.iter_unpack('<HxxIIxxxxQQ16x', table)}
        schema = Reader(self.section(SCHEMA))
        schema.bytes()  # The start key of the region that wrote the file.
        self.table, self.row_count = record(schema.data[schema.at:], 'table'), entry['rows']

    def block(self, offset, *kinds):
        reader = self.checked(offset, 32 + self.number(offset + 8, 4))
        stored, raw, kind, codec, flags, count, first = reader.unpack('IIBBHII4x')
        where, data = f'{self.name} at {offset}', reader.data[24:]
        check(kind in kinds and raw <= 1 << 24, f'{where}: a block of kind {kind}')
        check(codec <= 1, f'{where}: codec {codec} is unknown', UNSUPPORTED)
        if codec == 1:
            packed, data = data, ctypes.create_string_buffer(raw)
            found = ZSTD.ZSTD_decompress(data, SIZE(raw), packed, SIZE(stored))
            check(found == raw, f'{where}: zstd frame')
        end = offset + 32 + stored + -stored % 8
        return Block(kind, flags, count, first, bytes(data), offset, end)

    def blocks(self, kind, owner=0, older=0):
        """The blocks of a section (5.2); none when it is not there."""
        offset, end = self.sections.get((kind, owner, older), (0, 0))
        while offset < end:
            block = self.block(offset, BLOCK_KINDS[kind])
            yield block
            offset = block.end

    def section(self, *which):
        return b''.join(block.data for block in self.blocks(*which))
    def rows(self):
        return heapq.merge(*map(self.family_rows, self.table['family']))

    def family_rows(self, family):
        """Ordinal, family id and name, key and cells of the rows of a family (6.1)."""
        owner, ordinals, names = family['id'], range(self.row_count), []
        if (PRESENCE, owner, 0) in self.sections:  # (6.8)
            ordinals = [block.first + bit for block in self.blocks(PRESENCE, owner)
                        for bit in range(block.count) if block.data[bit // 8] >> bit % 8 & 1]
        for block in self.blocks(DICTIONARY, owner):  # Two, alike (6.5).
            reader = Reader(block.data)
            names = [reader.bytes() for _ in range(block.count)]
        for piece in self.blocks(BLOCK_INDEX, owner):  # (6.6)
            for offset in struct.unpack_from(f'<{piece.count}Q', piece.data, 8 + 8 * piece.count):
                block = self.block(offset, ROWS, HEAD)
                rows = self.wide_row(block) if block.kind == HEAD else self.block_rows(block, names)
                for position, (key, cells) in enumerate(rows, block.first):
                    yield ordinals[position], owner, family['name'], key, cells

    def block_rows(self, block, names):
        """Key and cells of the rows of a row block (6.2)."""
        reader = Reader(block.data)
        *base, prefix_length = reader.unpack('qQH6x')
        heads, slots = reader.unpack(f'{block.count}Q'), reader.unpack(f'{block.count + 1}I')
        prefix = reader.take(prefix_length)
        for head, begin, end in zip(heads, slots, slots[1:]):
            row = Reader(block.data[begin:end])
            length = row.varint()
            key = prefix + head.to_bytes(8, 'big')[:length] + row.take(max(length - 8, 0))
            flags = row.number(1)
            shared = [row.varint() if flags & flag else None for flag in (1, 2)]
            yield key, self.cells(row, base, names, shared)

    def wide_row(self, head):
        """Key and cells of the one row of a head (6.3)."""
        reader = Reader(head.data)
        *base, offset, chunks, fences, markers, key_length = reader.unpack('qQ24xQIIIH2x')
        reader.take(max([0] + [reader.unpack('28xI')[0] for _ in range(fences)]))  # Their names.
        key = reader.take(key_length)
        deleted = ((None, base[0] + reader.varint(), base[1] + reader.varint(), 3, None)
                   for _ in range(markers))
        yield key, itertools.chain(deleted, self.wide_cells(offset, head.offset if chunks else 0))
    def wide_cells(self, offset, end):
        while offset < end:
            block = self.block(offset, CHUNK, PIECE)
            if block.kind == CHUNK:
                reader = Reader(block.data)
                yield from self.cells(reader, reader.unpack('qQ16x'))
            offset = block.end

    def cells(self, reader, base, names=None, shared=(None, None)):
        """The cells up to the reader's end: column, timestamp, sequence, kind, value (6.2, 6.3)."""
        column, deltas = b'', list(shared)
        while reader.at < len(reader.data):
            flags = reader.number(1)
            kind = flags & 7
            check(kind < 4 and flags < 128, f'{self.name}: cell flags {flags}')
            if kind != 3 and not flags & 8:
                number = reader.varint()  # Of the name; in chunks of the bytes that it shares.
                column = column[:number] + reader.bytes() if names is None else (
                    names[number - 1] if number else reader.bytes())
            for i, same_flag in enumerate((16, 32)):
                if shared[i] is None and not flags & same_flag:
                    deltas[i] = reader.varint()
            value = reader.bytes() if kind == 0 else None
            value = self.overflow_value(value) if flags & 64 else value
            yield None if kind == 3 else column, *map(sum, zip(base, deltas)), kind, value

    def overflow_value(self, reference):
        """The value that stands in pieces elsewhere (6.4)."""
        reader, value = Reader(reference), b''
        length, offset, value_hash = reader.varint(), reader.varint(), reader.number(8)
        while len(value) < length:
            piece = self.block(offset, PIECE)
            value, offset = value + piece.data, piece.end
        check(hash64(value) == value_hash, f'{self.name}: overflow value before {offset}')
        return value

    def row_lines(self, ordinals, place):
        for ordinal, _, family, key, cells in self.rows():
            declared = self.table['row_key'] + self.table['former_key']
            fields = {'fields': fields_by_any(declared, key)} if declared else {}
            for column, timestamp, sequence, kind, value in cells if ordinal in ordinals else ():
                yield dict(kind='cell', **place, ordinal=ordinal, row=key, **fields, family=family,
                           column=column, timestamp=(timestamp + SIGN & MASK) - SIGN,
                           sequence=sequence & MASK, operation=CELL_KINDS[kind], value=value)

    def index_lines(self, ordinals, place, start, name):
        found = [index for index in self.table['index'] if index['name'] == name]
        if not found:
            return  # The file is older than the index.
        index, = found
        keys = {ordinal: key for ordinal, _, _, key, _ in self.rows()}
        parts = [self.entries(index['id'], *part) for part in ((0, 'current'), (1, 'older'))]
        if index['included']:
            self.check_records(index)
        for key, ordinal, part in heapq.merge(*parts):
            if ordinal in ordinals:
                yield dict(kind='index_key', **place, region_start=start, index=name,
                           value=entry_value(index['column'], key), row=keys[ordinal], part=part)

    def check_records(self, index):
        """Compares the records of an index, one for each current entry, with the rows (8.7)."""
        rows, records = {}, []
        for ordinal, family, _, key, cells in self.rows():
            row = rows.setdefault(ordinal, {})
            for column, timestamp, _, kind, value in cells:
                row.setdefault((family, column), []).append((kind, timestamp + SIGN & MASK, value))
            row['key'] = key
        for block in self.blocks(RECORDS, index['id']):
            reader = Reader(block.data)
            ends = reader.unpack(f'{block.count}I')
            records += [reader.take(end - begin) for begin, end in zip((0, *ends), ends)]
        ordinals = [ordinal for _, ordinal, _ in self.entries(index['id'], 0, 'current')]
        check(len(records) == len(ordinals), f'{self.name}: {len(records)} records of {index["name"]}')
        for ordinal, found in zip(ordinals, records):
            check(found == self.row_record(index, rows[ordinal]), f'{self.name}: record of {ordinal}')

    @staticmethod
    def row_record(index, row):
        """The record of a row, whose cells are given by column (8.7)."""
        data, before = varint(len(row['key'])) + row['key'], SIGN
        covered = {(column['family'], column['qualifier'])
                   for column in index['column'] + index['included'] if not column.get('of_key')}
        for column in sorted(covered):
            cells = row.get(column, []) + row.get((column[0], None), [])
            if len(cells) > 1 or any(kind for kind, _, _ in cells):
                return b''
            for _, timestamp, value in cells:
                delta = (timestamp - before + SIGN & MASK) - SIGN
                zigzag = delta << 1 if delta >= 0 else (-delta << 1) - 1
                data += varint(len(value) + 1) + varint(zigzag) + value
                before = timestamp
                if len(value) > 65536:  # An overflow value.
                    return b''
            data += b'' if cells else varint(0)
        return data if len(data) <= 4096 else b''

    def entries(self, index, older, part):
        """Key, ordinal and part of all entries of a part of an index: its leaves (8.2)."""
        postings = self.section(POSTINGS, index, older)
        for leaf in self.blocks(LEAVES, index, older):
            reader, count = Reader(leaf.data), leaf.count
            _, prefix_length, suffix_length, tail_length = reader.unpack('QHHI')
            heads, references = reader.unpack(f'{count}Q'), reader.unpack(f'{count}I')
            counts = range(1, count + 1) if leaf.flags & 1 else reader.unpack(f'{count}I')
            tail_ends, head_lengths = ([0] * count, [suffix_length] * count) if suffix_length else (
                reader.unpack(f'{count}H'), reader.unpack(f'{count}B'))
            prefix, tails = reader.take(prefix_length), Reader(reader.take(tail_length))
            for i in range(count):
                head = heads[i].to_bytes(8, 'big')[:head_lengths[i]]
                rows = counts[i] - (counts[i - 1] if i else 0)
                ordinals = [references[i]] if rows == 1 else (
                    list_ordinals(rows, Reader(leaf.data[reader.at + references[i]:]), postings))
                check(len(ordinals) == rows, f'{len(ordinals)} postings, not {rows}')
                key = prefix + head + tails.take(tail_ends[i] - tails.at)
                yield from ((key, ordinal, part) for ordinal in ordinals)

def varint(number):
    data = b''
    while number >= 128:
        data, number = data + bytes([number % 128 + 128]), number >> 7
    return data + bytes([number])

def list_ordinals(count, reader, postings):
    """The ordinals of a value with `count` rows, at least 2 (8.4)."""
    if count <= 64:
        gaps = [reader.varint() for _ in range(count)]
    else:
        form, position, size = reader.number(1), reader.varint(), reader.varint()
        reader, gaps = Reader(postings[position:position + size]), []
        if form == 3:
            return roaring_ordinals(reader)
        maxima = reader.unpack(f'{-(-count // 128)}I')
        for i, width in enumerate(reader.take(len(maxima))):
            size = min(128, count - 128 * i)
            packed = reader.number(-(-size * width // 8))
            gaps += [packed >> j * width & (1 << width) - 1 for j in range(size)]
    return [i + total for i, total in enumerate(itertools.accumulate(gaps))]

def roaring_ordinals(reader):
    cookie, more = reader.unpack('HH')
    count = more + 1 if cookie == 12347 else reader.number(4)
    of_runs = reader.number(-(-count // 8)) if cookie == 12347 else 0
    containers, ordinals = [reader.unpack('HH') for _ in range(count)], []
    reader.take(4 * count if cookie == 12346 or count >= 4 else 0)  # Their offsets.
    for i, (high, cardinality_less_1) in enumerate(containers):
        if of_runs >> i & 1:
            runs = [reader.unpack('HH') for _ in range(reader.number(2))]
            lows = [low for first, more in runs for low in range(first, first + more + 1)]
        elif cardinality_less_1 < 4096:
            lows = reader.unpack(f'{cardinality_less_1 + 1}H')
        else:
            bits = reader.take(8192)
            lows = [low for low in range(65536) if bits[low // 8] >> low % 8 & 1]
        ordinals += [high << 16 | low for low in lows]
    return ordinals

def part_end(column, key):
    """Where the column's part of a key ends (7)."""
    plain = bytes(255 - byte for byte in key) if column['descending'] else key
    if plain[0] == 1 or column['type'] % 16 not in (BYTES, TEXT):
        return {1: 1, 2: 2 if column['type'] % 16 == BOOL else 9}[plain[0]]
    return re.match(b'\2([^\0]|\0\xFF)*\0\1', plain, re.DOTALL).end()

def entry_value(columns, key):
    """The value of an entry; those of several columns with commas between, NULL for an absent one."""
    if len(columns) == 1 and len(key) > 1:
        return key_value(columns[0], key)
    values = []
    for column in columns:
        end = part_end(column, key)
        value = key_value(column, key[:end]) if end > 1 else 'NULL'
        values.append(value if isinstance(value, bytes) else value.encode())
        key = key[end:]
    check(not key, 'an index key goes on after its last column')
    return b', '.join(values)

def key_value(column, key):
    """The value of an index key (7): bytes as they are, numbers as text."""
    key = bytes(255 - byte for byte in key) if column['descending'] else key
    kind, number = column['type'] % 16, int.from_bytes(key[1:], 'big')
    if kind in (BYTES, TEXT):
        return key[1:-2].replace(b'\0\xFF', b'\0')
    if kind != DOUBLE:
        return ('false', 'true')[number] if kind == BOOL else str(number - SIGN * (kind != UINT64))
    value, = struct.unpack('<d', struct.pack('<Q', number ^ (SIGN if number & SIGN else MASK)))
    if repr(value).endswith('inf'):
        return repr(value)
    digits, exponent = f'{decimal.Decimal(repr(value)).normalize():e}'.split('e')
    fixed = f'{value:.0f}' if value.is_integer() else f'{decimal.Decimal(repr(value)):f}'
    return min(fixed, f'{digits}e{int(exponent):+03d}', key=len)

def field_value(kind, plain):
    """The plain bytes of a field of a row key (9.2) as text."""
    if kind not in WIDTHS:
        return plain
    if kind == 'uuid':
        return str(uuid.UUID(bytes=plain)).encode()
    number = int.from_bytes(plain, 'big') - SIGN * (kind != 'uint64')
    if kind == 'timestamp' and -30610224 * 10 ** 9 <= number < 2534023008 * 10 ** 8:
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=number)
        return f'{time.isoformat()}Z'.encode()
    return str(number).encode()

def plain_field(form, width, ends, rest):
    """The plain bytes of a field at the front of what is left of a key, and how many it takes."""
    if width:
        check(len(rest) >= width, 'too short')
        return rest[:width].rstrip(b'\0') if form == 'text' else rest[:width], width
    if not ends:
        return rest, len(rest)
    found = re.match(rb'([^\0]*)\0' if form == 'text' else rb'((?:[^\0]|\0\xff)*)\0\x01', rest)
    check(found, 'no end')
    return found[1] if form == 'text' else found[1].replace(b'\0\xff', b'\0'), found.end()

def lead_size(kind, count, parts):
    """The bytes of what leads a key, and of the parts of a modulus."""
    return count if kind == 'hash' else 1 + (count > 256) + (parts > 1) + (parts > 256)

def lead(kind, count, parts, form, value):
    """What leads a key: made of a field, or a salt of all bytes after it."""
    if kind == 'hash':
        return hash64(value).to_bytes(8, 'big')[:count]
    number = int.from_bytes(value, 'big') - SIGN * (form != 'uint64')
    number = number if kind == 'mod' else hash64(value)
    made = (number % count).to_bytes(1 + (count > 256), 'big')
    part = number // count % parts
    return made + part.to_bytes(1 + (parts > 256), 'big') if parts > 1 else made

def key_fields(declaration, key):
    """The fields of a typed row key (9.2) as text; None: the key has none."""
    parts = [found.groups() for found in PARTS.finditer(declaration.decode())]
    check(PARTS.sub('', declaration.decode()) == '', 'row key of a later version', UNSUPPORTED)
    leads, fields = [part for part in parts if part[0]], [part for part in parts if not part[0]]
    leads = [(kind, name, int(n), int(m or 1)) for kind, name, n, m, *_ in leads]
    sizes = [lead_size(kind, n, m) for kind, _, n, m in leads]
    at, plain, texts = sum(sizes), {}, []
    try:
        for i, (*_, reverse, name, form, width, desc) in enumerate(fields):
            rest = bytes(255 - byte for byte in key[at:]) if desc else key[at:]
            size = WIDTHS.get(form) or int(width or 0)
            value, taken = plain_field(form, size, i + 1 < len(fields) or desc, rest)
            text = form == 'text' and value.decode()
            check(form != 'text' or b'\0' not in value, 'no text')
            if reverse:
                value = text[::-1].encode() if form == 'text' else value[::-1]
            plain[name], at = (form, value), at + taken
            texts.append(name.encode() + b'=' + field_value(form, value))
        check(at == len(key), 'longer or shorter')
        leading = [lead(kind, n, m, *plain.get(name, ('', key[sizes[0]:])))
                   for kind, name, n, m in leads]
        check(b''.join(leading) == key[:sum(sizes)], 'another lead')
    except (Refused, UnicodeDecodeError):
        return None
    return b' '.join(texts)

def fields_by_any(declarations, key):
    """The same by the first of several declarations (9.2) that may have made the key."""
    leads = [re.match(r'(?:salt|mod)\((?:\w+, )?(\d+)|hash', text.decode()) for text in declarations]
    mixed = any(leads) and not all(leads)
    counts = [int(lead[1]) for lead in leads if mixed and lead]
    end = max([count.to_bytes(1 + (count > 256), 'big') for count in counts], default=b'')
    made = [text for text, lead in zip(declarations, leads) if not mixed or bool(lead) == (key < end)]
    return next(filter(None, (key_fields(text, key) for text in made)), None)

class Database:
    """ROOT (13), the catalog (12), and after a clean close an empty log (11)."""
    def __init__(self, path):
        names = [name for name in os.listdir(path) if re.match('(manifest|log|store|dead)-', name)]
        try:
            self.root = File(path, ROOT)
            slots = [Reader(self.root.map[at + 8:at + 4096]) for at in (4096, 8192)
                     if self.root.holds(at, at + 8, at + 4096, at)]
            check(slots and not any(self.root.map[128:4096]), 'ROOT: zeros or both slots')
            slot = max(slots, key=lambda slot: slot.data[:8][::-1])  # The highest generation.
            state, count = slot.unpack('24xBxxxI')
            manifest, *logs = [slot.unpack('Q16sQQ') for _ in range(1 + count)]
        except (Refused, ValueError, struct.error) as error:
            alone = not names and error.args[0] != UNSUPPORTED
            raise Refused(NOT_FOUND, f'no database: {error.args[-1]}') if alone else error
        check(manifest[0], 'no database: its creation did not end',
              NOT_FOUND if names in ([], ['manifest-1']) else DAMAGE)
        if state == 1:
            try:  # A writer at work holds the lock; after a crash nobody does.
                fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(BUSY, 'another process has it open for writing') from None
            raise Refused(NOT_CLOSED, 'not closed cleanly; open it once with tandem')
        check(state == 2, f'ROOT: state {state} is unknown', UNSUPPORTED)
        self.catalog = {'table': {}, 'file': {}, 'region': {}}
        self.read_manifest(File(path, MANIFEST, self.root.id, *manifest[:3]), manifest[3])
        for log in logs:
            file = File(path, LOG, self.root.id, *log[:3])
            check(file.number(152) == hash64(file.map[:152]), f'{file.name}: checksum')
            check(len(file.map) == 160, f'{file.name}: operations in no store file', NOT_CLOSED)
        self.stores = {number: Store(path, self.root.id, entry)
                       for number, entry in self.catalog['file'].items()}

    def read_manifest(self, file, last_checksum):
        """Follows the chain of frames (10) and applies the edits to the catalog."""
        offset, previous, last = 128, file.number(120), 0
        while offset < len(file.map):
            end = offset + 48 + file.number(offset + 40, 4)
            frame, padding = file.checked(offset, end - offset), file.map[end:end + -end % 8]
            chained = frame.unpack('QQ24x') == (previous, last + 1) and not any(padding)
            check(chained, f'{file.name} at {offset}: chain or padding')
            edit = record(frame.data[40 + 24:], 'edit')
            for kind, entries in self.catalog.items():
                entries.update((entry.get('number', entry['id']), entry) for entry in edit[kind])
                for removed in edit[f'-{kind}']:
                    del entries[removed]
            previous, offset, last = file.number(offset), end + len(padding), last + 1
        check(previous == last_checksum, f'{file.name}: end of the chain')

    def lines(self, table_name=None, index_name=None):
        """All cells, those of a table, or the entries of an index."""
        tables = [table for _, table in sorted(self.catalog['table'].items())
                  if table_name in (None, table['name'])]
        indexes = [None] + [index['name'] for table in tables for index in table['index']]
        check(tables or table_name is None, 'no such table', NOT_FOUND)
        for entries, index in [(found['entries'], found['index'][0]) for found in tables[0]['global']
                               if found['index'][0]['name'] == index_name] if index_name else ():
            yield from self.global_lines(table_name, self.catalog['table'][entries], index)
            return
        check(index_name in indexes, 'no such index', NOT_FOUND)
        regions = sorted(self.catalog['region'].values(), key=lambda region: region['start'])
        for table, region in itertools.product(tables, regions):
            for reference in region['reference'] if region['table'] == table['id'] else ():
                number, _, low, high = reference.values()
                place = dict(table=table['name'], region=region['id'], file=number)
                store, ordinals = self.stores[number], range(low, high)
                yield from store.row_lines(ordinals, place) if index_name is None else (
                    store.index_lines(ordinals, place, region['start'], index_name))

    def global_lines(self, table_name, entries, index):
        """The cells of the table of a global index's entries (9), by value and row."""
        for cell in self.lines(entries['name']):
            key, end = cell.pop('row'), 0
            for column in index['column']:
                end += part_end(column, key[end:])
            yield {**cell, 'kind': 'global_entry', 'table': table_name, 'index': index['name'],
                   'value': entry_value(index['column'], key[:end]), 'row': key[end:]}

def field(name, value):
    """A field for JSON: bytes become text, or base64 under another name."""
    text = value.decode(errors='surrogateescape') if isinstance(value, bytes) else value
    if isinstance(value, bytes) and re.search('[\0-\x1f\x7f-\x9f\ud800-\udfff]', text):
        return name + '_b64', base64.b64encode(value).decode()
    return name, text

def main(command='', path='', *names):
    if not path or (command, len(names)) not in (('rows', 0), ('rows', 1), ('index', 2)):
        print(__doc__, file=sys.stderr)
        return USAGE
    sys.stdout.reconfigure(encoding='utf-8')
    try:
        check(os.path.exists(os.path.join(path, 'ROOT')), 'no database, no ROOT', NOT_FOUND)
        for line in Database(path).lines(*map(os.fsencode, names)):
            print(json.dumps(dict(field(*item) for item in line.items()), ensure_ascii=False,
                             separators=(',', ':')))
    except (Refused, FileNotFoundError, LookupError, ValueError, TypeError, struct.error) as error:
        code, what = error.args if isinstance(error, Refused) else (DAMAGE, repr(error))
        print(f'tandem_reader: {path}: {"corrupt: " * (code == DAMAGE)}{what}', file=sys.stderr)
        return code

if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
