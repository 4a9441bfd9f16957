/**
 * The global names of the Yao runtime. Each call waits for its result.
 *
 * ```ts
 * import { Exception, Process } from "@yao/runtime"; // optional: the names are global
 *
 * export function TestReport(t: testing.T) {
 *   const fs = new FS("data");
 *   t.cleanup(() => fs.Remove("/report.json"));
 *
 *   fs.WriteFile("/report.json", Process("encoding.json.Encode", { total: 3 }));
 *
 *   t.assert.Equal(JSON.parse(fs.ReadFile("/report.json")), { total: 3 });
 *   t.assert.Panic(() => {
 *     throw new Exception("no such report", 404);
 *   });
 * }
 * ```
 *
 * Values cross to the host as JSON: `undefined` in an object disappears, a `Date` becomes text; a `Uint8Array` and an
 * `Error` do not change.
 */

/**
 * Calls a process: a function of the host, of a script (`scripts.<file>.<function>`), of an agent
 * (`agents.<id>.Stream`), or a mock. These work offline: `text`, `encoding`, `json`, `crypto`, `utils`, `fs`, `stores`,
 * `session`, `scripts`, `agents`, and `models` and `schemas` on the database of the test. `http` needs a mock or
 * `--allow-net`, `flows` a mock.
 *
 * @example
 * ```ts
 * t.assert.Equal(Process("encoding.base64.Encode", "hi"), "aGk=");
 *
 * const id = Process<string>("utils.str.UUID");
 * t.assert.Equal(id.length, 36);
 * ```
 *
 * @param name Name of the process. Function names are case sensitive.
 * @param args Its arguments. The identity of `ctx` is passed on too.
 * @returns The result; null if the process returns nothing.
 * @throws {Exception} If the process fails, or does not exist.
 */
declare function Process<T = any>(name: string, ...args: any[]): T;

/** An error with a code, as processes throw it. */
interface Exception extends Error {
  /** What went wrong. */
  message: string;
  /** A status as in HTTP: 400 for a wrong argument, 403, 404, 500. */
  code: number;
  /** `Exception|<code>`. */
  name: string;
}

/**
 * Makes an error with a code.
 *
 * @example
 * ```ts
 * try {
 *   throw new Exception("no such user", 404);
 * } catch (error) {
 *   t.assert.True(error instanceof Error);
 *   t.assert.Equal((error as Exception).code, 404);
 * }
 * ```
 *
 * @param message What went wrong.
 * @param code A status as in HTTP, 500 if not given.
 */
declare var Exception: {
  new (message: string, code?: number): Exception;
  readonly prototype: Exception;
};

/**
 * The identity of the current request, without empty fields. What a script assigns to `ctx` does not change it.
 *
 * @example
 * ```ts
 * ctx.User = null;
 * t.assert.Equal(Authorized()?.user_id, "test-user");
 * ```
 *
 * @returns Null when nobody is logged in.
 */
declare function Authorized(): agent.Authorized | null;

/**
 * Log messages, captured by the test.
 *
 * @example
 * ```ts
 * log.Info("%d of %d done", 1, 3);
 * ```
 */
declare var log: yao.Log;

/**
 * Waiting.
 *
 * @example
 * ```ts
 * const before = Date.now();
 * time.Sleep(10);
 * t.assert.GreaterOrEqual(Date.now() - before, 9);
 * ```
 */
declare var time: yao.Time;

/**
 * HTTP requests. They need a mock, or `--allow-net`. A request that fails does not throw: check `status` or `code`.
 *
 * @example
 * ```ts
 * const api = t.mock.http("POST https://api.example.com/orders", { status: 201, data: { id: 7 } });
 *
 * const result = http.Post("https://api.example.com/orders", { item: "pen" });
 *
 * t.assert.Equal(result.status, 201);
 * t.assert.Equal(result.data, { id: 7 });
 * t.assert.Equal(api.last?.args[0].data, { item: "pen" });
 * ```
 */
declare var http: yao.Http;

/**
 * Translates a text of the application.
 *
 * @param text The text; a leading `::` is removed.
 * @returns The translation for the locale of the request, else the text.
 */
declare function $L(text: string): string;

/**
 * Evaluates a function given as source text and calls it.
 *
 * @example
 * ```ts
 * t.assert.Equal(Eval("(a, b) => a + b", 1, 2), 3);
 * ```
 *
 * @param source The function.
 * @param args Its arguments.
 */
declare function Eval<T = any>(source: string, ...args: any[]): T;

