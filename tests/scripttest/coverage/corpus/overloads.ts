export function over(a: string): string;
export function over(a: number): number;
export function over(a: any) { return a; }
declare function outside(x: number): void;
declare const missing: number;
export class Over { m(a: string): void; m(a: number): void; m(a: any) { void a; } }
export function isText(x: unknown): x is string { return typeof x === "string"; }
export function must(x: unknown): asserts x { if (!x) throw new Error(); }
over(1);
