/** `t.db`: the rows that a test begins with, and those that it leaves. */

import type { Kernel } from "../kernel";

export default function (kernel: Kernel) {
  return {
    seed: (rows: unknown): unknown => kernel.host("db.Seed", [rows]),
    rows: (model: unknown, options?: unknown): unknown => kernel.host("db.Rows", [model, options]),
  };
}