/**
 * Makes an object, passes it to a function and releases it, even if that throws.
 *
 * @example
 * ```ts
 * const exists = Use(FS, "data", (fs) => fs.Exists("/no-such-file"));
 * t.assert.False(exists);
 * ```
 *
 * @param Class The class.
 * @param callback The last argument, after those of the constructor.
 * @returns The result; if it is a promise, the object is released when that is settled.
 */
declare function Use<I, R>(Class: new (...args: any[]) => I, callback: (instance: I) => R): R;
declare function Use<I, R>(Class: new (...args: any[]) => I, arg: any, callback: (instance: I) => R): R;
declare function Use<I, R>(Class: new (...args: any[]) => I, arg1: any, arg2: any, callback: (instance: I) => R): R;

/**
 * Runs several processes, in tests one after another.
 *
 * @example
 * ```ts
 * const results = All([
 *   { process: "encoding.hex.Encode", args: ["a"] },
 *   { process: "no.such.process" },
 * ]);
 * t.assert.Equal(results[0]?.data, "61");
 * t.assert.Error(results[1]?.error);
 * ```
 *
 * @param tasks The processes.
 * @returns One item per task, in that order.
 */
declare function All(tasks: yao.Task[]): yao.TaskResult[];

/**
 * Runs several processes until one succeeds.
 *
 * @param tasks The processes.
 * @returns One item per task; `data` is null for those not finished.
 */
declare function Any(tasks: yao.Task[]): yao.TaskResult[];

/**
 * Runs several processes until one ends, with or without success.
 *
 * @param tasks The processes.
 * @returns One item per task; `data` is null for those not finished.
 */
declare function Race(tasks: yao.Task[]): yao.TaskResult[];

/**
 * Files of one volume. Paths are rooted in it: `/a/b.txt` and `a/b.txt` are the same file, and nothing outside can be
 * reached.
 *
 * A method throws if it fails, unless noted otherwise.
 */
interface FS {
  /**
   * Whether there is a file or folder.
   *
   * @param path Its path.
   */
  Exists(path: string): boolean;

  /**
   * Whether there is a folder.
   *
   * @param path Its path.
   */
  IsDir(path: string): boolean;

  /**
   * Whether there is a file.
   *
   * @param path Its path.
   */
  IsFile(path: string): boolean;

  /**
   * Whether there is a symbolic link.
   *
   * @param path Its path.
   */
  IsLink(path: string): boolean;

  /**
   * Reads a file as UTF-8 text.
   *
   * @param path Its path.
   */
  ReadFile(path: string): string;

  /**
   * Reads a file as bytes.
   *
   * @param path Its path.
   */
  ReadFileBuffer(path: string): Uint8Array;

  /**
   * Reads a file as base64 text.
   *
   * @param path Its path.
   */
  ReadFileBase64(path: string): string;

  /**
   * Opens a file to read it in parts.
   *
   * @param path Its path.
   */
  ReadCloser(path: string): yao.Reader;

  /**
   * Writes a file, and makes the folders above it.
   *
   * @example
   * ```ts
   * const fs = new FS("data");
   * t.cleanup(() => fs.RemoveAll("/notes"));
   *
   * t.assert.Equal(fs.WriteFile("/notes/today.txt", "milk"), 4);
   * t.assert.Equal(fs.ReadFile("/notes/today.txt"), "milk");
   * t.assert.Equal(fs.ReadDir("/notes"), ["/notes/today.txt"]);
   * ```
   *
   * @param path Its path.
   * @param text The text.
   * @param perm Permissions, as `0o644`.
   * @returns The number of bytes written.
   */
  WriteFile(path: string, text: string, perm?: number): number;

  /**
   * As `WriteFile`, with bytes.
   *
   * @param path Its path.
   * @param bytes The bytes.
   * @param perm Permissions, as `0o644`.
   * @returns The number of bytes written.
   */
  WriteFileBuffer(path: string, bytes: Uint8Array, perm?: number): number;

  /**
   * As `WriteFile`, bytes given as base64.
   *
   * @param path Its path.
   * @param base64 The bytes.
   * @param perm Permissions, as `0o644`.
   * @returns The number of bytes written.
   */
  WriteFileBase64(path: string, base64: string, perm?: number): number;

