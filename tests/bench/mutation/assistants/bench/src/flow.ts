/** Asynchronous work: retries, batches, a queue with a limit, and a cache. */
export interface Retry {
  times: number;
  when?: (error: Error) => boolean;
}

export async function retried<T>(work: (attempt: number) => Promise<T>, { times, when }: Retry): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= times || !(when?.(error as Error) ?? true)) throw error;
    }
  }
}

export async function inBatches<A, B>(items: A[], size: number, work: (batch: A[]) => Promise<B[]>): Promise<B[]> {
  if (size < 1) throw new RangeError("a batch has 1 item or more");
  const found: B[] = [];
  for (let at = 0; at < items.length; at += size) {
    found.push(...(await work(items.slice(at, at + size))));
  }
  return found;
}

export async function limited<A, B>(items: A[], most: number, work: (item: A) => Promise<B>): Promise<B[]> {
  const results: B[] = new Array(items.length);
  let next = 0;
  async function worker(): Promise<void> {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]);
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

export class Cache<T> {
  readonly #kept = new Map<string, { value: Promise<T>; until: number }>();
  hits = 0;

  constructor(private readonly lifetime: number, private readonly now: () => number) {}

  async get(key: string, make: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept && kept.until > this.now()) {
      this.hits++;
      return kept.value;
    }
    const value = make();
    this.#kept.set(key, { value, until: this.now() + this.lifetime });
    try {
      return await value;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  drop(prefix = ""): number {
    let dropped = 0;
    for (const key of [...this.#kept.keys()]) {
      if (key.startsWith(prefix) && this.#kept.delete(key)) dropped++;
    }
    return dropped;
  }
}
