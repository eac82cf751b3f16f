/**
 * Seeded random `laser` filters, valid by construction, for differential, property and fuzz tests.
 *
 * A filter comes as the JSON text a user could send. Its paths, header keys, texts and numbers are drawn from the small
 * exported vocabulary, so that random records built from the same words meet the predicates often; every operator meets
 * every kind of literal it allows, with about equal weight.
 */
import type { Seeded } from './seeded.js';

/** Payload paths. Some are prefixes of others, some index, some need escapes, some never exist. */
export const FILTER_PATHS = [
  'a',
  'b',
  'c',
  'list',
  'list[0]',
  'list[1].x',
  'd.e',
  'd.e.f',
  'd',
  'k\\.dot',
  '0',
  'écluse',
  'nowhere.at.all',
] as const;

export const FILTER_HEADER_KEYS = ['h', 'kind', 'n', 'flag', 'raw', 'dotted.key', 'agdx.ct', 'never'] as const;

/** Texts that differ in case, in byte order, in UTF-16 order, and some that read as numbers or instants. */
export const FILTER_TEXTS = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  'AB',
  'lock',
  'Lock.raised',
  'K',
  'k',
  '\u212a',
  'ß',
  'ss',
  'İ',
  'ΟΔΟΣ',
  'οδος',
  'é',
  'e\u0301',
  '🚢',
  '\uff5e',
  '\ufeff',
  'line\nbreak',
  '"quoted\\"',
  '5',
  '5.0',
  '-12.50',
  '+.5',
  '1e3',
  '1700000000',
  '2031-03-09T14:15:16Z',
] as const;

/** Integers around every edge that arithmetic has. */
export const FILTER_INTEGERS = [
  0n,
  1n,
  -1n,
  5n,
  42n,
  2n ** 31n - 1n,
  -(2n ** 31n),
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  1_700_000_000n,
  1_930_832_116_000n,
  2n ** 63n - 1n,
  -(2n ** 63n),
] as const;

/** Doubles as JSON writes them: equal to integers, beside them, at the ends, and one written as an integer. */
export const FILTER_DOUBLES = [
  '0.0',
  '-0.0',
  '-0',
  '1',
  '5.0',
  '1.5',
  '-2.25',
  '0.1',
  '4.2e1',
  '9007199254740992.0',
  '9223372036854775808',
  '18446744073709551616',
  '1e300',
  '5e-324',
  '-1.7976931348623157e308',
] as const;

const DECIMALS = ['5', '5.00', '-12.50', '+.5', '0', '-0.0', '00042', '0.1', '18446744073709551617'] as const;
const INSTANTS = {
  rfc3339: [
    '2031-03-09T14:15:16Z',
    '2031-03-09t20:00:16.000+05:45',
    '1969-12-31T23:59:59.999999z',
    '0000-01-01T00:00:00-00:00',
  ],
  epoch_seconds: ['1700000000', '-1', '+1930832116'],
  epoch_millis: ['1700000000000', '0'],
  epoch_micros: ['1700000000000000', '-9223372036854775808'],
} as const;
const GLOBS = ['*', 'a*', '?', '*b*', 'l?ck*', '\\*', 'İ*', '*ß', '*\\\\*', 'ab'] as const;
const REGEXES = [
  '^a',
  'b$',
  'lo(?:ck|l)',
  '^\\w+$',
  '\\d',
  '[a-k]+',
  '(a|b){1,3}',
  '^k$',
  'ß',
  '\\bline\\b',
  '',
  '.',
  '[[:alpha:]]',
] as const;

const ORDER_OPS = ['lt', 'lte', 'gt', 'gte'] as const;
const COERCED_OPS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'] as const;
const TEXT_KINDS = ['equals', 'prefix', 'suffix', 'contains', 'glob', 'regex'] as const;
const KINDS = ['boolean', 'int', 'long', 'double', 'string'] as const;

export interface RandomFilterOptions {
  /** Default: `json`, or `headers_only` for one filter in eight. */
  readonly codec?: 'json' | 'cbor' | 'avro' | 'protobuf' | 'headers_only';
  /** Deepest nesting of nodes, the root being 1; default 4, at most 8. */
  readonly depthMax?: number;
}

/** The text of one random filter. */
export function randomFilter(seeded: Seeded, options: RandomFilterOptions = {}): string {
  return new Generator(seeded, options).filter();
}

class Generator {
  private readonly seeded: Seeded;
  private readonly codec: string;
  private readonly depthMax: number;
  /** Patterns left of the four that a filter may compile, and nodes left of 128. */
  private patternsLeft = 4;
  private nodesLeft = 100;

  constructor(seeded: Seeded, { codec, depthMax = 4 }: RandomFilterOptions) {
    this.seeded = seeded;
    this.codec = codec ?? (seeded.chance(1 / 8) ? 'headers_only' : 'json');
    this.depthMax = depthMax;
  }

  filter(): string {
    const { seeded } = this;
    const members: [string, string][] = [
      ['v', '1'],
      ['evaluator_version', '1'],
      ['expr', this.node(1)],
      ['codec', JSON.stringify(this.codec)],
    ];
    const faultPolicy = seeded.pick(['stop', 'pass', 'drop', '']);
    if (faultPolicy !== '') members.push(['fault_policy', JSON.stringify(faultPolicy)]);
    for (const name of ['foreign_policy', 'mismatch_policy']) {
      const policy = seeded.pick(['pass', '', '']);
      if (policy !== '') members.push([name, JSON.stringify(policy)]);
    }
    if (this.codec === 'avro' || this.codec === 'protobuf')
      members.push(['schema_refs', seeded.pick(['[7]', '[0,4294967295]'])]);
    return object(members);
  }

