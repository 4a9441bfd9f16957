export type * from "./types_only";
export type * as types from "./types_only";
import { one } from "./exports_source";
export const used = one satisfies number;