  /**
   * Appends text.
   *
   * @param path Its path.
   * @param text The text.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  AppendFile(path: string, text: string, perm?: number): number;

  /**
   * Appends bytes.
   *
   * @param path Its path.
   * @param bytes The bytes.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  AppendBuffer(path: string, bytes: Uint8Array, perm?: number): number;

  /**
   * Appends bytes given as base64.
   *
   * @param path Its path.
   * @param base64 The bytes.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  AppendBase64(path: string, base64: string, perm?: number): number;

  /**
   * Inserts text.
   *
   * @param path Its path.
   * @param offset Where, in bytes from the beginning.
   * @param text The text.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  InsertFile(path: string, offset: number, text: string, perm?: number): number;

  /**
   * Inserts bytes.
   *
   * @param path Its path.
   * @param offset Where, in bytes from the beginning.
   * @param bytes The bytes.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  InsertBuffer(path: string, offset: number, bytes: Uint8Array, perm?: number): number;

  /**
   * Inserts bytes given as base64.
   *
   * @param path Its path.
   * @param offset Where, in bytes from the beginning.
   * @param base64 The bytes.
   * @param perm Permissions of a new file, as `0o644`.
   * @returns The number of bytes written.
   */
  InsertBase64(path: string, offset: number, base64: string, perm?: number): number;

  /**
   * Removes a file or an empty folder. If it does not exist, this is no error.
   *
   * @param path Its path.
   */
  Remove(path: string): void;

  /**
   * Removes a file, or a folder with everything in it. If it does not exist, this is no error.
   *
   * @param path Its path.
   */
  RemoveAll(path: string): void;

  /**
   * Opens a file to offer it as a download.
   *
   * @param path Its path.
   * @returns Its MIME type and its content.
   */
  Download(path: string): { type: string; content: yao.Reader };

  /**
   * Lists a folder.
   *
   * @param dir Its path.
   * @param recursive Whether files in the folders below are listed too.
   * @returns Full paths within the volume.
   */
  ReadDir(dir: string, recursive?: boolean): string[];

  /**
   * Makes a folder in one that exists.
   *
   * @param path Its path.
   * @param perm Permissions, as `0o755`.
   */
  Mkdir(path: string, perm?: number): void;

  /**
   * Makes a folder and those above it.
   *
   * @param path Its path.
   * @param perm Permissions, as `0o755`.
   */
  MkdirAll(path: string, perm?: number): void;

  /**
   * Makes a folder with a new name.
   *
   * @param dir The folder above it. If not given, one of this run in `/tmp`, which is removed with all it holds when
   *   the
   *   run ends.
   * @param pattern Its name; a unique text replaces `*`, or is added at the end.
   * @param perm Permissions, as `0o755`.
   * @returns Its path.
   */
  MkdirTemp(dir?: string, pattern?: string, perm?: number): string;

  /**
   * Changes permissions.
   *
   * @param path Path of a file or folder.
   * @param perm Permissions, as `0o644`.
   */
  Chmod(path: string, perm: number): void;

  /**
   * The last part of a path.
   *
   * @param path The path, which need not exist.
   */
  BaseName(path: string): string;

  /**
   * A path without its last part.
   *
   * @param path The path, which need not exist.
   */
  DirName(path: string): string;

  /**
   * The extension of a path, with its dot: `.txt`.
   *
   * @param path The path, which need not exist.
   */
  ExtName(path: string): string;

  /**
   * The MIME type of a file.
   *
   * @param path Its path.
   */
  MimeType(path: string): string;

  /**
   * The permissions of a file or folder.
   *
   * @param path Its path.
   */
  Mode(path: string): number;

  /**
   * The size of a file in bytes.
   *
   * @param path Its path.
   */
  Size(path: string): number;

  /**
   * The time of the last change of a file, in seconds since 1970.
   *
   * @param path Its path.
   */
  ModTime(path: string): number;

  /**
   * Moves a file or folder. Missing folders are created.
   *
   * @param from Its path.
   * @param to Its new path.
   */
  Move(from: string, to: string): void;

  /**
   * Copies a file or folder.
   *
   * @param from Its path.
   * @param to Path of the copy.
   */
  Copy(from: string, to: string): void;

  /**
   * Appends one file to another and removes it.
   *
   * @param from Its path.
   * @param to Path of the other file.
   */
  MoveAppend(from: string, to: string): void;

  /**
   * Inserts one file into another and removes it.
   *
   * @param from Its path.
   * @param to Path of the other file.
   * @param offset Where, in bytes from the beginning.
   */
  MoveInsert(from: string, to: string, offset: number): void;

  /**
   * The path from the root of the volume: `/a/b.txt` for `a/b.txt`.
   *
   * @param path The path, which need not exist.
   */
  Abs(path: string): string;

  /**
   * Packs a file or folder into a ZIP archive.
   *
   * @param from Its path.
   * @param to Path of the archive.
   */
  Zip(from: string, to: string): void;

