const key = "k";
export const object = {
  plain: 1, [key]: 2, short: () => 3, method() { return 4; }, async wait() { return 5; }, *many() { yield 6; },
  get value() { return 7; }, set value(v) { void v; }, async *both() {}, "a b": function () { return 8; }, 9: class { x = 1; },
  [`t${key}`]() { return 10; }, ...(key ? { a: 1 } : {}), __proto__: null,
};
object.method(); object.short();
