"""The index of a store file: keys (7), leaves, directory, postings and digests (8).

Every value and ordinal is verified: order, bounds, the digest over all entries, and that just the
rows with a Put of the column (`present`) have entries.
"""
import decimal
import heapq
import math
import re
import struct

from primitives import MASK, Bytes, check, hash128, same
from store import DIGESTS, DIRECTORY, LEAVES, POSTINGS, PRESENT

BYTES, TEXT, INT64, UINT64, DOUBLE, BOOL, TIMESTAMP = range(1, 8)
BIG_ENDIAN = 16  # What the types of binary values have added.
SMALL_ROWS_MAX = 64
BLOCKED, ROARING = 2, 3
GROUP = 128
SIGN = 1 << 63
ESCAPED = re.compile(rb'([^\x00]|\x00\xFF)*\x00\x01', re.DOTALL)


def decode_key(column, key, where):
    """The value of an index key as text: bytes and text as they are, all numbers in decimal."""
    if column['descending']:
        key = bytes(255 - byte for byte in key)
    same(where, 'tag of an index key', 2, key[0] if key else None)
    kind, body = column['type'], key[1:]
    if kind in (BYTES, TEXT):
        check(ESCAPED.fullmatch(body), where, f'index key {key}')
        return body[:-2].replace(b'\0\xFF', b'\0')
    kind, number = kind % BIG_ENDIAN, int.from_bytes(body, 'big')
    check(len(body) == (1 if kind == BOOL else 8), where, f'index key {key}')
    if kind == BOOL:
        check(number <= 1, where, f'index key {key}')
        return (b'false', b'true')[number]
    if kind == DOUBLE:
        bits = number ^ SIGN if number & SIGN else number ^ MASK
        return double_text(struct.unpack('<d', bits.to_bytes(8, 'little'))[0]).encode()
    return str(number if kind == UINT64 else number - SIGN).encode()


def double_text(value):
    """The shortest decimal text that reads back as the value; without exponent where not longer."""
    if math.isinf(value):
        return str(value)
    shortest = decimal.Decimal(repr(value))
    fixed = str(int(value)) if value == int(value) else f'{shortest:f}'
    digits, exponent = f'{shortest.normalize():e}'.split('e')
    scientific = f'{digits}e{int(exponent):+03d}'
    return fixed if len(fixed) <= len(scientific) else scientific


def index_entries(store, index, keys):
    """Value, ordinal and whether it is current, of all entries, in this order, current first."""
    column = index['columns'][0]
    summary = summaries(store).get(index['id'])
    if summary is None:
        return
    rows = set()
    parts = [part_entries(store, index['id'], older, summary[3 * older:], keys) for older in (0, 1)]
    for key, ordinal, older in heapq.merge(*parts):
        rows.add(ordinal)
        yield decode_key(column, key, store.name), ordinal, not older
    same(store.name, f'rows with entries of index {index["id"]}',
         set(store.bitmap(PRESENT, index['id'])), rows)


def summaries(store):
    """By index: entries, values and digest of the current part, then of the older one (8.6)."""
    reader = Bytes(store.stream(DIGESTS), f'{store.name}: digests')
    count = reader.number(4)
    reader.zero(4)
    found = {}
    for _ in range(count):
        index = reader.number(4)
        reader.zero(4)
        found[index] = [reader.number(size) for size in (8, 8, 16, 8, 8, 16)]
    reader.end()
    return found


def part_entries(store, index, older, summary, keys):
    """Key, ordinal and `older` of each entry of a part, in this order."""
    entry_count, value_count, digest = summary[:3]
    if entry_count == 0:
        check((LEAVES, index, older) not in store.sections, store.name, 'leaves without entries')
        return
    stream = POSTINGS, index, older
    postings = store.stream(*stream) if stream in store.sections else b''
    entries, values, total, last_key = 0, 0, 0, b''
    leaves = store.sections[LEAVES, index, older]
    same(store.name, 'distinct values', value_count, leaves.count)
    for offset, size, before, low, high in directory(store, index, older, summary):
        block = store.block(offset, (11,), leaves.offset + leaves.size)
        same(block.where, 'entries before, size', (before, size), (entries, block.size))
        for key, ordinals in leaf_values(block, postings, len(keys), before):
            check(low <= key and (high is None or key < high) and last_key < key, block.where,
                  'order of keys')
            last_key, values = key, values + 1
            for ordinal in ordinals:
                hashed = len(key).to_bytes(4, 'little') + key + keys[ordinal]
                total, entries = total + hash128(hashed), entries + 1
                yield key, ordinal, older
    same(store.name, f'entries, values and digest of index {index}',
         (entry_count, value_count, digest), (entries, values, total % (1 << 128)))


