let of = 1, type = 2, async = 3, namespace = 4, module = 5, accessor = 6, get = 7, set = 8, declare = 9, abstract = 10, using = 11, satisfies = 12, as = 13;
type = 4;
using = 3;
module = namespace || accessor;
abstract;
declare;
export const o = { of, type, async, get, set, default: 1, if: 2, class: 3, new: declare ? 1 : 2 };
export { type as default, o as class };
