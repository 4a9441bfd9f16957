export namespace Jobs {
  export async function run(n = 1) { for (let i = 0; i < n; i++) await null; return n; }
  export function* steps() { yield 1; yield 2; }
  try { [...steps()]; } catch { throw new Error("no"); } finally { run(); }
}
