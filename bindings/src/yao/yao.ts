/**
 * The smaller globals of Yao: `Store Query WebSocket MCP Use Eval All Any Race Authorized $L time`. `Job`, `Plan` and
 * `Trace` are in parts of their own, which this one loads.
 *
 * The methods of `Query` call `query.<engine>.<Method>`, which the host answers from the database of the test.
 * `query.<engine>.Open` fails if there is no such engine. `WebSocket` calls `websocket.Push`, which only a mock answers.
 */

import { errorText } from "../error-text";
import type { Kernel } from "../kernel";
import { sequence } from "../sequence";

interface Task {
  process: string;
  args?: unknown;
}

const words = (text: string) => text.split(" ");

export default function (kernel: Kernel) {
  const fail = (text: string): never => {
    throw new kernel.Exception(text, 400);
  };

  /** Adds methods to a class. Each of them calls a process. */
  function forward<T>(
    Class: abstract new (...args: never[]) => T,
    methods: string[],
    call: (self: T, method: string, args: unknown[]) => unknown,
  ): void {
    for (const method of methods) {
      const value = function (this: T, ...args: unknown[]) {
        return call(this, method, args);
      };
      Object.defineProperty(Class.prototype, method, { value, writable: true, configurable: true });
    }
  }

  const classes = {
    /** A key-value store. It is empty at the beginning of each test. */
    Store: class {
      name: string;
      constructor(id: unknown) {
        if (typeof id !== "string" || !id) fail("Store takes a store id");
        this.name = id as string;
      }
      declare Has: (key: unknown) => unknown;
      declare Set: (key: unknown, value: unknown, ttl?: unknown) => unknown;
      Get(key: unknown): unknown {
        return optional(this.name, "Get", [key]);
      }
      GetDel(key: unknown): unknown {
        const value = this.Get(key);
        kernel.call(`stores.${this.name}.Del`, [key]);
        return value;
      }
      /** The value. If it is missing, stores `make(key)` and returns it. */
      GetSet(key: unknown, make: unknown, ttl?: unknown): unknown {
        if (typeof make !== "function") fail("GetSet takes a function as its second argument");
        if (!this.Has(key)) this.Set(key, (make as (key: unknown) => unknown)(key), ttl);
        return this.Get(key);
      }
      Release(): void {}
      __release(): void {}
    },
    Query: class {
      engine: string;
      constructor(engine: unknown = "default") {
        this.engine = String(engine);
        if (this.engine !== "default") kernel.host(`query.${this.engine}.Open`, []);
      }
    },
    WebSocket: class {
      url: string;
      protocols: unknown[];
      constructor(url: unknown, ...protocols: unknown[]) {
        if (typeof url !== "string") fail("WebSocket takes a URL");
        this.url = url as string;
        this.protocols = protocols;
      }
      push(text: unknown): unknown {
        return kernel.call("websocket.Push", [this.url, text, ...this.protocols]);
      }
    },
    /** An MCP client. It returns the answers as the protocol has them; `ctx.mcp` converts them. */
    MCP: class {
      id: string;
      constructor(id: unknown) {
        if (typeof id !== "string" || !id) fail("MCP takes a client id");
        this.id = id as string;
      }
      CallTools(calls: unknown): object {
        if (!Array.isArray(calls)) fail("CallTools takes a list of calls");
        const results = (calls as { name?: unknown; arguments?: unknown }[]).map((call) =>
          kernel.call("mcp.CallTool", [this.id, call?.name, call?.arguments ?? {}]),
        );
        return { results };
      }
      CallToolsParallel(calls: unknown): object {
        return this.CallTools(calls);
      }
      Release(): void {}
      __release(): void {}
    },
  };

  /** Returns undefined instead of null for a missing key. In results from another realm, both arrive as null. */
  function optional(id: string, method: string, args: unknown[]): unknown {
    const value = kernel.call(`stores.${id}.${method}`, args);
    return value === null && !kernel.call(`stores.${id}.Has`, [args[0]]) ? undefined : value;
  }

  forward(
    classes.Store,
    words(
      "Set Has Del Keys Len Clear Push Pull PullAll AddToSet ArrayLen ArraySet ArraySlice ArrayPage ArrayAll Incr Decr",
    ),
    (self, method, args) => kernel.call(`stores.${self.name}.${method}`, args),
  );
  forward(
    classes.Store,
    ["Pop", "ArrayGet"],
    (self, method, args) => kernel.call(`stores.${self.name}.${method}`, args) ?? undefined,
  );
  forward(classes.Query, words("Get First Paginate Run Lint Schema Validate"), (self, method, args) =>
    kernel.call(`query.${self.engine}.${method}`, args),
  );
  forward(
    classes.MCP,
    words("Info ListTools CallTool ListResources ReadResource ListPrompts GetPrompt ListSamples GetSample"),
    (self, method, args) => kernel.call("mcp." + method, [self.id, ...args]),
  );

  /** Runs tasks `{process, args?}` one after the other. Returns `{index, data, error?}` of each. `timeout` has no effect. */
  function run(kind: string, tasks: unknown): unknown[] {
    if (!Array.isArray(tasks)) fail(`${kind} takes a list of tasks`);
    (tasks as (Task | null)[]).forEach((task, i) => {
      if (typeof task?.process !== "string" || !task.process) fail(`${kind}: task ${i} needs the name of a process`);
    });
    const results = sequence(
      kind,
      tasks as Task[],
      (task, index) => {
        try {
          return {
            index,
            data: kernel.call(task.process, Array.isArray(task.args) ? task.args : []) ?? null,
            error: undefined,
          };
        } catch (error) {
          return { index, data: null, error: errorText(error) };
        }
      },
      (result) => result.error === undefined && result.data !== null,
    );
    return results.map((result, index) => {
      const { error, ...rest } = result ?? { index, data: null, error: undefined };
      return error === undefined ? rest : { ...rest, error };
    });
  }

  return {
    ...classes,

    /** Makes `new Class(...args)`, calls the callback with it, and then its `__release()`. Returns the callback's result. */
    Use(Class: unknown, ...args: unknown[]): unknown {
      const callback = args.pop();
      if (typeof Class !== "function" || typeof callback !== "function")
        fail("Use takes a class, its arguments and a callback");
      const instance = new (Class as new (...args: unknown[]) => { __release?: unknown })(...args);
      const release = () => {
        if (typeof instance.__release === "function") (instance.__release as () => void)();
      };
      let result: unknown;
      try {
        result = (callback as (instance: unknown) => unknown)(instance);
      } catch (error) {
        release();
        throw error;
      }
      if (typeof (result as PromiseLike<unknown> | null)?.then === "function") {
        return (result as PromiseLike<unknown>).then(
          (value) => {
            release();
            return value;
          },
          (error: unknown) => {
            release();
            throw error;
          },
        );
      }
      release();
      return result;
    },

    /** Evaluates the source code of a function, and calls the function with the arguments. */
    Eval(source: unknown, ...args: unknown[]): unknown {
      if (typeof source !== "string") fail("Eval takes the source of a function");
      const made = (0, eval)(`(${(source as string).replace(/[;\s]+$/, "")}\n)`) as unknown;
      if (typeof made !== "function") fail("Eval takes the source of a function");
      return (made as (...args: unknown[]) => unknown)(...args);
    },

    All: (tasks: unknown) => run("All", tasks),
    Any: (tasks: unknown) => run("Any", tasks),
    Race: (tasks: unknown) => run("Race", tasks),

    /** The fields of the identity that are not empty; null if there are none. `ctx.authorized` is a copy of it. */
    Authorized(): unknown {
      const fields = Object.entries(kernel.context.authorized ?? {}).filter(
        ([, value]) => value !== undefined && value !== null && value !== "" && value !== false,
      );
      return fields.length ? (JSON.parse(JSON.stringify(Object.fromEntries(fields))) as unknown) : null;
    },

    /** The translation of a text, or the text itself if there is none. A leading `::` is removed. */
    $L(text: unknown): unknown {
      if (typeof text !== "string") fail("$L takes a string");
      const key = (text as string).replace(/^::/, "");
      try {
        return kernel.host("locale.Translate", [key]) ?? key;
      } catch {
        return key;
      }
    },

    time: {
      Sleep(milliseconds: unknown): null {
        if (milliseconds === undefined) fail("time.Sleep takes milliseconds");
        kernel.sleep(Math.max(0, Number(milliseconds) || 0));
        return null;
      },
      /** Waits, then calls the process. (Yao does not wait.) The result is dropped; an error is logged. */
      After(milliseconds: unknown, process: unknown, ...args: unknown[]): null {
        if (typeof process !== "string") fail("time.After takes milliseconds and a process name");
        kernel.sleep(Math.max(0, Number(milliseconds) || 0));
        try {
          kernel.call(process as string, args);
        } catch (error) {
          kernel.log("error", `time.After: ${process as string}: ${errorText(error)}`);
        }
        return null;
      },
    },

    get Job(): unknown {
      return kernel.part<{ Job: unknown }>("plan").Job;
    },
    get Plan(): unknown {
      return kernel.part<{ Plan: unknown }>("plan").Plan;
    },
    get Trace(): unknown {
      return kernel.part<{ Trace: unknown }>("trace").Trace;
    },
  };
}
