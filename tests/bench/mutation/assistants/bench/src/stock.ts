/** A class with private state: a stock with reservations and events. */
export interface Event {
  kind: "in" | "out" | "hold" | "free";
  sku: string;
  count: number;
}

export class Stock {
  #counts = new Map<string, number>();
  #held = new Map<string, { sku: string; count: number }>();
  #next = 1;
  readonly events: Event[] = [];

  constructor(private readonly limits: Record<string, number> = {}) {}

  get size(): number {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return sum;
  }

  static of(counts: Record<string, number>): Stock {
    const made = new Stock();
    for (const [sku, count] of Object.entries(counts)) made.add(sku, count);
    return made;
  }

  add(sku: string, count = 1): this {
    if (!Number.isInteger(count) || count < 1) throw new RangeError("a count is a whole number of at least 1");
    const now = (this.#counts.get(sku) ?? 0) + count;
    const limit = this.limits[sku];
    if (limit !== undefined && now > limit) throw new RangeError(`there is room for ${limit} of ${sku}`);
    this.#counts.set(sku, now);
    this.#note("in", sku, count);
    return this;
  }

  free(sku: string): number {
    let held = 0;
    for (const one of this.#held.values()) if (one.sku === sku) held += one.count;
    return (this.#counts.get(sku) ?? 0) - held;
  }

  hold(sku: string, count: number): string | null {
    if (this.free(sku) < count) return null;
    const id = `h${this.#next++}`;
    this.#held.set(id, { sku, count });
    this.#note("hold", sku, count);
    return id;
  }

  release(id: string): boolean {
    const one = this.#held.get(id);
    if (!one) return false;
    this.#held.delete(id);
    this.#note("free", one.sku, one.count);
    return true;
  }

  take(id: string): number {
    const one = this.#held.get(id);
    if (one === undefined) throw new Error(`there is no hold ${id}`);
    this.#held.delete(id);
    const rest = (this.#counts.get(one.sku) ?? 0) - one.count;
    if (rest > 0) this.#counts.set(one.sku, rest);
    else this.#counts.delete(one.sku);
    this.#note("out", one.sku, one.count);
    return rest;
  }

  lowest(): string | undefined {
    return [...this.#counts].sort(([a, x], [b, y]) => x - y || a.localeCompare(b))[0]?.[0];
  }

  #note(kind: Event["kind"], sku: string, count: number): void {
    this.events.push({ kind, sku, count });
  }
}
