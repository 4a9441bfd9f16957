import type { A } from "./types_only";
import { type B, type C } from "./types_only";
export type { A };
export * from "./exports_source";
export * as all from "./exports_source";
export { one as default, one as "a name" } from "./exports_source";
let local = 1;
export { local as renamed };
export const typed: A & B & C = { a: 1, b: 2, c: 3 };
