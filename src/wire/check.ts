/**
 * Checks a body against a schema and turns what is wrong into one problem with pointers (contract: scan-protocol §3).
 *
 * The schema library interprets (nothing is generated from schemas at run time). Its message for a union names every
 * variant; here only the variant that the value was meant to be speaks: the one that shares a member with it.
 */
import type Type from 'typebox';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';
import { type Problem, Refusal } from '../core/error-codes.js';
import { pointerToken } from '../core/json-pointer.js';

interface SchemaFault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Faults reported in one refusal; more would say nothing new. */
const ERRORS_REPORTED_MAX = 16;

// A union makes a fault for every variant, and the library stops looking after its own bound: with its 8, the variant
// that a `start` was meant to be is not reached. Each reported fault may be the last of a union's dozen.
Settings.Set({ maxErrors: ERRORS_REPORTED_MAX * 12 });

/**
 * Returns `value` typed by `schema`, or throws a `Refusal` `invalid_request` whose `field` points at the first fault
 * and whose `errors` lists all (at most 16) when there are several.
 */
export function checked<T extends Type.TSchema>(schema: T, value: unknown): Type.Static<T> {
  refuseOutsize(schema, value, '');
  if (Value.Check(schema, value)) return value as Type.Static<T>;
  const faults = distinct(Value.Errors(schema, value) as SchemaFault[]).slice(0, ERRORS_REPORTED_MAX);
  const problems = faults.map((fault) => problemFor(fault, value));
  const first = problems[0] ?? { code: 'invalid_request' as const, detail: 'The body does not have the wanted shape.' };
  throw new Refusal(problems.length > 1 ? { ...first, errors: problems } : first);
}

/** What a schema says of sizes, as far as {@link refuseOutsize} looks at it. */
interface SizedSchema {
  readonly maxItems?: number;
  readonly items?: SizedSchema;
  readonly properties?: Readonly<Record<string, SizedSchema>>;
  readonly additionalProperties?: unknown;
}

/**
 * Refuses a list over its bound, and an object with more members than there are names, before the library looks: it
 * goes through every item first and says at the end that there were too many, which for a body of 8 MiB of items is
 * seconds on the main thread.
 */
function refuseOutsize(schema: SizedSchema, value: unknown, field: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const { maxItems: limit, items } = schema;
    if (limit !== undefined && value.length > limit) {
      const detail = `${field} must not have more than ${limit} items.`;
      throw new Refusal({ code: 'invalid_request', field, detail, limit, given: value.length });
    }
    if (items !== undefined) value.forEach((item, i) => refuseOutsize(items, item, `${field}/${i}`));
    return;
  }
  const { properties } = schema;
  if (properties === undefined) return;
  const names = Object.keys(value);
  if (schema.additionalProperties === false && names.length > Object.keys(properties).length) {
    const unknown = `${field}/${pointerToken(names.find((name) => !Object.hasOwn(properties, name))!)}`;
    throw new Refusal({ code: 'invalid_request', field: unknown, detail: `${unknown} is not a member known here.` });
  }
  for (const [name, inner] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) {
      refuseOutsize(inner, (value as Record<string, unknown>)[name], `${field}/${name}`);
    }
  }
}

/**
 * Drops what restates another fault: union variants the value was not meant to be, and summaries of unknown members.
 * `below` is the schema path of the variant that all `faults` belong to, empty at the top.
 */
function distinct(faults: readonly SchemaFault[], below = ''): SchemaFault[] {
  const kept: SchemaFault[] = [];
  const unionsSeen = new Set<string>();
  for (const fault of faults) {
    if (fault.keyword === 'additionalProperties' || fault.keyword === 'anyOf') continue;
    const variant = /^(.*?\/anyOf)\/\d+/.exec(fault.schemaPath.slice(below.length));
    if (variant === null) {
      kept.push(fault);
      continue;
    }
    const union = below + variant[1]!;
    const at = unionPath(fault, below + variant[0]);
    if (unionsSeen.has(at + union)) continue;
    unionsSeen.add(at + union);
    const group = faults.filter(
      (other) => other.schemaPath.startsWith(`${union}/`) && isAtOrBelow(other.instancePath, at),
    );
    const meant = meantVariant(group, union, at);
    if (meant !== undefined) kept.push(...distinct(meant.faults, meant.path));
    else kept.push({ keyword: 'anyOf', schemaPath: union, instancePath: at, params: {}, message: noneOf(group, at) });
  }
  return kept;
}

