/**
 * One-line mistakes that could be made in the program and its walkers. Each names text that stands exactly once in its
 * file and what to put instead; every one has to be caught by the checks (`npm run mutants`).
 */
export interface Mutant {
  /** From the repository root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const at = (file: string, ...changes: readonly (readonly [from: string, to: string])[]): Mutant[] =>
  changes.map(([from, to]) => ({ file, from, to }));

export const MUTANTS: readonly Mutant[] = [
  ...at(
    'src/filter/program.ts',
    [
      'if (child === MATCH) continue;\n      if (child !== UNKNOWN) return child;',
      'if (child === MATCH) continue;\n      return child;',
    ],
    ['if (child === NO_MATCH) continue;', 'if (child === UNKNOWN) continue;'],
    ['return allTest(headerFirst(node.children)', 'return allTest((node.children)'],
    ['return anyTest(headerFirst(node.children)', 'return anyTest((node.children)'],
    ['child === MATCH ? NO_MATCH : child === NO_MATCH ? MATCH : child', 'child === MATCH ? NO_MATCH : MATCH'],
    ['record.mismatch = false;', ''],
    ['truth === UNKNOWN && record.mismatch', 'record.mismatch'],
    ["isDataFault(reason) || this.foreignPolicy === 'pass'", "this.foreignPolicy === 'pass'"],
    ["filter.mismatchPolicy === 'pass'", "filter.foreignPolicy === 'pass'"],
    ["found ||= source.from === 'header';", "found &&= source.from === 'header';"],
    [
      'paths.sort(comparePaths);\n  return paths.filter((path, index) => index === 0 || comparePaths(paths[index - 1]!, path) !== 0);',
      'paths.sort(comparePaths);\n  return paths.filter((path, index) => index === 0 || comparePaths(paths[0]!, path) !== 0);',
    ],
  ),
  ...at(
    'src/filter/program-record.ts',
    ['(this.isReadWhole && this.hasHeaders()) || this.hasContentType()', 'this.hasHeaders()'],
    ['this.contentTypeState = UNREAD;\n  }', '}'],
    ['this.isReady = this.walker === null;\n    this.reason = NO_REASON;', 'this.isReady = this.walker === null;'],
    ['record.contentType >= 0 && record.contentType !== this.contentType', 'record.contentType >= 0'],
    ['code >= 0 && code <= CONTENT_TYPE_CODE_MAX ? code : -1', 'code'],
    ['if (isGood) this.keepContentType();', 'this.keepContentType();'],
    ['kinds[index] === SLOT_INTEGER ? numbers[index]! : -1', 'numbers[index]!'],
  ),
  ...at(
    'src/filter/program-leaf.ts',
    ['if (undecided.flagsMismatch) source.record.mismatch = true;', ''],
    [
      'kinds[slots.base + slot] === SLOT_MISSING ? whenMissing : whenThere',
      'kinds[slots.base + slot] <= 1 ? whenMissing : whenThere',
    ],
    ['if (count === 1 || truth === MATCH) return truth;', 'return truth;'],
    ['this.double < nearest ? BELOW : ABOVE', 'this.double < nearest ? ABOVE : BELOW'],
    [
      'if (this.double === nearest) return this.nearestOrder[place] as Order;',
      'if (this.double === nearest) return 0;',
    ],
    ['if (kind === SLOT_NULL) return undecided.nullValue;\n    if (!value.read(index))', 'if (!value.read(index))'],
    ['answer === TEXT_YES ? MATCH : NO_MATCH', 'MATCH'],
  ),
  ...at(
    'src/filter/program-compare.ts',
    ['return op === OP_NE ? NO_MATCH : MATCH;', 'return MATCH;'],
    ['return op === OP_NE ? MATCH : NO_MATCH;', 'return NO_MATCH;'],
    ['if (ends[index]! - start !== length) return NO_MATCH;', ''],
    [
      'if (kinds[index] !== SLOT_STRING) return otherwise.truth();',
      'if (kinds[index] !== SLOT_STRING) return NO_MATCH;',
    ],
    ['if (!isComparable) return incomparable(source, undecided);', ''],
    ['isComparable = true;', ''],
    ['isUndecided ||= order === UNORDERED;', ''],
    ['isUndecided ||= undecided.incomparable === UNKNOWN;', ''],
    ['if (pair === PAIR_COMPARED && orderAt(', 'if (orderAt('],
    [
      'return orderText(walker.unescaped, 0, length, literal);',
      'return orderText(source.record.bytes, slots.starts[index]!, slots.ends[index]!, literal);',
    ],
  ),
  ...at(
    'src/codec/path-trie.ts',
    ['if (at === length) return child;', 'return child;'],
    ['node.belowEnd = slot + 1;\n      const children', 'const children'],
    ['if (this.keyLength[child] === length) {', '{'],
  ),
  ...at(
    'src/codec/json/walker.ts',
    ['if (isInner) this.clearBelow(node);', ''],
    ['if (end - start > this.maxPayloadBytes)', 'if (end - start >= this.maxPayloadBytes)'],
    ['past >= 0 && skipSpace(bytes, past, end) === end', 'past >= 0'],
    ['past === TOO_MANY_LEVELS || exceedsDepth(bytes, start, end, this.maxDepth)', 'past === TOO_MANY_LEVELS'],
    ['if ((found & 1) === 1) kind = SLOT_STRING_ESCAPED;', ''],
    ['slots.ends[slot] = p;', 'slots.ends[slot] = p + 1;'],
    ['byte === OBJECT_OPEN ? SLOT_OBJECT : SLOT_ARRAY', 'SLOT_OBJECT'],
    ['child = trie.nextIndex[child]!;', 'child = NONE;'],
    ['if (!escaped) return', 'if (escaped || !escaped) return'],
    ['if (this.numbersLeft) finishNumbers(bytes, this.slots);', ''],
    [
      'p = skipValue(bytes, view, p, end, levels - 1);\n      } else {\n        p = skipPlainScalar',
      'p = skipValue(bytes, view, p, end, levels);\n      } else {\n        p = skipPlainScalar',
    ],
  ),
  ...at(
    'src/codec/json/skip-value.ts',
    ['if (depth >= levels) return TOO_MANY_LEVELS;', 'if (depth > levels) return TOO_MANY_LEVELS;'],
    ['inObject = outerIsObject[depth] === 1;', ''],
    [
      'if (byte !== (inObject ? OBJECT_CLOSE : ARRAY_CLOSE)) return BAD_SYNTAX;',
      'if (byte !== OBJECT_CLOSE && byte !== ARRAY_CLOSE) return BAD_SYNTAX;',
    ],
    ['bytes[p + 4] === 0x65 ? p + 5 : BAD_SYNTAX', 'p + 5'],
    ['byte !== 0x0d && byte !== 0x09', 'byte !== 0x0d && byte !== 0x0b'],
    ['bytes[next]! > 0x20) return next;', 'true) return next;'],
    ['if (byte !== QUOTE) return BAD_SYNTAX;', 'if (byte !== QUOTE && byte !== 0x27) return BAD_SYNTAX;'],
  ),
  ...at(
    'src/codec/json/plain-text.ts',
    ['- 0x21212121)', '- 0x20202020)'],
    ['- 0x21212121)', '- 0x22222222)'],
    ['(word ^ 0x02020202)', 'word'],
    ['(word ^ 0x5c5c5c5c)', '(word ^ 0x5d5d5d5d)'],
    ['31 - Math.clz32(marks & -marks)', '31 - Math.clz32(marks)'],
    ['const lastWord = end - 4;', 'const lastWord = end - 3;'],
    ['PLAIN[BACKSLASH] = 0;', ''],
  ),
  ...at(
    'src/codec/json/scan-text.ts',
    ['if (unit < 0xd800 || unit > 0xdfff) return p + 6;', 'return p + 6;'],
    ['low >= 0xdc00 && low <= 0xdfff ? p + 12 : -1', 'p + 12'],
    ['if (!isZero) {', '{'],
    ['if (p === point + 1) return -1;', ''],
    ['if (p === exponent) return -1;', ''],
    ['p - exponent <= 2 && p - start <= 200', 'p - exponent <= 3 && p - start <= 200'],
    ['p - start > 308 ?', 'p - start > 400 ?'],
    ['return numberOverflows(bytes, start, p) ? -1 : p;\n}', 'return p;\n}'],
    [
      'while (p < end && bytes[p] !== QUOTE) p += bytes[p] === BACKSLASH ? 2 : 1;',
      'while (p < end && bytes[p] !== QUOTE) p += 1;',
    ],
    ['if (++depth > maxDepth) return true;', 'if (++depth >= maxDepth) return true;'],
    ['byte === 0x5d) && depth > 0', 'byte === 0x5d)'],
    ['lower >= 0x61 && lower <= 0x66', 'lower >= 0x61 && lower <= 0x67'],
  ),
  ...at(
    'src/core/utf8.ts',
    ['first === 0xed ? 0x9f : 0xbf', '0xbf'],
    ['first === 0xe0 ? 0xa0 : 0x80', '0x80'],
    ['first === 0xf4 ? 0x8f : 0xbf', '0xbf'],
    ['first < 0xc2 ||', 'first < 0xc0 ||'],
  ),
  ...at(
    'src/codec/json/number.ts',
    ['if (negative && value === 0) {', 'if (negative && value < 0) {'],
    ['if (high < 0x200000) {', 'if (high < 0x400000) {'],
    ['if (high >= TWO_32) return false;', ''],
    ['high > 0x80000000 || (high === 0x80000000 && low !== 0)', 'high >= 0x80000000'],
    ['(low === 0 ? -high : ~high) >>> 0', '~high >>> 0'],
    ['if (low >= TWO_32) {', 'if (low > TWO_32 * 2) {'],
    ['if (digits <= 20 && captureWide', 'if (digits <= 19 && captureWide'],
  ),
  ...at(
    'src/codec/json/double.ts',
    ['exponent >= -22 && exponent <= 22', 'exponent >= -23 && exponent <= 22'],
    ['if (digit !== 0) cut = true;', ''],
    ['if (!fraction) exponent++;', ''],
    ['return parts[0] === sum + (rest + error);', 'return true;'],
  ),
  ...at(
    'src/codec/json/decimal-order.ts',
    [
      'if (places !== fixed.exponent) return places < fixed.exponent ? -1 : 1;',
      'return places < fixed.exponent ? -1 : 1;',
    ],
    ['above === 0 && !this.takesHalves', 'above === 0'],
    ['below > 0 || (below === 0 && this.takesHalves)', 'below >= 0'],
    ['if (fraction === 0n && biased > 1)', 'if (biased < 0)'],
  ),
  ...at(
    'src/codec/json/double-exact.ts',
    ['return lowWord % 2 === 0 ? -1 : 1;', 'return -1;'],
    ['if (digit > 0) digits[DIGITS_MAX] = 1;', ''],
    ['const shift = (biased === 0 ? 1 : biased) - 1075 - 1;', 'const shift = biased - 1075 - 1;'],
  ),
  ...at(
    'src/codec/json/unescape.ts',
    ['SIMPLE[0x62] = 0x08; // b', 'SIMPLE[0x62] = 0x62; // b'],
    ['0x10000 + ((point - 0xd800) << 10)', '0x10000 + ((point - 0xd800) << 9)'],
    ['if (point < 0x800) {', 'if (point < 0x801) {'],
    ['point >= 0xd800 && point <= 0xdbff', 'point > 0xd800 && point <= 0xdbff'],
  ),
  ...at(
    'src/codec/json/elements.ts',
    ['p = containerEnd(bytes, p);', 'p = p + 1;'],
    ['kind = SLOT_STRING_ESCAPED;', ''],
    ['this.at = start + 1;', 'this.at = start + 2;'],
  ),
  ...at(
    'src/segment/header-walker.ts',
    ['if (slot === NONE && !this.isText(keyStart, keyEnd)) return false;', ''],
    ['if (length !== 1 || bytes[start]! > 1) return false;', 'if (length !== 1) return false;'],
    ['return length === 16 && this.putRaw', 'return this.putRaw'],
    ['this.isText(start, end) ? SLOT_STRING : SLOT_OBJECT', 'SLOT_STRING'],
    ['(isSigned ? high | 0 : high)', 'high'],
    [
      '} else if (keyLength === onlyLength && this.slotOf(bytes, keyStart, keyEnd) === only) {',
      '} else if (keyLength === onlyLength) {',
    ],
    ['if (keyKind === TEXT_KIND) {', '{'],
    ['for (let slot = 0; slot < count; slot++) kinds[slot] = SLOT_MISSING;', ''],
    ['keyKind === 0 || !isFieldLength(keyLength) ||', '!isFieldLength(keyLength) ||'],
    ['valueKind === 0 || !isFieldLength(valueLength) ||', 'valueKind === 0 ||'],
    ['let seen = view.getInt32(lastWord, true);', 'let seen = 0;'],
    ['(length - 1) >>> 0 < FIELD_BYTES_MAX', 'length < FIELD_BYTES_MAX'],
    [
      'valueKind === 0 || !isFieldLength(valueLength) || valueEnd > end',
      'valueKind === 0 || !isFieldLength(valueLength)',
    ],
  ),
];
