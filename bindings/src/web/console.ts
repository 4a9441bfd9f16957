/**
 * `console` and `log`: they pass lines of text to `kernel.log`.
 *
 * `console.*` understands the specifiers of Node.js (`%s %d %i %f %j %o %O %c`), `log.*` the verbs of Go (`web/printf.ts`).
 * The part "explain" prints values that are not strings. The levels are trace, debug, info, warn and error. If a value
 * throws while it is printed, the script does not see that. Scripts may replace built-in methods; so texts are joined with
 * `+`, because template literals call `concat` in this engine.
 */

import type { Kernel } from "../kernel";

type Level = "trace" | "debug" | "info" | "warn" | "error";

export default function (kernel: Kernel) {
  const inspect = (value: unknown): string =>
    kernel.part<{ inspect(value: unknown): string }>("explain").inspect(value);
  const show = (value: unknown): string => (typeof value === "string" ? value : inspect(value));

  /** `make()`, or `other()` if that throws. What `t.fatal` and the like throw is thrown again. */
  function attempt<T>(make: () => T, other: () => T): T {
    try {
      return make();
    } catch (error) {
      if (kernel.isStop(error)) throw error;
      return other();
    }
  }
  const { std } = kernel;
  const listed = (args: readonly unknown[]): string => {
    let text = "";
    for (let i = 0; i < args.length; i++) text += (i ? " " : "") + show(args[i]);
    return text;
  };
  const nameOf = (label: unknown): string => safely(() => String(label), label);

  /** The text of `console.log(...args)`. Specifiers in the first string are replaced by values; the other values follow. */
  const format = (args: readonly unknown[]): string =>
    attempt(
      () => formatted(args),
      () => listed(args),
    );

  function formatted(args: readonly unknown[]): string {
    let used = 0;
    let text = "";
    if (typeof args[0] === "string") {
      used = 1;
      text = args[0];
      if (args.length > 1) {
        text = text.replace(/%[sdifjoOc%]/g, (specifier) => {
          if (specifier === "%%") return "%";
          return used < args.length ? convert(specifier[1], args[used++]) : specifier;
        });
      }
    }
    for (; used < args.length; used++) text += (used ? " " : "") + show(args[used]);
    return text;
  }

  function convert(specifier: string, value: unknown): string {
    const object = typeof value === "object" && value !== null;
    switch (specifier) {
      case "c":
        return "";
      case "s":
        if (typeof value === "bigint") return value + "n";
        if (Object.is(value, -0)) return "-0";
        return safely(
          () => (object && (value as object).toString === Object.prototype.toString ? inspect(value) : String(value)),
          value,
        );
      case "j":
        return safely(() => JSON.stringify(value) ?? "undefined", value);
      case "o":
      case "O":
        return inspect(value);
    }
    if (typeof value === "bigint" && specifier !== "f") return value + "n";
    if (typeof value === "symbol") return "NaN";
    const read = specifier === "d" ? Number : specifier === "i" ? parseInt : parseFloat;
    return safely(() => {
      const number = read(value as string);
      return Object.is(number, -0) ? "-0" : number;
    }, "NaN");
  }

  /** `make()` as a string, or the printed `value` if that throws. */
  function safely(make: () => unknown, value: unknown): string {
    return attempt(
      () => String(make()),
      () => show(value),
    );
  }

  /** The text of `log.Info(...args)`. */
  const printf = (args: readonly unknown[]): string =>
    attempt(
      () => printed(args),
      () => listed(args),
    );

  function printed(args: readonly unknown[]): string {
    if (args.length === 1 && typeof args[0] === "string") return std.join(std.split(args[0], "%%"), "%");
    if (typeof args[0] !== "string") return format(args);
    return kernel.part<(args: readonly unknown[], inspect: (value: unknown) => string) => string>("printf")(
      args,
      inspect,
    );
  }

  let indent = "";
  const counts = { __proto__: null } as unknown as Record<string, number | undefined>;
  const timers = { __proto__: null } as unknown as Record<string, number | undefined>;

  function print(level: Level, text: string): void {
    kernel.log(level, indent ? indent + std.join(std.split(text, "\n"), "\n" + indent) : text);
  }
  const printer =
    (level: Level) =>
    (...args: unknown[]): void =>
      print(level, format(args));

  function elapsed(label: unknown, more: unknown[], method: string): void {
    const name = nameOf(label);
    const start = timers[name];
    if (start === undefined) return print("warn", "console." + method + ": no timer is named " + JSON.stringify(name));
    const milliseconds = std.floor((kernel.now() - start) * 1000 + 0.5) / 1000;
    print("info", name + ": " + milliseconds + "ms" + (more.length ? " " + listed(more) : ""));
  }

  const info = printer("info");
  const console = {
    log: info,
    info,
    dir: (value?: unknown) => print("info", inspect(value)),
    dirxml: info,
    warn: printer("warn"),
    error: printer("error"),
    debug: printer("debug"),
    trace: (...args: unknown[]) => print("trace", args.length ? "Trace: " + format(args) : "Trace"),
    assert(condition?: unknown, ...args: unknown[]): void {
      if (!condition) print("error", "Assertion failed" + (args.length ? ": " + format(args) : ""));
    },
    table(value?: unknown, columns?: string[]): void {
      const table =
        kernel.part<(value: unknown, columns: unknown, inspect: (value: unknown) => string) => string | undefined>(
          "table",
        );
      const text = attempt(
        () => table(value, columns, inspect),
        () => undefined,
      );
      print("info", text ?? format([value]));
    },
    time(label: unknown = "default"): void {
      const name = nameOf(label);
      if (name in timers) print("warn", "console.time: a timer named " + JSON.stringify(name) + " is already running");
      else timers[name] = kernel.now();
    },
    timeLog: (label: unknown = "default", ...more: unknown[]) => elapsed(label, more, "timeLog"),
    timeEnd(label: unknown = "default"): void {
      elapsed(label, [], "timeEnd");
      delete timers[nameOf(label)];
    },
    count(label: unknown = "default"): void {
      const name = nameOf(label);
      const count = (counts[name] = (counts[name] ?? 0) + 1);
      print("info", name + ": " + count);
    },
    countReset: (label: unknown = "default") => void delete counts[nameOf(label)],
    group(...args: unknown[]): void {
      if (args.length) std.apply(info, undefined, args);
      indent += "  ";
    },
    groupCollapsed: (...args: unknown[]) => std.apply(console.group, undefined, args),
    groupEnd: () => void (indent = std.slice(indent, 2)),
    clear: () => undefined,
  };

  const logger =
    (level: Level) =>
    (...args: unknown[]): null => {
      kernel.log(level, printf(args));
      return null;
    };
  const log = {
    Trace: logger("trace"),
    Debug: logger("debug"),
    Info: logger("info"),
    Warn: logger("warn"),
    Error: logger("error"),
    Fatal: logger("error"),
    /** Logs an error and throws it as an Exception. */
    Panic(...args: unknown[]): never {
      const message = printf(args);
      kernel.log("error", message);
      throw new kernel.Exception(message, 500);
    },
  };

  return { format, printf, console, log };
}
