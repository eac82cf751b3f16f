/**
 * Facts about a schema that its plan is made by: how deep data can nest, and which records are met more than once.
 *
 * Invariant: one pass in the order of the text. A name is defined before it is used, so that the pass never goes deeper
 * than the schema nests, however long a chain of references is.
 */
import type { AvroRecord, AvroType } from './schema.js';

export class SchemaSurvey {
  /** Levels below the root that a datum can have; infinite where a record can contain itself. */
  readonly height: number;
  /** Undefined while the pass is inside the record: whatever mentions it there contains it. */
  private readonly heights = new Map<AvroRecord, number | undefined>();
  private readonly sizes = new Map<AvroRecord, number>();
  private readonly mentions = new Map<AvroRecord, number>();

  constructor(root: AvroType) {
    this.height = this.heightOf(root);
  }

  /**
   * Types that stand in the schema where a value of `record` is described, those of records in it among them; infinite
   * where it can contain itself.
   */
  sizeOf(record: AvroRecord): number {
    return this.sizes.get(record) ?? Infinity;
  }

  /** True for a record that stands in one place of the schema and is not inside itself. */
  isMentionedOnce(record: AvroRecord): boolean {
    return this.mentions.get(record) === 1;
  }

  private heightOf(type: AvroType): number {
    switch (type.kind) {
      case 'record':
        return this.recordHeight(type);
      case 'array':
        return 1 + this.heightOf(type.items);
      case 'map':
        return 1 + this.heightOf(type.values);
      case 'union':
        return this.heightAbove(type.branches);
      default:
        return 0;
    }
  }

  private recordHeight(record: AvroRecord): number {
    this.mentions.set(record, (this.mentions.get(record) ?? 0) + 1);
    if (this.heights.has(record)) return this.heights.get(record) ?? Infinity;
    this.heights.set(record, undefined);
    const height = this.heightAbove(record.fields.map(({ type }) => type));
    this.heights.set(record, height);
    if (height !== Infinity)
      this.sizes.set(
        record,
        record.fields.reduce((size, { type }) => size + this.typesIn(type), 1),
      );
    return height;
  }

  private typesIn(type: AvroType): number {
    switch (type.kind) {
      case 'record':
        return this.sizeOf(type);
      case 'array':
        return 1 + this.typesIn(type.items);
      case 'map':
        return 1 + this.typesIn(type.values);
      case 'union':
        return type.branches.reduce((size, branch) => size + this.typesIn(branch), 1);
      default:
        return 1;
    }
  }

  private heightAbove(parts: readonly AvroType[]): number {
    // Every part is looked at, since each is a mention.
    return parts.reduce((height, part) => Math.max(height, 1 + this.heightOf(part)), 0);
  }
}
