/** `Job` and `Plan`: Yao runs them in the background; here they run at once. */

import { copy } from "../copy";
import { errorText } from "../error-text";
import type { Kernel } from "../kernel";

type Work = string | ((...args: unknown[]) => unknown);

interface Task {
  order: number;
  status: string;
  data: unknown;
  run: () => unknown;
}

interface State {
  status: string;
  tasks: Map<string, Task>;
  values: Map<string, unknown>;
  subscribers: Map<string, ((value: unknown) => void)[]>;
}

const reserved = ["TaskCompleted", "TaskError", "TaskStarted", "Released"];

export default function (kernel: Kernel) {
  const fail = (text: string, code = 400): never => {
    throw new kernel.Exception(text, code);
  };
  const isWork = (value: unknown): value is Work => typeof value === "string" || typeof value === "function";
  const plans = new Map<string, State>();
  let jobs = 0;

  function state(id: string): State {
    let found = plans.get(id);
    if (!found)
      plans.set(id, (found = { status: "created", tasks: new Map(), values: new Map(), subscribers: new Map() }));
    return found;
  }

  function notify(plan: State, key: string, value: unknown): void {
    for (const heard of plan.subscribers.get(key) ?? []) heard(value);
  }

  function task(plan: State, id: unknown): Task {
    return plan.tasks.get(String(id)) ?? fail(`The plan has no task ${JSON.stringify(id)}`, 404);
  }

  return {
    /** Runs a process. It has ended when the constructor returns. */
    Job: class {
      id: string;
      #data: unknown = null;

      constructor(process: unknown, ...args: unknown[]) {
        if (typeof process !== "string") fail("Job takes the name of a process");
        this.id = "job-" + ++jobs;
        try {
          this.#data = kernel.call(process as string, args) ?? null;
        } catch (error) {
          // as in Yao, a failed job has no data and does not throw
          kernel.log("warn", `Job ${process as string} failed: ${errorText(error)}`);
        }
      }

      /** Takes a callback that Yao calls while the job runs. Here it is never called. */
      Pending(callback: unknown): void {
        if (typeof callback !== "function") fail("Pending takes a function");
      }

      /** What the process returned; null if it failed. */
      Data(): unknown {
        return this.#data;
      }

      Cancel(): void {}
    },

    /**
     * Tasks in groups. Groups with a lower `order` run first; in a group, tasks run in the order in which they were added.
     * Plans with the same id share their state. A task that is a function is called with `(plan id, task id, ...args)`.
     */
    Plan: class {
      id: string;

      constructor(id: unknown) {
        if (typeof id !== "string") fail("Plan takes an id");
        this.id = id as string;
        state(this.id);
      }

      Add(id: unknown, order: unknown, work: unknown, ...args: unknown[]): this {
        if (typeof id !== "string" || typeof order !== "number" || !isWork(work))
          fail("Add takes (task id, order, process or function, ...args)");
        const plan = state(this.id);
        if (plan.tasks.has(id as string)) fail(`The plan has a task ${JSON.stringify(id)} already`);
        const run = () =>
          typeof work === "function"
            ? (work as (...args: unknown[]) => unknown)(this.id, id, ...args)
            : kernel.call(work as string, args);
        plan.tasks.set(id as string, { order: order as number, status: "created", data: null, run });
        return this;
      }

      /** Runs all tasks. If one fails, the groups after it do not run, and its error is thrown. */
      Run(): this {
        const plan = state(this.id);
        if (plan.status === "running") fail("The plan is already running");
        plan.status = "running";
        const tasks = [...plan.tasks].sort(([, a], [, b]) => a.order - b.order);
        let failed: Error | undefined;
        let order: number | undefined;
        for (const [id, item] of tasks) {
          if (failed && item.order !== order) break;
          order = item.order;
          item.status = "running";
          notify(plan, "TaskStarted", { task: id });
          try {
            item.data = item.run() ?? null;
            item.status = "completed";
          } catch (error) {
            item.status = "failed";
            plan.status = "failed";
            const message = errorText(error);
            item.data = message;
            failed ??= error as Error;
            notify(plan, "TaskError", { task: id, message });
            continue;
          }
          notify(plan, "TaskCompleted", { task: id, result: item.data });
        }
        if (failed) throw failed;
        plan.status = "completed";
        return this;
      }

      /** `{plan, tasks}`: the status of the plan, and of each task by its id: created, running, completed or failed. */
      Status(): object {
        const plan = state(this.id);
        return { plan: plan.status, tasks: Object.fromEntries([...plan.tasks].map(([id, item]) => [id, item.status])) };
      }

      TaskStatus(id: unknown): string {
        return task(state(this.id), id).status;
      }

      /** What a task returned, or its error message. With a second argument, sets it. */
      TaskData(id: unknown, data?: unknown): unknown {
        const item = task(state(this.id), id);
        if (arguments.length < 2) return item.data;
        item.data = data;
        return null;
      }

      /** Task id → what the task returned. */
      Results(): object {
        return Object.fromEntries([...state(this.id).tasks].map(([id, item]) => [id, item.data]));
      }

      /**
       * Calls a process or function with `(plan id, key, value, ...args)` whenever `Set`, `Del` or `Clear` changes the key.
       * The keys TaskStarted, TaskCompleted and TaskError stand for events of tasks.
       */
      Subscribe(key: unknown, work: unknown, ...args: unknown[]): null {
        if (typeof key !== "string" || !isWork(work)) fail("Subscribe takes (key, process or function, ...args)");
        const { subscribers } = state(this.id);
        const heard = (value: unknown) => {
          const list = [this.id, key, copy(value), ...args];
          if (typeof work === "function") (work as (...args: unknown[]) => unknown)(...list);
          else kernel.call(work as string, list);
        };
        subscribers.set(key as string, [...(subscribers.get(key as string) ?? []), heard]);
        return null;
      }

      Set(key: unknown, value: unknown): null {
        if (reserved.includes(String(key))) fail(`The key ${JSON.stringify(key)} is reserved`);
        const plan = state(this.id);
        plan.values.set(String(key), copy(value));
        notify(plan, String(key), value);
        return null;
      }

      Get(key: unknown): unknown {
        const { values } = state(this.id);
        return values.has(String(key))
          ? copy(values.get(String(key)))
          : fail(`The plan has no key ${JSON.stringify(key)}`, 404);
      }

      Del(key: unknown): null {
        const plan = state(this.id);
        plan.values.delete(String(key));
        notify(plan, String(key), null);
        return null;
      }

      Clear(): null {
        const plan = state(this.id);
        plan.values.clear();
        for (const key of plan.subscribers.keys()) notify(plan, key, null);
        return null;
      }

      Release(): null {
        plans.delete(this.id);
        return null;
      }

      __release(): void {
        this.Release();
      }
    },
  };
}
