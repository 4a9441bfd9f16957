import { Cache, inBatches, limited, retried } from "./flow";

const fails = (times: number) => async (attempt: number) => {
  if (attempt <= times) throw new Error(`attempt ${attempt}`);
  return attempt;
};

export async function TestRetries(t: testing.T) {
  t.assert.Equal(await retried(fails(2), { times: 3 }), 3);
}

export async function TestGivesUp(t: testing.T) {
  const error = await retried(fails(9), { times: 2 }).catch((reason: Error) => reason);
  t.assert.Equal((error as Error).message, "attempt 2");
}

export async function TestRetriesOnlyWhen(t: testing.T) {
  const error = await retried(fails(9), { times: 5, when: () => false }).catch((reason: Error) => reason);
  t.assert.Contains((error as Error).message, "1");
}

export async function TestBatches(t: testing.T) {
  const sizes: number[] = [];
  const found = await inBatches([1, 2, 3, 4, 5], 2, async (batch) => {
    sizes.push(batch.length);
    return batch.map((n) => n * 10);
  });
  t.assert.Equal([found, sizes], [[10, 20, 30, 40, 50], [2, 2, 1]]);
}

export async function TestBatchesAreChecked(t: testing.T) {
  t.assert.Contains(String(await inBatches([1], 0, async () => []).catch((error: Error) => error.message)), "batch");
}

export async function TestLimited(t: testing.T) {
  let [running, peak] = [0, 0];
  const found = await limited([1, 2, 3, 4], 2, async (n) => {
    peak = Math.max(peak, ++running);
    await Promise.resolve();
    running--;
    return n * n;
  });
  t.assert.Equal([found, peak], [[1, 4, 9, 16], 2]);
}

export async function TestCache(t: testing.T) {
  let [now, made] = [0, 0];
  const cache = new Cache<number>(10, () => now);
  const get = () => cache.get("a", async () => ++made);
  t.assert.Equal([await get(), await get(), cache.hits], [1, 1, 1]);
  now = 10;
  t.assert.Equal(await get(), 2);
}

export async function TestFailuresAreNotKept(t: testing.T) {
  const cache = new Cache<number>(10, () => 0);
  await cache.get("a", async () => Promise.reject(new Error("no"))).catch(() => 0);
  t.assert.Equal(await cache.get("a", async () => 7), 7);
}

export async function TestDrop(t: testing.T) {
  const cache = new Cache<number>(10, () => 0);
  await cache.get("a1", async () => 1);
  await cache.get("b1", async () => 1);
  t.assert.Equal([cache.drop("a"), cache.drop()], [1, 1]);
}