function isAtOrBelow(path: string, at: string): boolean {
  return path === at || path.startsWith(`${at}/`);
}

/** Where the union stands in the value: the fault's own place less the steps its schema path takes below the variant. */
function unionPath(fault: SchemaFault, variant: string): string {
  const below =
    fault.schemaPath.slice(variant.length).match(/\/properties\/[^/]+|\/additionalProperties|\/items/g) ?? [];
  const steps = fault.instancePath.split('/');
  return steps.slice(0, steps.length - below.length).join('/');
}

/** Complaints at a union's own place which say that the value is another kind of thing altogether. */
const OTHER_KIND: readonly string[] = ['type', 'enum', 'const', 'required'];

/** The one variant that takes the value for its kind and only complains of a bound, or of members it knows. */
function meantVariant(
  group: readonly SchemaFault[],
  union: string,
  at: string,
): { readonly path: string; readonly faults: readonly SchemaFault[] } | undefined {
  const byVariant = new Map<string, SchemaFault[]>();
  for (const fault of group) {
    const path = `${union}/${fault.schemaPath.slice(union.length + 1).split('/')[0]!}`;
    byVariant.set(path, [...(byVariant.get(path) ?? []), fault]);
  }
  for (const [path, faults] of byVariant) {
    const own = faults.filter((fault) => fault.keyword !== 'additionalProperties');
    const isMeant = own.every(
      ({ keyword, instancePath }) => keyword !== 'required' && !(instancePath === at && OTHER_KIND.includes(keyword)),
    );
    if (isMeant) return { path, faults: own };
  }
  return undefined;
}

/** What to say of a value that is no variant's kind: the kinds, where they are all that is wrong. */
function noneOf(group: readonly SchemaFault[], at: string): string {
  const own = group.filter(({ keyword, instancePath }) => instancePath === at && keyword !== 'anyOf');
  const kinds = own.map(({ params }) => (params as Record<string, unknown>)['type']);
  return kinds.every((kind) => typeof kind === 'string')
    ? `must be ${[...new Set(kinds)].join(' or ')}`
    : 'has none of the forms allowed here';
}

function problemFor(fault: SchemaFault, root: unknown): Problem {
  const params = fault.params as Record<string, unknown>;
  const field = fault.instancePath;
  const name = field === '' ? 'The body' : field;
  switch (fault.keyword) {
    case 'boolean':
      return { code: 'invalid_request', field, detail: `${name} is not a member known here.` };
    case 'required': {
      const missing = params['requiredProperties'] as string[];
      return { code: 'invalid_request', field, detail: `${name} lacks ${missing.join(', ')}.` };
    }
    case 'enum': {
      const allowed = params['allowedValues'] as unknown[];
      return {
        code: 'invalid_request',
        field,
        detail: `${name} is none of ${allowed.map(String).join(', ')}.`,
        ...given(valueAt(root, field)),
      };
    }
    default: {
      const limit = params['limit'];
      return {
        code: 'invalid_request',
        field,
        detail: `${name} ${fault.message}.`,
        ...(typeof limit === 'number' ? { limit, ...given(measured(fault.keyword, valueAt(root, field))) } : {}),
      };
    }
  }
}

/** What a limit was measured against: the number itself, or the length of a text or list. */
function measured(keyword: string, value: unknown): unknown {
  if (typeof value === 'string' && keyword.endsWith('Length')) return [...value].length;
  return Array.isArray(value) ? value.length : value;
}

/** `given` for a problem; long texts are left out, they would only echo the body. */
function given(value: unknown): { given?: string | number } {
  return typeof value === 'number' || (typeof value === 'string' && value.length <= 64) ? { given: value } : {};
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const step of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}