  private node(depth: number): string {
    const { seeded } = this;
    this.nodesLeft -= 1;
    const mayNest = depth < this.depthMax && this.nodesLeft > 8;
    if (mayNest && seeded.chance(depth === 1 ? 0.75 : 0.45)) {
      const kind = seeded.pick(['all', 'any', 'all', 'any', 'not']);
      if (kind === 'not') return object([['not', this.node(depth + 1)]]);
      const children = Array.from({ length: 1 + seeded.below(4) }, () => this.node(depth + 1));
      return object([[kind, list(children)]]);
    }
    return this.leaf();
  }

  private leaf(): string {
    const { seeded } = this;
    const ofHeader = ['header', 'header', 'header_text'] as const;
    const ofPayload = ['pred', 'pred', 'pred', 'pred_as', 'present', 'absent', 'text'] as const;
    const kind = this.codec === 'headers_only' || seeded.chance(0.25) ? seeded.pick(ofHeader) : seeded.pick(ofPayload);
    switch (kind) {
      case 'pred':
        return object([[kind, object([['field', this.path()], ...this.comparison(false)])]]);
      case 'pred_as':
        return object([[kind, this.coerced()]]);
      case 'present':
      case 'absent':
        return object([[kind, this.path()]]);
      case 'header':
        return object([[kind, object([['key', this.headerKey()], ...this.comparison(true)])]]);
      case 'text':
        return object([[kind, object([['field', this.path()], ...this.match()])]]);
      case 'header_text':
        return object([[kind, object([['field', this.headerKey()], ...this.match()])]]);
    }
  }

  private comparison(isHeader: boolean): [string, string][] {
    const { seeded } = this;
    const op = seeded.pick(['eq', 'ne', 'eq', 'ne', ...ORDER_OPS, 'in', 'in', 'contains', 'prefix']);
    const isOrder = ORDER_OPS.some((order) => order === op);
    let value: string;
    if (op === 'in') value = this.listLiteral(() => this.literal(seeded.pick(KINDS)));
    else if (op === 'prefix') value = this.literal('string');
    else if (isOrder) value = this.literal(seeded.pick(['int', 'long', 'double', 'string']));
    else if (op !== 'contains' && !isHeader && seeded.chance(0.15)) value = this.literal('null');
    else value = this.literal(seeded.pick(KINDS));
    return [
      ['op', JSON.stringify(op)],
      ['value', value],
    ];
  }

  private coerced(): string {
    const { seeded } = this;
    const format = seeded.pick([
      'number',
      'number',
      'rfc3339',
      'epoch_seconds',
      'epoch_millis',
      'epoch_micros',
    ] as const);
    const literal = (): string => {
      if (format === 'rfc3339') return this.typed('string', JSON.stringify(seeded.pick(INSTANTS.rfc3339)));
      if (seeded.chance(0.4)) return this.literal('int');
      return this.typed('string', JSON.stringify(seeded.pick(format === 'number' ? DECIMALS : INSTANTS[format])));
    };
    const op = seeded.pick(COERCED_OPS);
    const value = op === 'in' ? this.listLiteral(literal) : literal();
    const coerce: [string, string][] =
      format === 'number'
        ? [['kind', JSON.stringify('number')]]
        : [
            ['kind', JSON.stringify('timestamp')],
            ['format', JSON.stringify(format)],
          ];
    const pred: [string, string][] = [
      ['field', this.path()],
      ['op', JSON.stringify(op)],
      ['value', value],
    ];
    return object([
      ['pred', object(pred)],
      ['coerce', object(coerce)],
    ]);
  }

  private match(): [string, string][] {
    const { seeded } = this;
    let kind = seeded.pick(TEXT_KINDS);
    if ((kind === 'glob' || kind === 'regex') && this.patternsLeft === 0) kind = 'contains';
    if (kind === 'glob' || kind === 'regex') this.patternsLeft -= 1;
    const pattern = seeded.pick<string>(kind === 'glob' ? GLOBS : kind === 'regex' ? REGEXES : FILTER_TEXTS);
    const members: [string, string][] = [
      ['kind', JSON.stringify(kind)],
      ['pattern', JSON.stringify(pattern)],
    ];
    if (seeded.chance(0.4)) members.push(['case_insensitive', 'true']);
    return members;
  }

  private listLiteral(item: () => string): string {
    const items = Array.from({ length: 1 + this.seeded.below(4) }, item);
    this.nodesLeft -= items.length;
    return this.typed('list', list(items));
  }

  private literal(kind: 'null' | (typeof KINDS)[number]): string {
    const { seeded } = this;
    switch (kind) {
      case 'null':
        return object([['kind', JSON.stringify('null')]]);
      case 'boolean':
        return this.typed(kind, seeded.pick(['true', 'false']));
      case 'int':
        return this.typed(
          kind,
          String(seeded.pick(FILTER_INTEGERS.filter((value) => BigInt.asIntN(32, value) === value))),
        );
      case 'long':
        return this.typed(kind, String(seeded.pick(FILTER_INTEGERS)));
      case 'double':
        return this.typed(kind, seeded.pick(FILTER_DOUBLES));
      case 'string':
        return this.typed(kind, JSON.stringify(seeded.pick(FILTER_TEXTS)));
    }
  }

  private typed(kind: string, value: string): string {
    return object([
      ['kind', JSON.stringify(kind)],
      ['value', value],
    ]);
  }

  private path(): string {
    return JSON.stringify(this.seeded.pick(FILTER_PATHS));
  }

  private headerKey(): string {
    return JSON.stringify(this.seeded.pick(FILTER_HEADER_KEYS));
  }
}

function object(members: readonly [string, string][]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

function list(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
