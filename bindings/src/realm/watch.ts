/** Watched values, as captured lines of their own level: `place expression = value`, at each time that the place is passed. */

import type { Core } from "../core-state";
import type { Limits, Shown } from "./shown";

const limits: Limits = { depth: 6, items: 100, text: 1000, length: 4000 };

export default function (core: Core) {
  const { std } = core;
  const shown = core.part<Shown>("shown");

  return {
    /** What `--watch-expr` puts into scripts, see `scripttest/syntax/src/watched.ts`. */
    $yaoWatch(name: string, read: () => unknown): void {
      let text: string;
      try {
        text = " = " + shown(read(), limits);
      } catch (error) {
        if (core.isStop(error)) throw error;
        text = " throws " + shown(error, limits);
      }
      core.log("watch", name + text);
    },
    /** `t.watch(value, name?)`. Without a name, the host puts in what stands in the source. */
    of<V>(args: readonly unknown[]): V {
      if (args.length < 1 || args.length > 2 || (args.length === 2 && typeof args[1] !== "string")) {
        throw new std.TypeError("t.watch takes (value, name?)");
      }
      core.log("watch", core.here() + "\0" + (args.length === 2 ? (args[1] as string) : "") + "\0" + shown(args[0], limits));
      return args[0] as V;
    },
  };
}
