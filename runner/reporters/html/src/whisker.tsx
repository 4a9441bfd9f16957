/** Draws error bars: the 95 % interval of a figure. */

import type { Whisker } from "./changes";

const WIDTH = 140;
const HEIGHT = 14;

/** An interval as a bar with its figure. The text beside it says the same. */
export function Bar({ ends, from, to, zero = false }: { ends?: Whisker; from: number; to: number; zero?: boolean }) {
  if (!ends) return null;
  const place = (value: number) => 3 + ((Math.min(to, Math.max(from, value)) - from) / (to - from)) * (WIDTH - 6);
  const [low, value, high] = ends.map(place);
  const middle = HEIGHT / 2;
  return (
    <svg class="whisker" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {zero && <line class="zero" x1={place(0)} x2={place(0)} y1="0" y2={HEIGHT} />}
      <path d={`M${low} ${middle - 4}v8M${low} ${middle}H${high}M${high} ${middle - 4}v8`} />
      <circle cx={value} cy={middle} r="3" />
    </svg>
  );
}
