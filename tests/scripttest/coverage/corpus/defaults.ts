export function f(a = 1, { b = 2, c: { d = a || 3 } = {} as any } = {} as any, [e = () => 5] = [] as any[]) { return [a, b, d, e()]; }
f();
f(1, { b: 3 });
const { g = class {}, ...rest } = {} as any;
let h, i;
({ h = 7, j: i = function () { return 8; } } = {} as any);
[h = 9] = [10];
export const k = (x = h > 1 ? 1 : 2) => x;
export const names = [g.name, i.name];
