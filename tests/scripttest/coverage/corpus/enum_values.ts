const base = 2;
function late(n: number) { return n + 1; }
export enum Flags { None, A = 1 << 0, B = A | base, C = late(3), D = base > 2 ? 4 : late(1), E = "abc".length }
export const enum Fast { One = 1, Two = One * 2 }
export enum Mixed { Yes = "yes", No = 0 }
declare enum Outside { X }
export const chosen = Fast.Two || Flags.B;