  /**
   * Unpacks a ZIP archive.
   *
   * @param from Its path.
   * @param to Folder for its files.
   * @returns Paths of the files.
   */
  Unzip(from: string, to: string): string[];

  /**
   * Finds files by pattern.
   *
   * @param pattern A path; `*` and `?` match within a name, `**` any folders.
   * @returns Paths within the volume.
   */
  Glob(pattern: string): string[];
}

/**
 * Opens a volume.
 *
 * @param name `data` (default) or `system`: the folder `data` of the application; `app`, `seed`, `dsl`, `script`: parts
 *   of it, only for reading in tests.
 */
declare var FS: {
  new (name?: string): FS;
  readonly prototype: FS;
};

/**
 * Values by key, as JSON copies. In a test, a store needs no configuration, and is empty at first.
 */
interface Store {
  /**
   * Gives a value.
   *
   * @param key Its key.
   * @returns The value, undefined if there is none.
   */
  Get(key: string): any;

  /**
   * Stores a value.
   *
   * @example
   * ```ts
   * const store = new Store("cache");
   * store.Set("rate", 1.1, 60);
   * t.assert.Equal(store.Get("rate"), 1.1);
   * t.assert.Nil(store.Get("other"));
   * ```
   *
   * @param key Its key.
   * @param value Any JSON value.
   * @param ttl Seconds until it is removed.
   */
  Set(key: string, value: any, ttl?: number): void;

  /**
   * Returns a value; if there is none, makes and stores it.
   *
   * @param key Its key.
   * @param make Called with the key to make the value.
   * @param ttl Seconds until it is removed.
   */
  GetSet(key: string, make: (key: string) => any, ttl?: number): any;

  /**
   * Gives a value and removes it.
   *
   * @param key Its key.
   * @returns The value, undefined if there was none.
   */
  GetDel(key: string): any;

  /**
   * Whether there is a value.
   *
   * @param key Its key.
   */
  Has(key: string): boolean;

  /**
   * Removes a value. A missing key is no error.
   *
   * @param key Its key; `*` stands for any characters.
   */
  Del(key: string): void;

  /** All keys. */
  Keys(): string[];

  /** The number of keys. */
  Len(): number;

  /** Removes all values. */
  Clear(): void;

  /**
   * Appends to a list, and creates the list if it does not exist.
   *
   * @example
   * ```ts
   * const store = new Store("queue");
   * store.Push("jobs", "a", "b", "c");
   * t.assert.Equal(store.Pop("jobs", -1), "a");
   * t.assert.Equal(store.ArrayAll("jobs"), ["b", "c"]);
   * ```
   *
   * @param key Its key.
   * @param values The new elements.
   */
  Push(key: string, ...values: any[]): void;

  /**
   * Removes an element from one end of a list.
   *
   * @param key Its key.
   * @param position 1 for the last element, -1 for the first.
   * @returns The element, undefined if there was none.
   */
  Pop(key: string, position: number): any;

  /**
   * Removes a value from a list.
   *
   * @param key Its key.
   * @param value The value.
   */
  Pull(key: string, value: any): void;

  /**
   * Removes values from a list.
   *
   * @param key Its key.
   * @param values The values.
   */
  PullAll(key: string, values: any[]): void;

  /**
   * Appends only values that the list does not have yet.
   *
   * @param key Its key.
   * @param values The values.
   */
  AddToSet(key: string, values: any[]): void;

  /**
   * The length of a list, 0 if it does not exist.
   *
   * @param key Its key.
   */
  ArrayLen(key: string): number;

  /**
   * One element of a list.
   *
   * @param key Its key.
   * @param index From 0.
   */
  ArrayGet(key: string, index: number): any;

  /**
   * Replaces one element of a list. Throws if the list has no such element.
   *
   * @param key Its key.
   * @param index From 0.
   * @param value The new element.
   */
  ArraySet(key: string, index: number, value: any): void;

  /**
   * Part of a list.
   *
   * @param key Its key.
   * @param skip How many elements to leave out.
   * @param limit How many elements at most.
   */
  ArraySlice(key: string, skip: number, limit: number): any[];

  /**
   * One page of a list.
   *
   * @param key Its key.
   * @param page From 1.
   * @param size Elements per page.
   */
  ArrayPage(key: string, page: number, size: number): any[];

  /**
   * All elements of a list, `[]` if it does not exist.
   *
   * @param key Its key.
   */
  ArrayAll(key: string): any[];
}

/**
 * Opens a store.
 *
 * @param id Its id.
 */
