/** Durations such as `"1h30m"`. */

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a number (as it is) or a text such as `"1h30m"`. Throws TypeError for anything else and below 0. */
export function millisecondsOf(value: unknown): number {
  const milliseconds = typeof value === "string" ? written(value.trim()) : value;
  if (typeof milliseconds !== "number" || !Number.isFinite(milliseconds)) {
    throw new TypeError(`t.mock.advance takes milliseconds or a string such as "1h30m", not ${typeof value === "number" ? value : (JSON.stringify(value) ?? typeof value)}`);
  }
  if (milliseconds < 0) throw new TypeError("t.mock.advance moves the clock forward: time cannot be negative; use t.mock.now to set it back");
  return milliseconds;
}

function written(text: string): number {
  if (!/^-?(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return NaN;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) sum += Number(number) * units[unit];
  return text.startsWith("-") ? -sum : sum;
}
