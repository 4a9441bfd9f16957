namespace OnlyTypes { export interface A { a: 1 } export type B = A | null; }
declare namespace Ambient { function f(): void; }
declare module "ambient" { export const y: number; }
declare global { interface Window { mine: 1 } }
export const value: OnlyTypes.A = { a: 1 };