declare var Store: {
  new (id: string): Store;
  readonly prototype: Store;
};

/**
 * Queries in Yao's query language, on the tables of the application's models. A mock of `query.<engine>.<method>` takes
 * precedence.
 *
 * @example
 * ```ts
 * const query = t.mock.process("query.default.Get", [{ id: 1, name: "Ann" }]);
 *
 * const users = new Query().Get({ select: ["id", "name"], from: "user" });
 *
 * t.assert.Equal(users, [{ id: 1, name: "Ann" }]);
 * t.assert.JSONPath(query.calls[0]?.args[0], "from", "user");
 * ```
 */
interface Query {
  /**
   * All records.
   *
   * @param query The query.
   */
  Get(query: yao.QueryDSL): any[];

  /**
   * The first record.
   *
   * @param query The query.
   */
  First(query: yao.QueryDSL): any;

  /**
   * One page of records.
   *
   * @param query The query, with `page` from 1 and `pagesize`.
   */
  Paginate(query: yao.QueryDSL): yao.Page;

  /**
   * Runs a statement.
   *
   * @param query The query, with `sql: { stmt, args }`.
   */
  Run(query: yao.QueryDSL): any;

  /**
   * Checks a query and says what is wrong with it.
   *
   * @param query The query, also as text.
   */
  Lint(query: yao.QueryDSL | string): any;

  /** The JSON Schema of queries. */
  Schema(): any;

  /**
   * Checks a query against the schema.
   *
   * @param query The query.
   */
  Validate(query: yao.QueryDSL): any;
}

/**
 * Opens a query engine.
 *
 * @param engine Its id, `default` if not given.
 */
declare var Query: {
  new (engine?: string): Query;
  readonly prototype: Query;
};

/**
 * Computers on nodes of Yao: each call throws, unless a mock of the process `sandbox.Create`, or of its name, answers.
 * Agents with `sandbox.yao` have `ctx.computer`.
 */
declare var sandbox: yao.Sandboxes;

/**
 * Folders on nodes of Yao: each call throws, unless a mock of the process `workspace.Create`, or of its name, answers.
 * Agents with `sandbox.yao` have `ctx.workspace`.
 */
declare var workspace: yao.Workspaces;

/** A process that runs in the background. In tests, it runs before the constructor returns. */
interface Job {
  /**
   * Waits until the process has ended.
   *
   * @param callback Called repeatedly while the process runs; never in tests.
   */
  Pending(callback: () => void): void;

  /** The result of the process; null if it failed. */
  Data(): any;

  /** Stops the process if it is still running. */
  Cancel(): void;
}

/**
 * Starts a process in the background.
 *
 * @example
 * ```ts
 * const job = new Job("encoding.hex.Encode", "a");
 * job.Pending(() => time.Sleep(1));
 * t.assert.Equal(job.Data(), "61");
 * ```
 *
 * @param process Name of the process.
 * @param args Its arguments.
 */
declare var Job: {
  new (process: string, ...args: any[]): Job;
  readonly prototype: Job;
};

/**
 * Tasks with an order, and values that they share. Tasks of the same order run in parallel; in tests one after another.
 * Plans with the same id share their tasks and values.
 *
 * @example
 * ```ts
 * const plan = new Plan("report");
 * plan.Add("collect", 1, (planId, taskId) => [1, 2, 3]);
 * plan.Add("encode", 2, "encoding.json.Encode", { total: 6 });
 * plan.Run();
 *
 * t.assert.Equal(plan.Results(), { collect: [1, 2, 3], encode: '{"total":6}' });
 * t.assert.Equal(plan.TaskStatus("encode"), "completed");
 * ```
 */
interface Plan {
  /**
   * Adds a task.
   *
   * @param task Its id.
   * @param order Its order; lower numbers run first.
   * @param work Name of a process, called with `args`; or a function, called with the ids of the plan and the task,
   *   then `args`.
   * @param args Arguments.
   */
  Add(
    task: string,
    order: number,
    work: string | ((plan: string, task: string, ...args: any[]) => any),
    ...args: any[]
  ): void;

  /** Runs all tasks and waits for them. If one fails, tasks of a higher order do not run, and its error is thrown. */
  Run(): void;

  /** Of the plan and each task: `created`, `running`, `completed`, `failed` and others. */
  Status(): { plan: string; tasks: Record<string, string> };

  /**
   * The state of a task.
   *
   * @param task Its id.
   */
  TaskStatus(task: string): string;

  /**
   * The result of a task; if it failed, the text of its error.
   *
   * @param task Its id.
   * @param data Put in its place, if given.
   */
  TaskData(task: string, data?: any): any;

