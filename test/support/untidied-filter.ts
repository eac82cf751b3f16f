/**
 * Rewrites the text of a filter in every way that must not change its canonical text, for property tests.
 */
import { readJson, type JsonDocument } from '../../src/core/exact-json.js';
import type { JsonMember, JsonNode } from '../../src/core/json-node.js';
import type { Seeded } from './seeded.js';

const NODES = ['all', 'any', 'not', 'pred', 'pred_as', 'present', 'absent', 'header', 'text', 'header_text'];

/**
 * The same filter, written otherwise: other member order, white space, escapes, defaults spelled out and, unless
 * `keepsStrict`, members that nobody knows. Numbers are copied digit by digit.
 */
export function untidied(text: string, seeded: Seeded, keepsStrict = false): string {
  const document = readJson(text);
  return new Rewriter(document, seeded, keepsStrict).rewritten(document.root);
}

class Rewriter {
  private readonly document: JsonDocument;
  private readonly seeded: Seeded;
  private readonly keepsStrict: boolean;

  constructor(document: JsonDocument, seeded: Seeded, keepsStrict: boolean) {
    this.document = document;
    this.seeded = seeded;
    this.keepsStrict = keepsStrict;
  }

  rewritten(node: JsonNode): string {
    return this.space() + this.value(node) + this.space();
  }

  private value(node: JsonNode): string {
    switch (node.kind) {
      case 'object':
        return `{${this.space()}${this.members(node.members).join(',')}}`;
      case 'array':
        return `[${node.items.map((item) => this.rewritten(item)).join(',')}]`;
      case 'string':
        return this.text(node.value);
      default:
        return this.document.sourceOf(node);
    }
  }

  private members(members: readonly JsonMember[]): string[] {
    const { seeded } = this;
    const written = members.map(({ key, value }) => `${this.text(key.value)}${this.space()}:${this.rewritten(value)}`);
    const names = members.map(({ key }) => key.value);
    const isNode = names.length === 1 && NODES.includes(names[0]!);
    const spelled = (name: string, byDefault: string): void => {
      if (!names.includes(name) && seeded.chance(0.5)) written.push(`"${name}":${byDefault}`);
    };
    if (names.includes('pattern')) spelled('case_insensitive', 'false');
    if (names.includes('codec')) {
      spelled('fault_policy', '"stop"');
      spelled('foreign_policy', '"reject"');
      spelled('mismatch_policy', '"reject"');
      spelled('schema_refs', '[]');
    }
    if (!isNode && !this.keepsStrict && seeded.chance(0.05)) written.push('"note" :{"a":[1,1e999],"a":"\\ud800"}');
    for (let at = written.length - 1; at > 0; at -= 1) {
      const other = seeded.below(at + 1);
      [written[at], written[other]] = [written[other]!, written[at]!];
    }
    return written.map((member) => this.space() + member);
  }

  private space(): string {
    return this.seeded.chance(0.2) ? this.seeded.pick([' ', '\n', '\t', '\r\n  ']) : '';
  }

  /** A JSON string, sometimes with characters escaped that need not be. */
  private text(value: string): string {
    if (!this.seeded.chance(0.1)) return JSON.stringify(value);
    const points = Array.from(value, (point) =>
      this.seeded.chance(0.3) ? escaped(point) : JSON.stringify(point).slice(1, -1),
    );
    return `"${points.join('')}"`;
  }
}

function escaped(point: string): string {
  const units = point.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((digits) => `\\u${digits}`).join('');
}