def directory(store, index, older, summary):
    """Offset, size, entries before, first separator and the next one, of every leaf (8.3)."""
    reader = Bytes(store.stream(DIRECTORY, index, older), f'{store.name}: directory of {index}')
    same(reader.where, 'values and entries', (summary[1], summary[0]), reader.unpack('QQ'))
    count, key_bytes = reader.unpack('II')
    offsets, before = reader.unpack(f'{count}Q'), reader.unpack(f'{count}Q')
    sizes, ends = reader.unpack(f'{count}I'), reader.unpack(f'{count}I')
    separators = [reader.take(end - begin) for begin, end in zip((0,) + ends, ends)]
    same(reader.where, 'bytes of separators', key_bytes, sum(map(len, separators)))
    reader.end()
    return zip(offsets, sizes, before, separators, separators[1:] + [None])


def leaf_values(block, postings, row_count, before):
    """Key and ordinals of each value of a leaf (8.2)."""
    reader, count = Bytes(block.data, block.where), block.count
    same(block.where, 'entries before', before, reader.number(8))
    prefix_length, suffix_length, tail_length = reader.unpack('HHI')
    heads, references = reader.unpack(f'{count}Q'), reader.unpack(f'{count}I')
    counts = range(1, count + 1) if block.flags & 1 else reader.unpack(f'{count}I')
    tail_ends, head_lengths = [0] * count, [suffix_length] * count
    if suffix_length == 0:
        tail_ends, head_lengths = reader.unpack(f'{count}H'), reader.unpack(f'{count}B')
    prefix, tails = reader.take(prefix_length), Bytes(reader.take(tail_length), block.where)
    lists = reader.rest()
    for i in range(count):
        check(head_lengths[i] <= 8 and tail_ends[i] >= tails.at, block.where, f'key {i}')
        head = heads[i].to_bytes(8, 'big')[:head_lengths[i]]
        rows = counts[i] - (counts[i - 1] if i else 0)
        key = prefix + head + tails.take(tail_ends[i] - tails.at)
        ordinals = list_ordinals(rows, references[i], lists, postings, block.where)
        rising = all(a < b for a, b in zip([-1] + ordinals, ordinals + [row_count]))
        check(rows == len(ordinals) and rows > 0 and rising, block.where, f'list of key {i}')
        yield key, ordinals
    tails.end()


def list_ordinals(count, reference, lists, postings, where):
    """The ordinals of a value with `count` rows (8.4)."""
    if count == 1:
        return [reference]
    reader = Bytes(lists, where)
    reader.take(reference)
    if count <= SMALL_ROWS_MAX:
        ordinals, last = [], -1
        for _ in range(count):
            last += reader.varint() + 1
            ordinals.append(last)
        return ordinals
    form, position, size = reader.number(1), reader.varint(), reader.varint()
    check(form in (BLOCKED, ROARING) and position + size <= len(postings), where, 'place of a list')
    place = Bytes(postings[position:position + size], where)
    ordinals = blocked_list(place, count) if form == BLOCKED else roaring_list(place)
    place.end()
    return ordinals


def blocked_list(reader, count):
    groups, last, ordinals = -(-count // GROUP), -1, []
    maxima, widths = reader.unpack(f'{groups}I'), reader.unpack(f'{groups}B')
    for i in range(groups):
        size, width = min(GROUP, count - i * GROUP), widths[i]
        packed = reader.number(-(-size * width // 8))
        for j in range(size):
            last += (packed >> j * width & (1 << width) - 1) + 1
            ordinals.append(last)
        same(reader.where, 'last ordinal of a group', maxima[i], last)
    return ordinals


def roaring_list(reader):
    cookie, count, runs, ordinals = reader.number(4), 0, 0, []
    if cookie == 12346:
        count = reader.number(4)
    else:
        same(reader.where, 'cookie', 12347, cookie & 0xFFFF)
        count = (cookie >> 16) + 1
        runs = reader.number(-(-count // 8))
    containers = [reader.unpack('HH') for _ in range(count)]
    offsets = reader.unpack(f'{count}I') if cookie == 12346 or count >= 4 else None
    for i, (high, cardinality_less_1) in enumerate(containers):
        check(offsets is None or offsets[i] == reader.at, reader.where, 'offset of a container')
        if runs >> i & 1:
            pairs = [reader.unpack('HH') for _ in range(reader.number(2))]
            lows = [low for first, more in pairs for low in range(first, first + more + 1)]
        elif cardinality_less_1 < 4096:
            lows = reader.unpack(f'{cardinality_less_1 + 1}H')
        else:
            bits = reader.take(8192)
            lows = [low for low in range(65536) if bits[low // 8] >> low % 8 & 1]
        same(reader.where, 'cardinality', cardinality_less_1 + 1, len(lows))
        ordinals += [high << 16 | low for low in lows]
    return ordinals
