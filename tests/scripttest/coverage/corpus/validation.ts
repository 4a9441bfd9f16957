export type Result = { ok: true; value: number } | { ok: false; error: string };
export function parse(text: string | undefined, { min = 0, max = Infinity }: { min?: number; max?: number } = {}): Result {
  const value = Number(text ?? NaN);
  if (Number.isNaN(value)) return { ok: false, error: "not a number" };
  if (value < min || value > max) return { ok: false, error: `out of ${min}..${max}` };
  return { ok: true, value };
}
parse("1"); parse(undefined); parse("5", { max: 3 });
