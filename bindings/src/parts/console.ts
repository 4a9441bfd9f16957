/**
 * `console` and `log`: text lines for `kernel.log`.
 *
 * `console.*` takes the specifiers of Node.js (`%s %d %i %f %j %o %O %c`), `log.*` the verbs of Go (`parts/printf.ts`).
 * Values other than text are printed by the part "explain". The levels are trace, debug, info, warn and error.
 */

import type { Kernel } from "../kernel";

type Level = "trace" | "debug" | "info" | "warn" | "error";

export default function (kernel: Kernel) {
  const inspect = (value: unknown): string =>
    kernel.part<{ inspect(value: unknown): string }>("explain").inspect(value);
  const show = (value: unknown): string => (typeof value === "string" ? value : inspect(value));

  /** The text of `console.log(...args)`: a first text with specifiers takes the values it names, the rest follow. */
  function format(args: readonly unknown[]): string {
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
        if (typeof value === "bigint") return `${value}n`;
        if (Object.is(value, -0)) return "-0";
        return object && (value as object).toString === Object.prototype.toString
          ? inspect(value)
          : safely(() => String(value), value);
      case "j":
        return safely(() => JSON.stringify(value) ?? "undefined", value);
      case "o":
      case "O":
        return inspect(value);
    }
    if (typeof value === "bigint" && specifier !== "f") return `${value}n`;
    if (typeof value === "symbol") return "NaN";
    const number =
      specifier === "d"
        ? safely(() => Number(value), NaN)
        : specifier === "i"
          ? parseInt(value as string)
          : parseFloat(value as string);
    return Object.is(number, -0) ? "-0" : String(number);
  }

  function safely<T>(make: () => T, value: unknown): string {
    try {
      return String(make());
    } catch {
      return show(value);
    }
  }

  /** The text of `log.Info(...args)`. */
  function printf(args: readonly unknown[]): string {
    if (args.length === 1 && typeof args[0] === "string") return args[0].replace(/%%/g, "%");
    if (typeof args[0] !== "string") return format(args);
    return kernel.part<(args: readonly unknown[], inspect: (value: unknown) => string) => string>("printf")(
      args,
      inspect,
    );
  }

  let indent = "";
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();

  function print(level: Level, text: string): void {
    kernel.log(level, indent ? indent + text.replaceAll("\n", "\n" + indent) : text);
  }
  const printer =
    (level: Level) =>
    (...args: unknown[]): void =>
      print(level, format(args));

  function elapsed(label: unknown, more: unknown[], method: string): void {
    const name = String(label);
    const start = timers.get(name);
    if (start === undefined) return print("warn", `console.${method}: no timer is named ${JSON.stringify(name)}`);
    const milliseconds = +(kernel.now() - start).toFixed(3);
    print("info", [`${name}: ${milliseconds}ms`, ...more.map(show)].join(" "));
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
      print("info", table(value, columns, inspect) ?? format([value]));
    },
    time(label: unknown = "default"): void {
      const name = String(label);
      if (timers.has(name)) print("warn", `console.time: a timer named ${JSON.stringify(name)} runs already`);
      else timers.set(name, kernel.now());
    },
    timeLog: (label: unknown = "default", ...more: unknown[]) => elapsed(label, more, "timeLog"),
    timeEnd(label: unknown = "default"): void {
      elapsed(label, [], "timeEnd");
      timers.delete(String(label));
    },
    count(label: unknown = "default"): void {
      const name = String(label);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      print("info", `${name}: ${count}`);
    },
    countReset: (label: unknown = "default") => void counts.delete(String(label)),
    group(...args: unknown[]): void {
      if (args.length) info(...args);
      indent += "  ";
    },
    groupCollapsed: (...args: unknown[]) => console.group(...args),
    groupEnd: () => void (indent = indent.slice(2)),
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
