/**
 * The baseline every ratio is measured against: what a Node user would write without Winnow.
 *
 * Each payload is decoded with `JSON.parse(buffer.utf8Slice(start, end))` and the filter runs as closures that were
 * compiled once and read the value by property. It is two-valued, accepts broken UTF-8 and loses 64-bit integers: it
 * is here to be fast to write, not to be right. Benchmarks use filters on which it agrees with the contract, and
 * compare the selected offsets to prove it.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Test = (value: Json) => boolean;

interface Pred {
  field: string;
  op: string;
  value: { kind: string; value?: unknown };
}

/** A Node buffer with the direct decoder that `toString('utf8')` ends in; its types leave it out. */
export type Utf8Bytes = Buffer & { utf8Slice(start: number, end: number): string };

/** The parts of a `laser` document that the baseline understands; others throw, so no benchmark compares apples. */
export interface NaiveNode {
  all?: NaiveNode[];
  any?: NaiveNode[];
  not?: NaiveNode;
  pred?: Pred;
  pred_as?: { pred: Pred; coerce: { kind: string; format?: string } };
  present?: string;
  absent?: string;
  text?: { field: string; kind: string; pattern: string; case_insensitive?: boolean };
}

/** Compiles an expression once; the result says whether a parsed payload is selected. */
export function compileNaive(node: NaiveNode): Test {
  if (node.all) {
    const tests = node.all.map(compileNaive);
    return (value) => tests.every((test) => test(value));
  }
  if (node.any) {
    const tests = node.any.map(compileNaive);
    return (value) => tests.some((test) => test(value));
  }
  if (node.not) {
    const test = compileNaive(node.not);
    return (value) => !test(value);
  }
  if (node.present !== undefined) {
    const read = reader(node.present);
    return (value) => read(value) !== undefined;
  }
  if (node.absent !== undefined) {
    const read = reader(node.absent);
    return (value) => read(value) === undefined;
  }
  if (node.pred) return comparison(node.pred);
  if (node.pred_as) return coerced(node.pred_as.pred, node.pred_as.coerce);
  if (node.text) return textMatch(node.text);
  throw new Error(`the baseline has no ${Object.keys(node).join()}`);
}

/** Selects by the baseline from `positions` (start, end pairs in `bytes`), calling `selected` with the index. */
export function scanNaive(
  bytes: Utf8Bytes,
  positions: Int32Array,
  test: Test,
  selected: (index: number) => void,
): void {
  for (let index = 0; index * 2 < positions.length; index++) {
    let value: Json;
    try {
      value = JSON.parse(bytes.utf8Slice(positions[index * 2]!, positions[index * 2 + 1]!));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      continue;
    }
    if (test(value)) selected(index);
  }
}

/** `JSON.parse` alone over the same payloads, printed beside the baseline; returns the number parsed. */
export function parseOnly(bytes: Utf8Bytes, positions: Int32Array): number {
  let parsed = 0;
  for (let at = 0; at < positions.length; at += 2) {
    try {
      JSON.parse(bytes.utf8Slice(positions[at]!, positions[at + 1]!));
      parsed++;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return parsed;
}

function reader(path: string): (value: Json) => Json | undefined {
  const steps = path.split(/[.[\]]/).filter((step) => step !== '');
  return (value) => {
    let at: Json | undefined = value;
    for (const step of steps) {
      if (at === null || typeof at !== 'object') return undefined;
      at = (at as { [key: string]: Json })[step];
      if (at === undefined) return undefined;
    }
    return at;
  };
}

function comparison({ field, op, value }: Pred): Test {
  const read = reader(field);
  const literal = value.value as Json;
  switch (op) {
    case 'eq':
      return (record) => read(record) === literal;
    case 'ne':
      return (record) => {
        const at = read(record);
        return typeof at === typeof literal && at !== literal;
      };
    case 'lt':
      return ordered(read, literal, (a, b) => a < b);
    case 'lte':
      return ordered(read, literal, (a, b) => a <= b);
    case 'gt':
      return ordered(read, literal, (a, b) => a > b);
    case 'gte':
      return ordered(read, literal, (a, b) => a >= b);
    case 'in': {
      const items = new Set((literal as unknown as { value: Json }[]).map((item) => item.value));
      return (record) => items.has(read(record) as Json);
    }
    case 'contains':
      return (record) => {
        const at = read(record);
        if (typeof at === 'string') return at.includes(literal as string);
        return Array.isArray(at) && at.includes(literal);
      };
    case 'prefix':
      return (record) => {
        const at = read(record);
        return typeof at === 'string' && at.startsWith(literal as string);
      };
    default:
      throw new Error(`the baseline has no operator ${op}`);
  }
}

type Ordered = number | string;

function ordered(
  read: (value: Json) => Json | undefined,
  literal: Json,
  test: (a: Ordered, b: Ordered) => boolean,
): Test {
  return (record) => {
    const at = read(record);
    return typeof at === typeof literal && test(at as Ordered, literal as Ordered);
  };
}

function coerced({ field, op, value }: Pred, coerce: { kind: string; format?: string }): Test {
  const read = reader(field);
  const toNumber =
    coerce.kind === 'number' ? Number : coerce.format === 'rfc3339' ? (at: unknown) => Date.parse(String(at)) : Number;
  const literal = toNumber(value.value as string);
  const compare = ordered(
    (at) => at,
    literal,
    (a, b) => {
      switch (op) {
        case 'lt':
          return a < b;
        case 'lte':
          return a <= b;
        case 'gt':
          return a > b;
        case 'gte':
          return a >= b;
        default:
          return a === b;
      }
    },
  );
  return (record) => {
    const at = read(record);
    return at !== undefined && at !== null && compare(toNumber(at));
  };
}

function textMatch(leaf: NonNullable<NaiveNode['text']>): Test {
  const read = reader(leaf.field);
  const text = leaf.case_insensitive ? leaf.pattern.toLowerCase() : leaf.pattern;
  const fold = leaf.case_insensitive ? (at: string) => at.toLowerCase() : (at: string) => at;
  const escaped = text.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  const pattern = new RegExp(
    leaf.kind === 'regex' ? leaf.pattern : `^${escaped.replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`,
    leaf.case_insensitive ? 'iu' : 'u',
  );
  const tests: Record<string, (at: string) => boolean> = {
    equals: (at) => fold(at) === text,
    prefix: (at) => fold(at).startsWith(text),
    suffix: (at) => fold(at).endsWith(text),
    contains: (at) => fold(at).includes(text),
    glob: (at) => pattern.test(fold(at)),
    regex: (at) => pattern.test(at),
  };
  const test = tests[leaf.kind]!;
  return (record) => {
    const at = read(record);
    return typeof at === 'string' && test(at);
  };
}
