/**
 * Checks a body against a schema and turns what is wrong into one problem with pointers (contract: scan-protocol §3).
 *
 * The schema library interprets (nothing is generated from schemas at run time). Its message for a union names every
 * variant; here only the variant that the value was meant to be speaks: the one that shares a member with it.
 */
import type Type from 'typebox';
import { Value } from 'typebox/value';
import { type Problem, Refusal } from '../core/error-codes.js';

interface SchemaFault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Faults reported in one refusal; more would say nothing new. */
const ERRORS_REPORTED_MAX = 16;

/**
 * Returns `value` typed by `schema`, or throws a `Refusal` `invalid_request` whose `field` points at the first fault
 * and whose `errors` lists all (at most 16) when there are several.
 */
export function checked<T extends Type.TSchema>(schema: T, value: unknown): Type.Static<T> {
  if (Value.Check(schema, value)) return value as Type.Static<T>;
  const faults = distinct(Value.Errors(schema, value) as SchemaFault[], value).slice(0, ERRORS_REPORTED_MAX);
  const problems = faults.map((fault) => problemFor(fault, value));
  const first = problems[0] ?? { code: 'invalid_request' as const, detail: 'The body does not have the wanted shape.' };
  throw new Refusal(problems.length > 1 ? { ...first, errors: problems } : first);
}

/** Drops what restates another fault: union variants the value was not meant to be, and summaries of unknown members. */
function distinct(faults: readonly SchemaFault[], root: unknown): SchemaFault[] {
  const kept: SchemaFault[] = [];
  const variantsSeen = new Set<string>();
  for (const fault of faults) {
    if (fault.keyword === 'additionalProperties' || fault.keyword === 'anyOf') continue;
    const union = /^(.*?\/anyOf)\/(\d+)/.exec(fault.schemaPath);
    if (union === null) {
      kept.push(fault);
      continue;
    }
    const at = unionPath(fault, union[0]);
    if (variantsSeen.has(at + union[1])) continue;
    const group = faults.filter(
      (other) => other.schemaPath.startsWith(`${union[1]!}/`) && other.instancePath.startsWith(at),
    );
    const meant = meantVariant(group, union[1]!, at, root);
    variantsSeen.add(at + union[1]);
    if (meant.length > 0) kept.push(...meant);
    else
      kept.push({
        keyword: 'anyOf',
        schemaPath: union[1]!,
        instancePath: at,
        params: {},
        message: 'has none of the forms allowed here',
      });
  }
  return kept;
}

/** Where the union stands in the value: the fault's own place less the steps its schema path takes below the variant. */
function unionPath(fault: SchemaFault, variant: string): string {
  const below =
    fault.schemaPath.slice(variant.length).match(/\/properties\/[^/]+|\/additionalProperties|\/items/g) ?? [];
  const steps = fault.instancePath.split('/');
  return steps.slice(0, steps.length - below.length).join('/');
}

/** The faults of the one variant that only complains below the union's own place, about members it knows. */
function meantVariant(group: readonly SchemaFault[], union: string, at: string, root: unknown): SchemaFault[] {
  if (typeof valueAt(root, at) !== 'object') return [];
  const byVariant = new Map<string, SchemaFault[]>();
  for (const fault of group) {
    const index = fault.schemaPath.slice(union.length + 1).split('/')[0]!;
    byVariant.set(index, [...(byVariant.get(index) ?? []), fault]);
  }
  for (const faults of byVariant.values()) {
    const own = faults.filter((fault) => fault.keyword !== 'additionalProperties');
    if (own.every((fault) => fault.keyword !== 'required' && fault.instancePath !== at)) return own;
  }
  return [];
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
