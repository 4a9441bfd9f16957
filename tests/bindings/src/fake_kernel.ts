/**
 * A kernel for tests of single parts: plain settable fields, and globals that a snippet may use.
 *
 * `$parts` maps a part to its source; `calls`, `lines` and `slept` record; `processes` answer; `clock` is the time.
 */

import { argumentText, revived } from "../../../bindings/src/border";
import type { Core } from "../../../bindings/src/core-state";
import type { Kernel } from "../../../bindings/src/kernel";
import type { Finder } from "../../../bindings/src/mocks/mocked";
import { basis } from "../../../bindings/src/std";
import { values } from "../../../bindings/src/std-values";

interface Fake {
  $parts: Record<string, string>;
  calls: [string, unknown[]][];
  lines: string[];
  slept: number[];
  processes: Record<string, (...args: unknown[]) => unknown>;
  clock: { now: number };
  /** What the realm told last of its world. */
  told: string;
  kernel: Kernel & { boot: object };
  part: Kernel["part"];
  Exception: Kernel["Exception"];
}

const fake = globalThis as unknown as Fake;

class Exception extends Error {
  code: number;
  constructor(message: string, code = 500) {
    super(message);
    this.code = code;
    this.name = "Exception|" + code;
  }
}

const parts: Record<string, unknown> = {
  explain: {
    inspect: (value: unknown) =>
      value === undefined
        ? "undefined"
        : typeof value === "string"
          ? `"${value}"`
          : `<${JSON.stringify(value) ?? typeof value}>`,
  },
};

Object.assign(fake, {
  calls: [],
  lines: [],
  slept: [],
  processes: {},
  clock: { now: 1_000_000 },
  Exception,
});

fake.kernel = {
  boot: {},
  std: { ...values, ...basis },
  plan: {},
  ahead: 0,
  globals: globalThis,
  clock: () => 0,
  bridge: (op: string, told: string) => {
    if (op === "world") fake.told = told;
    return "";
  },
  Exception,
  mocks: { process: [], agent: [], http: [], exec: [] },
  context: {
    chat_id: "chat-1",
    assistant_id: "demo",
    locale: "en-us",
    theme: "",
    route: "",
    referer: "test",
    accept: "standard",
    client: { type: "test", ip: "127.0.0.1", user_agent: "test" },
    metadata: {},
    authorized: { user_id: "u1", team_id: "t.1", scope: "" },
  },
  testName: () => "TestX",
  part: ((name: string) =>
    (parts[name] ??= ((0, eval)(fake.$parts[name]) as (kernel: Kernel) => unknown)(fake.kernel))) as Kernel["part"],
  call(name, args) {
    const { mocks } = fake.kernel;
    if (mocks.process.length || mocks.agent.length || mocks.http.length) {
      const found = fake.kernel
        .part<Finder>("mocked")
        .find(name, () => revived(fake.kernel as Core, argumentText(fake.kernel as Core, name, args)));
      if (found) return found() ?? null;
    }
    if (name.startsWith("stores.")) {
      const dot = name.lastIndexOf(".");
      return fake.kernel.part<(id: string, method: string, args: readonly unknown[]) => unknown>("store")(
        name.slice(7, dot),
        name.slice(dot + 1),
        args,
      );
    }
    return fake.kernel.host(name, args);
  },
  host(name, args) {
    fake.calls.push([name, [...args]]);
    const process = fake.processes[name];
    if (!process) throw new Exception(`${name} is not available`, 404);
    return process(...args);
  },
  log: (level, text) => void fake.lines.push(`${level} ${text}`),
  sleep: (milliseconds) => void fake.slept.push(milliseconds),
  isStop: () => false,
  now: () => fake.clock.now,
} as Fake["kernel"];
fake.part = fake.kernel.part;
