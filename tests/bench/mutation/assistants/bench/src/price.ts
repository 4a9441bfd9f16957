/** Rules: what an order costs, with steps, a coupon and a limit. */
export interface Item {
  sku: string;
  price: number;
  count: number;
  tags?: string[];
}

export interface Coupon {
  code: string;
  percent?: number;
  amount?: number;
  least?: number;
  until?: string;
}

const STEPS = [
  { from: 100, percent: 15 },
  { from: 20, percent: 10 },
  { from: 5, percent: 3 },
];

export function subtotal(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    if (item.count <= 0) throw new RangeError(`${item.sku}: a count is above 0`);
    sum += item.price * item.count * (1 - stepOf(item.count) / 100);
  }
  return round(sum);
}

export function stepOf(count: number): number {
  for (const step of STEPS) {
    if (count >= step.from) return step.percent;
  }
  return 0;
}

export function reduced(sum: number, coupon: Coupon | null, today: string): number {
  if (!coupon) return sum;
  if (coupon.until !== undefined && today > coupon.until) return sum;
  if (sum < (coupon.least ?? 0)) return sum;
  const off = coupon.percent !== undefined ? (sum * coupon.percent) / 100 : (coupon.amount ?? 0);
  return round(Math.max(sum - off, 0));
}

export function shipping(items: Item[], sum: number, country = "NO"): number {
  const heavy = items.some((item) => item.tags?.includes("heavy"));
  if (country !== "NO") return heavy ? 79 : 29;
  if (sum >= 50 && !heavy) return 0;
  return heavy ? 19.5 : 4.9;
}

export function total(items: Item[], coupon: Coupon | null, today: string, country?: string): number {
  const sum = reduced(subtotal(items), coupon, today);
  return round(sum + shipping(items, sum, country));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
