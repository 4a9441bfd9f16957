export interface A { a: number; (x: number): string; new (x: number): A; readonly [k: string]: any }
export type B = { b: number } & { [K in keyof A]?: A[K] };
export type C<T extends object = {}> = T & { c: number };
export type D<T> = T extends (infer U extends string)[] ? `x${U}` : never;