  /** The results of all tasks, by id. */
  Results(): Record<string, any>;

  /**
   * Watches a shared value, or the tasks.
   *
   * @param key Its key; or `TaskStarted`, `TaskCompleted` or `TaskError`.
   * @param handler Name of a process, or a function, called with the id of the plan, the key, the value and `args`.
   * @param args Further arguments for it.
   */
  Subscribe(
    key: string,
    handler: string | ((plan: string, key: string, value: any, ...args: any[]) => void),
    ...args: any[]
  ): void;

  /**
   * Shares a value among the tasks.
   *
   * @param key Its key.
   * @param value Any value.
   */
  Set(key: string, value: any): void;

  /**
   * Returns a shared value. Throws if there is none.
   *
   * @param key Its key.
   */
  Get(key: string): any;

  /**
   * Removes a shared value.
   *
   * @param key Its key.
   */
  Del(key: string): void;

  /** Removes all shared values. */
  Clear(): void;

  /** Frees what the plan holds. */
  Release(): void;
}

/**
 * Opens a plan.
 *
 * @param id Its id.
 */
declare var Plan: {
  new (id: string): Plan;
  readonly prototype: Plan;
};

/** An MCP server. Results are as the server sends them, unlike those of `ctx.mcp`. */
interface MCP {
  /** Id of the server. */
  readonly id: string;

  /** What the server says of itself. */
  Info(): any;

  /**
   * Lists its tools.
   *
   * @param cursor Where to continue: `nextCursor` of the list before.
   */
  ListTools(cursor?: string): agent.MCPTools;

  /**
   * Calls a tool.
   *
   * @param name Its name.
   * @param args Its arguments.
   * @returns Contents as `{ type: "text", text }`; a tool that throws sets `isError`.
   */
  CallTool(name: string, args?: Record<string, any>): yao.MCPResponse;

  /**
   * One after another.
   *
   * @param calls The calls.
   * @returns One item per call, in that order.
   */
  CallTools(calls: agent.MCPCall[]): { results: yao.MCPResponse[] };

  /**
   * Calls several tools at once.
   *
   * @param calls The calls.
   * @returns One item per call, in that order.
   */
  CallToolsParallel(calls: agent.MCPCall[]): { results: yao.MCPResponse[] };

  /**
   * Lists its resources.
   *
   * @param cursor Where to continue: `nextCursor` of the list before.
   */
  ListResources(cursor?: string): agent.MCPResources;

  /**
   * Reads a resource.
   *
   * @param uri Its address.
   */
  ReadResource(uri: string): agent.MCPContents;

  /**
   * Lists its prompts.
   *
   * @param cursor Where to continue: `nextCursor` of the list before.
   */
  ListPrompts(cursor?: string): agent.MCPPrompts;

  /**
   * Fills in a prompt.
   *
   * @param name Its name.
   * @param args Values of its variables.
   */
  GetPrompt(name: string, args?: Record<string, any>): agent.MCPPrompt;

  /**
   * Lists examples of calls.
   *
   * @param type Of what.
   * @param name Name of the tool or resource.
   */
  ListSamples(type: "tool" | "resource", name: string): agent.MCPSamples;

  /**
   * Gives one example of a call.
   *
   * @param type Of what.
   * @param name Name of the tool or resource.
   * @param index Its place, from 0.
   */
  GetSample(type: "tool" | "resource", name: string, index: number): agent.MCPSample;

  /** Frees what the client holds. */
  Release(): void;
}

/**
 * Opens an MCP server of the application.
 *
 * @param id Its id.
 */
declare var MCP: {
  new (id: string): MCP;
  readonly prototype: MCP;
};

/** A separate trace, with the members of `ctx.trace`. */
interface Trace extends agent.Trace {}

/**
 * Opens a trace.
 *
 * @param options `driver`, `id` and others.
 */
declare var Trace: {
  new (options?: Record<string, any>): Trace;
  readonly prototype: Trace;
};

/**
 * A client of a web socket. In a test, mock the process `websocket.Push`. With `"lib": ["dom"]` the browser's own
 * members are declared as well.
 *
 * @example
 * ```ts
 * const pushed = t.mock.process("websocket.Push");
 * new WebSocket("ws://localhost:5099/live").push("hello");
 * t.assert.Equal(pushed.calls[0]?.args, ["ws://localhost:5099/live", "hello"]);
 * ```
 */
interface WebSocket {
  /**
   * Sends a text.
   *
   * @param text The text.
   */
  push(text: string): void;
}

