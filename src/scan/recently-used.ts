/**
 * A bounded cache, least recently used out: by the number of entries and by what they weigh together.
 */

interface Entry<T> {
  readonly value: T;
  readonly weight: number;
}

export class RecentlyUsed<T> {
  private readonly entries = new Map<string, Entry<T>>();
  private readonly countMax: number;
  private readonly weightMax: number;
  private weight = 0;

  /** Both bounds at least 1; the entry that came last stays whatever it weighs. */
  constructor(countMax: number, weightMax: number) {
    this.countMax = countMax;
    this.weightMax = weightMax;
  }

  /** The value of a key, which becomes the most recently used one. */
  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // A map keeps insertion order: taking out and putting back makes this the last to go.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, weight: number): void {
    this.weight += weight - (this.entries.get(key)?.weight ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { value, weight });
    while (this.entries.size > this.countMax || (this.weight > this.weightMax && this.entries.size > 1)) {
      const [oldest, entry] = this.entries.entries().next().value!;
      this.entries.delete(oldest);
      this.weight -= entry.weight;
    }
  }

  get size(): number {
    return this.entries.size;
  }
}
