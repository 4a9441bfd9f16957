/**
 * `ctx.workspace` and `ctx.computer`: files in the workspace of the test, and commands, which only mocks answer.
 *
 * Agents with `sandbox.yao` have both. If the context has `metadata.workspace_id`, there is a workspace too.
 */

import type { Kernel } from "../kernel";

type Fields = Record<string, unknown>;

/** Method → its required arguments in words, and their number. */
const methods: Record<string, [needs: string, count: number]> = {
  ReadFile: ["a path argument", 1],
  WriteFile: ["path and content arguments", 2],
  Exists: ["a path argument", 1],
  ReadDir: ["", 0],
  Stat: ["a path argument", 1],
  MkdirAll: ["a path argument", 1],
  Remove: ["a path argument", 1],
  RemoveAll: ["a path argument", 1],
  Rename: ["old and new path arguments", 2],
  Copy: ["source and destination arguments", 2],
};
const silent = "WriteFile MkdirAll Remove RemoveAll Rename Copy".split(" ");

export default function (kernel: Kernel) {
  const fail = (text: string): never => {
    throw new kernel.Exception(text, 400);
  };

  function workspace(): Fields {
    const made: Fields = {};
    for (const [name, [needs, count]] of Object.entries(methods)) {
      made[name] = (...given: unknown[]) => {
        if (given.length < count) fail(`${name} requires ${needs}`);
        const args = name === "ReadDir" && !given.length ? ["."] : given.slice(0, count || 1).map(String);
        const answer = kernel.call(`sandbox.workspace.${name}`, args);
        return silent.includes(name) ? undefined : answer;
      };
    }
    return made;
  }

  function computer(info: Fields): Fields {
    const no = (method: string) => (): never => fail(`${method} failed: tests have no computer, only mocked commands`);
    return {
      id: info.box_id,
      Exec(command: unknown) {
        if (command === undefined) fail("Exec requires a command argument");
        const argv =
          typeof command === "string"
            ? command.split(/\s+/).filter(Boolean)
            : Array.isArray(command) && command.every((part) => typeof part === "string")
              ? (command as string[])
              : fail("command must be a string or array of strings");
        return kernel.call("sandbox.computer.Exec", [argv]);
      },
      Info: () => structuredCloneOf(info),
      VNC: no("VNC"),
      Proxy(port: unknown) {
        if (typeof port !== "number") fail("Proxy requires a port number");
        return no("Proxy")();
      },
    };
  }

  const structuredCloneOf = (value: Fields) => JSON.parse(JSON.stringify(value)) as Fields;

  return {
    members(ctx: { metadata?: { workspace_id?: unknown } | null }): Fields {
      const { sandbox } = kernel.context;
      return {
        workspace: sandbox || ctx.metadata?.workspace_id ? workspace() : undefined,
        computer: sandbox ? computer(sandbox) : undefined,
      };
    },
  };
}