/**
 * Opens a web socket.
 *
 * @param url Its address.
 * @param protocols Names of protocols.
 */
declare var WebSocket: typeof globalThis extends { onmessage: any; WebSocket: infer W }
  ? W
  : {
      new (url: string, ...protocols: string[]): WebSocket;
      readonly prototype: WebSocket;
    };

/** Types that belong to the global names. */
declare namespace yao {
  /** The global `log`. Each method replaces `%s`, `%d`, `%v` and the like by values. */
  interface Log {
    /**
     * Logs at the lowest level.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Trace(message: any, ...args: any[]): void;

    /**
     * Logs at debug level.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Debug(message: any, ...args: any[]): void;

    /**
     * Logs at info level.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Info(message: any, ...args: any[]): void;

    /**
     * Logs at warning level.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Warn(message: any, ...args: any[]): void;

    /**
     * Logs at error level. Does not fail the test.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Error(message: any, ...args: any[]): void;

    /**
     * Logs at error level. Does not stop the script.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Fatal(message: any, ...args: any[]): void;

    /**
     * Logs at error level and throws.
     *
     * @param message The text.
     * @param args What is filled in.
     */
    Panic(message: any, ...args: any[]): never;
  }

  /** The global `time`. */
  interface Time {
    /**
     * Waits. Timers do not run during this time.
     *
     * @param ms Milliseconds.
     */
    Sleep(ms: number): void;

    /**
     * Calls a process later, while the script continues. In tests it waits, and calls the process before it returns.
     * What the process throws is logged.
     *
     * @param ms Milliseconds from now.
     * @param process Name of the process.
     * @param args Its arguments.
     */
    After(ms: number, process: string, ...args: any[]): void;
  }

  /** One process among several. */
  interface Task {
    /** Name of the process. */
    process: string;
    /** Its arguments. */
    args?: any[];
    /** Timeout in seconds; has no effect in tests. */
    timeout?: number;
  }

  /** What came of a task. */
  interface TaskResult {
    /** Place of the task, from 0. */
    index: number;
    /** The result. */
    data?: any;
    /** Why the process failed. */
    error?: string;
  }

  /** Query values or headers: an object, text such as `a=1&b=2`, or a list of either. */
  type HttpValues = Record<string, any> | string | (Record<string, any> | string)[];

  /** What came of a request. */
  interface HttpResult {
    /** 0 if the connection failed. */
    status: number;
    /** The same as `status`. */
    code: number;
    /** The body: parsed if it is JSON, otherwise as base64 text. */
    data: any;
    /** Each may have several values. */
    headers: Record<string, string[]>;
    /** Why the connection failed, or the field `message` of a JSON body; otherwise empty. */
    message: string;
  }

  /** The content of a file, read in parts. */
  interface Reader {
    /**
     * Reads on.
     *
     * @param size Maximum number of bytes; by default all that are left.
     * @returns Null at the end.
     */
    read(size?: number): Uint8Array | null;

    /** Ends reading. */
    close(): void;
  }

  /** The global `http`. */
  interface Http {
    /**
     * A GET request.
     *
     * @param url Address.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Get(url: string, query?: HttpValues | null, headers?: HttpValues | null): HttpResult;

    /**
     * A POST request, as JSON unless a header says otherwise.
     *
     * @param url Address.
     * @param payload The body.
     * @param files Files to send along as a multipart form: name of the field to path in the volume `data`.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Post(
      url: string,
      payload?: any,
      files?: Record<string, string> | null,
      query?: HttpValues | null,
      headers?: HttpValues | null,
    ): HttpResult;

    /**
     * As `Post`.
     *
     * @param url Address.
     * @param payload The body.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Put(url: string, payload?: any, query?: HttpValues | null, headers?: HttpValues | null): HttpResult;

    /**
     * As `Post`.
     *
     * @param url Address.
     * @param payload The body.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Patch(url: string, payload?: any, query?: HttpValues | null, headers?: HttpValues | null): HttpResult;

    /**
     * As `Post`.
     *
     * @param url Address.
     * @param payload The body.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Delete(url: string, payload?: any, query?: HttpValues | null, headers?: HttpValues | null): HttpResult;

    /**
     * A request of any method.
     *
     * @param method `GET`, `POST` and others.
     * @param url Address.
     * @param payload The body.
     * @param query Query values, added to those in the address.
     * @param headers Request headers; without a content type, the body is sent as text.
     * @param files Files to send along as a multipart form; `data` is base64.
     */
    Send(
      method: string,
      url: string,
      payload?: any,
      query?: HttpValues | null,
      headers?: HttpValues | null,
      files?: { name: string; path: string; data: string }[] | null,
    ): HttpResult;

