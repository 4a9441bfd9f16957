/** `t.db`: inserts rows before a test, and reads the rows that it has written. */

import type { Kernel } from "../kernel";

export default function (kernel: Kernel) {
  return {
    seed: (rows: unknown): unknown => kernel.host("db.Seed", [rows]),
    rows: (model: unknown, options?: unknown): unknown => kernel.host("db.Rows", [model, options]),
  };
}
