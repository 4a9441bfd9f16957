/**
 * The part "std": the built-ins that verdicts depend on. Those in `std-values.ts` are saved at once if a script could
 * overwrite them, or if the scripts are not known yet; otherwise when the first of them is read.
 */

import type { Core } from "../core-state";
import { basis, type Std } from "../std";

export default function (core: Core): Std {
  const { setPrototypeOf } = Object;
  const take = () => {
    const values = core.part<object>("values");
    setPrototypeOf(values, null);
    setPrototypeOf(basis, values);
    return values;
  };
  const get = (_: object, name: PropertyKey) => take()[name as never] as unknown;
  if (core.boot?.guarded ?? true) take();
  else setPrototypeOf(basis, new Proxy({}, { __proto__: null, get } as ProxyHandler<object>));
  return basis as Std;
}