    /**
     * A request whose answer is read line by line.
     *
     * @param method `GET`, `POST` and others.
     * @param url Address.
     * @param callback Called with each line; returns 1 to continue, 0 to stop, -1 to abort.
     * @param payload The body.
     * @param query Query values, added to those in the address.
     * @param headers Request headers.
     */
    Stream(
      method: string,
      url: string,
      callback: (line: string) => number | void,
      payload?: any,
      query?: HttpValues | null,
      headers?: HttpValues | null,
    ): HttpResult;
  }

  /**
   * A query: `select`, `from`, `wheres`, `orders`, `groups`, `joins`, `limit`, `page`, `pagesize`, `sql` and others.
   */
  type QueryDSL = Record<string, any>;

  /** Methods of the global `sandbox`. */
  type Sandboxes = Record<"Create" | "Get" | "List" | "Delete" | "Host" | "GetNode" | "Nodes" | "NodesByTeam", (...args: any[]) => any>;

  /** Methods of the global `workspace`. */
  type Workspaces = Record<"Create" | "Get" | "List" | "Delete", (...args: any[]) => any>;

  /** One page of records. */
  interface Page {
    /** The records. */
    items: any[];
    /** Records on all pages. */
    total: number;
    /** From 1. */
    page: number;
    /** Records per page. */
    pagesize: number;
    /** Number of pages. */
    pagecnt: number;
    /** -1 on the last page. */
    next: number;
    /** -1 on the first page. */
    prev: number;
  }

  /** Result of a tool, as an MCP server sends it. */
  interface MCPResponse {
    /** Its contents. */
    content: { type: string; text?: string; data?: string; mimeType?: string; [field: string]: any }[];
    /** Whether the tool failed. */
    isError?: boolean;
  }
}

/**
 * The same names for `import`. Such imports are dropped when a script is loaded: the names are global.
 *
 * ```ts
 * import { agent, Process, testing } from "@yao/runtime";
 *
 * export function TestImported(t: testing.T, ctx: agent.Context) {
 *   t.assert.Type(Process, "function");
 * }
 * ```
 */
declare module "@yao/runtime" {
  export import $L = globalThis.$L;
  export import agent = globalThis.agent;
  export import All = globalThis.All;
  export import Any = globalThis.Any;
  export import atob = globalThis.atob;
  export import Authorized = globalThis.Authorized;
  export import btoa = globalThis.btoa;
  export import console = globalThis.console;
  export import Eval = globalThis.Eval;
  export import Exception = globalThis.Exception;
  export import FS = globalThis.FS;
  export import http = globalThis.http;
  export import Job = globalThis.Job;
  export import log = globalThis.log;
  export import MCP = globalThis.MCP;
  export import Plan = globalThis.Plan;
  export import Process = globalThis.Process;
  export import Query = globalThis.Query;
  export import Race = globalThis.Race;
  export import sandbox = globalThis.sandbox;
  export import Store = globalThis.Store;
  export import testing = globalThis.testing;
  export import time = globalThis.time;
  export import Trace = globalThis.Trace;
  export import Use = globalThis.Use;
  export import WebSocket = globalThis.WebSocket;
  export import workspace = globalThis.workspace;
  export import yao = globalThis.yao;

  /** The context of a request. */
  export type Context = globalThis.agent.Context;
  /** Part of a message. */
  export type ContentPart = globalThis.agent.ContentPart;
  /** What a `Create` hook returns. */
  export type CreateResult = globalThis.agent.CreateResult;
  /** A message of a conversation. */
  export type Message = globalThis.agent.Message;
  /** What a `Next` hook is given. */
  export type NextPayload = globalThis.agent.NextPayload;
  /** What a `Next` hook returns. */
  export type NextResult = globalThis.agent.NextResult;
  /** Options of a call of an agent. */
  export type Options = globalThis.agent.Options;
  /** The test that is running. */
  export type TestingT = globalThis.testing.T;
}

// Other module names that stand for the global names.
declare module "@yao*" {
  export * from "@yao/runtime";
}
declare module "@gou*" {
  export * from "@yao/runtime";
}
declare module "*/yao" {
  export * from "@yao/runtime";
}
declare module "*/yao.ts" {
  export * from "@yao/runtime";
}
declare module "*/gou" {
  export * from "@yao/runtime";
}
declare module "*/gou.ts" {
  export * from "@yao/runtime";
}
