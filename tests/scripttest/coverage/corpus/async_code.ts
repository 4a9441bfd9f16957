export async function go(urls: string[]) {
  for await (const u of urls) { if (!u) return null; }
  const all = await Promise.all(urls.map(async (u) => { await null; return u; }));
  return all.length > 1 ? all : all[0] || "";
}
export async function* stream() { yield* [1, 2]; const got = yield 3; return got ?? 4; }
go(["a"]);
