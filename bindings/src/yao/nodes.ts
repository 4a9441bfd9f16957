/** `sandbox` and `workspace`, which manage computers and their folders. In tests only mocks answer these processes. */

import type { Kernel } from "../kernel";

const methods = {
  sandbox: "Create Get List Delete Host GetNode Nodes NodesByTeam",
  workspace: "Create Get List Delete",
};

export default function (kernel: Kernel) {
  const made: Record<string, Record<string, (...args: unknown[]) => unknown>> = {};
  for (const [name, all] of Object.entries(methods)) {
    made[name] = {};
    for (const method of all.split(" ")) made[name][method] = (...args) => kernel.call(`${name}.${method}`, args);
  }
  return made;
}
