export class Stack<in out T> { items: T[] = []; push<U extends T>(item: U): this { this.items.push(item); return this; } }
export const pair = <const A, B = A>(a: A, b: B) => [a, b] as [A, B];
export const numbers = new Stack<Array<number>>().push([1] as number[]);
export const made = pair<string, number>;
type Lookup<T> = T extends { a: infer U } ? U : never;
export const looked: Lookup<{ a: 1 }> = made("a", 1)[1] < 2 ? 1 : 1;
