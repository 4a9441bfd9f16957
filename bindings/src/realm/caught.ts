/**
 * What the engine calls for each error of a realm whose script has a word for catching (`Error.prepareStackTrace`): the
 * message of what is read before its line becomes that of other engines. `awaits.ts` takes its place when the first promise
 * is rejected.
 */

import type { Core, Early } from "../core-state";
import { frame, type CallSite } from "../stack-frame";

export type Caught = (error: unknown, sites: unknown) => string;

export default function (core: Core): Caught {
  const unready = ReferenceError.prototype;
  const { getPrototypeOf } = Object;
  return (error, sites) => {
    let text = "";
    for (let i = 0, at = sites as CallSite[]; at[i]; i++) text += frame(at[i], "");
    if (getPrototypeOf(error) === unready) core.part<Early>("early").tell(error as Error);
    return text;
  };
}
