/**
 * Script tests: functions named `Test...` in `<module>_test.ts`, each run in a JavaScript realm of its own.
 *
 * ```ts
 * // assistants/expense/src/setup_test.ts
 * export function TestSystemReady(t: testing.T, ctx: agent.Context) {
 *   const { assert } = t;
 *   t.mock.process("models.setting.Get", { ready: true });
 *
 *   const setting = Process("models.setting.Get", "system");
 *
 *   assert.True(setting.ready, "the system should be ready");
 *   assert.Equal(ctx.User.ID, "test-user");
 * }
 *
 * export async function TestLater(t: testing.T) {
 *   const value = await new Promise<number>((resolve) => setTimeout(() => resolve(42), 10));
 *   t.assert.Equal(value, 42);
 * }
 * ```
 *
 * A test fails if an assertion fails, if it throws, or if a promise is rejected and nobody handles that. This includes
 * work that is still unfinished when the test function has ended. A test may be `async`, and may be a `const` that
 * holds a function.
 *
 * Functions `Fuzz...` are tests with many inputs, see `testing.F`. Functions `Benchmark...` are measured, see
 * `testing.B`.
 *
 * A test file may also declare the following functions, which are not tests. Each may be `async`. No state is shared
 * between tests, so all of them run for every test, in the realm of that test.
 *
 * | function | when it runs |
 * | --- | --- |
 * | `TestMain(m: testing.M, ctx: agent.Context)` | around everything else; must call `m.Run()` |
 * | `BeforeAll(ctx: agent.Context)` | first; when it throws, the test fails without being run |
 * | `BeforeEach(t: testing.T, ctx: agent.Context)` | next, with the `t` of the test; throwing does the same |
 * | `AfterEach(t: testing.T, ctx: agent.Context)` | after the test, also after one that failed; `t.failed` tells |
 * | `AfterAll(ctx: agent.Context)` | last, after the functions given to `t.cleanup` |
 *
 * ```ts
 * export function BeforeEach(t: testing.T, ctx: agent.Context) {
 *   ctx.memory.user.Set("plan", "free");
 * }
 *
 * export function TestPlan(t: testing.T, ctx: agent.Context) {
 *   t.assert.Equal(ctx.memory.user.Get("plan"), "free");
 * }
 * ```
 */
declare namespace testing {
  /** A test function, for tests that are constants: `const TestX: testing.Test = (t, ctx) => { ... }`. */
  type Test = (t: T, ctx: agent.Context) => unknown;

  /** Context under the name that Yao's own declarations use in tests. */
  type Context = agent.Context;

  /** `Promise<boolean>` where the function it belongs to returns a promise, else `boolean`. */
  type Verdict<R> = 0 extends 1 & R
    ? boolean
    : [R] extends [never]
      ? boolean
      : R extends PromiseLike<unknown>
        ? Promise<boolean>
        : boolean;

  /** The test that is running: checks, log, mocks and control. */
  interface T {
    /** Name of the test, `TestSetup`; of a subtest, `TestSetup/empty_input`. */
    readonly name: string;

    /** Whether the test, or a subtest of it, has failed so far. */
    readonly failed: boolean;

    /** Checks; a failure lets the test go on. Each returns whether it held. */
    readonly assert: Assert;

    /** The same checks; a failure stops the test. */
    readonly require: Require;

    /** Mocks of what the code under test calls. They end with the test. */
    readonly mock: Mock;

    /** Adds and reads rows of the database. */
    readonly db: Db;

    /**
     * Adds a line to the log, shown if the test fails or with `-v`.
     *
     * @example
     * ```ts
     * t.log("user is", ctx.User, "in", ctx.Locale);
     * ```
     *
     * @param args Values, joined by spaces.
     */
    log(...args: any[]): void;

    /**
     * Like `log`, at error level, and the test fails but goes on.
     *
     * @example
     * ```ts
     * if (!ctx.ChatID) t.error("no chat id in", ctx);
     * ```
     *
     * @param args Values, joined by spaces.
     */
    error(...args: any[]): void;

    /**
     * Stops the test as skipped, or as failed if it failed before.
     *
     * @example
     * ```ts
     * if (ctx.Locale === "zh-cn") t.skip("there is no Chinese text yet");
     * ```
     *
     * @param reason Shown in the report.
     */
    skip(reason?: string): never;

    /**
     * Marks the test as unfinished; call it first. If the test fails or checks nothing, it is skipped, with `todo`; if
     * it passes, there is a warning.
     *
     * @example
     * ```ts
     * if (ctx.Locale === "ja-jp") t.todo("amounts in yen");
     * t.assert.Equal((1050 / 100).toFixed(2), "10.50");
     * ```
     *
     * @param reason Shown in the report.
     */
    todo(reason?: string): void;

    /**
     * Only tests of the module, or subtests of the test, that call it as their first statement run. With
     * `--forbid-only`, on where `CI` is set, they fail instead, and all others run.
     *
     * @example
     * ```ts
     * t.only();
     * t.assert.True(true);
     * ```
     */
    only(): void;

    /**
     * The test fails, but goes on.
     *
     * @example
     * ```ts
     * for (const key of ["chat_id", "assistant_id"] as const) {
     *   if (ctx[key] === undefined) t.fail(`ctx has no ${key}`);
     * }
     * ```
     *
     * @param reason Shown in the report.
     */
    fail(reason?: string): void;

    /**
     * The test fails and stops. Cleanups and `AfterEach` still run.
     *
     * @example
     * ```ts
     * const [, year] = /^(\d{4})-/.exec("2025-01-01") ?? t.fatal("not a date");
     * t.assert.Equal(year, "2025");
     * ```
     *
     * @param reason Shown in the report.
     */
    fatal(reason?: string): never;

    /**
     * Runs a subtest, reported as `TestX/name`. Spaces in the name become underscores; a repeated name gets a number
     * (`name#01`). If it fails, so does the test; `skip`, `fatal` and `t.require` stop only the subtest.
     * `--run "TestX/na"` picks subtests; others count as passed.
     *
     * @example
     * ```ts
     * for (const [text, sum] of [["1+1", 2], ["2+3", 5]] as const) {
     *   t.run(text, (t) => {
     *     const [a = 0, b = 0] = text.split("+").map(Number);
     *     t.assert.Equal(a + b, sum);
     *   });
     * }
     * ```
     *
     * @param name Name of the subtest.
     * @param fn The subtest, with its own `t` and the same `ctx`. If it is `async`, await it.
     * @returns Whether it passed.
     */
    run<R>(name: string, fn: (t: T, ctx: agent.Context) => R): Verdict<R>;

    /**
     * Prints a value with its place: `assistants/shop/src/tally_test.ts:5 total = 4`, without calling its getters,
     * `toJSON` or `toString`. In handlers: `--watch-expr`.
     *
     * @example
     * ```ts
     * const total = t.watch([4, 5].reduce((a, b) => a + b));
     * t.assert.Equal(total, 9);
     * ```
     *
     * @param value What to print.
     * @param name By default the text of the argument.
     * @returns The value.
     */
    watch<V>(value: V, name?: string): V;

    /**
     * Runs a subtest for each row in turn. The items of a row, or the row itself, fill `%s`, `%d`, `%i`,
     * `%f`, `%j` (JSON) and `%o` in the name; `$a.b` is a member, `%#` the number from 0, `%$` from 1, `%%` a percent
     * sign. No rows are a failure.
     *
     * @example
     * ```ts
     * t.each([{ text: "1+1", sum: 2 }, { text: "2+3", sum: 5 }], "$text is $sum", (t, { text, sum }) => {
     *   const [a = 0, b = 0] = text.split("+").map(Number);
     *   t.assert.Equal(a + b, sum);
     * });
     * ```
     *
     * @param rows Anything that can be iterated.
     * @param name Handled as in `run`.
     * @param fn May be `async`.
     * @returns Whether all passed.
     */
    each<Row, R>(rows: Iterable<Row>, name: string, fn: (t: T, row: Row, ctx: agent.Context) => R): Verdict<R>;

    /**
     * Equals any value of a type, in `Equal`, `NotEqual`, `Contains`, `JSONPath`, at any depth.
     *
     * @example
     * ```ts
     * t.assert.Equal({ id: "a7", at: new Date() }, { id: t.any("string"), at: t.any(Date) });
     * ```
     *
     * @param type A name as `Type` has them, such as `string`, `array` or `null`; or a class.
     */
    any(type: keyof Types | Function): any;

    /**
     * Equals any text in which a pattern matches; see `any`.
     *
     * @example
     * ```ts
     * t.assert.Equal({ ref: "inv-2025-001" }, { ref: t.matching("^inv-[0-9]{4}-") });
     * ```
     *
     * @param pattern In the syntax of Go (RE2), or a `RegExp`.
     */
    matching(pattern: string | RegExp): any;

    /**
     * Equals any number that differs by less than half of the last digit; see `any`.
     *
     * @example
     * ```ts
     * t.assert.Equal({ total: 0.1 + 0.2 }, { total: t.close(0.3, 10) });
     * ```
     *
     * @param value The number.
     * @param digits Digits behind the point that count, by default 2.
     */
    close(value: number, digits?: number): any;

    /**
     * Equals an object with at least these properties, a list with at least these items, in any order, or a text with
     * this one in it; see `any`. So do nested objects and lists; nested texts have to be equal.
     *
     * @example
     * ```ts
     * t.assert.Equal({ user: { id: 7, name: "Ada" }, tags: ["x", "y"] }, t.contains({ user: { id: 7 }, tags: ["y"] }));
     * ```
     *
     * @param part What is contained.
     */
    contains(part: object | string): any;

    /**
     * Calls a function when the test has ended, the last one registered first.
     *
     * @example
     * ```ts
     * const fs = new FS("data");
     * fs.WriteFile("/draft.txt", "text");
     * t.cleanup(() => fs.Remove("/draft.txt"));
     * t.assert.True(fs.Exists("/draft.txt"));
     * ```
     *
     * @param fn Called without arguments; may be `async`. What it throws fails the test.
     */
    cleanup(fn: () => unknown): void;

    /** Compares values with those of an earlier run. */
    readonly snapshot: Snapshot;
  }

  /** `t.snapshot`: values that should be the same as in an earlier run. */
  interface Snapshot extends StoredSnapshot {
    /**
     * Compares a value with the last argument, which the run writes into the test file if it is missing; in CI, that
     * fails. `--update-snapshots` replaces texts that differ. In a loop, all values must be the same.
     *
     * @example
     * ```ts
     * t.snapshot.inline({ title: "Travel", amount: 500 }, `{amount: 500, title: "Travel"}`);
     * t.snapshot.inline({ title: "Travel", id: Date.now() }, { mask: ["$.id"] }, `{id: [masked], title: "Travel"}`);
     * ```
     *
     * @param value Anything that can be printed.
     * @param rest The printed value, without common indentation; before it, `{ mask }` as in `t.snapshot`.
     * @returns Whether the value equals the text.
     */
    inline(value: unknown, ...rest: [text?: string] | [options: { mask: string[] }, text?: string]): boolean;
  }

  /**
   * The first argument of a fuzz test, `Fuzz...`: sets inputs, and checks that must hold for all.
   *
   * @example
   * ```ts
   * export function FuzzSplit(f: testing.F) {
   *   f.add("a,b", ",");
   *   f.fuzz((t: testing.T, text: string, by: string) => {
   *     t.assert.Equal(text.split(by).join(by), text);
   *   });
   * }
   * ```
   */
  interface F extends T {
    /**
     * Adds an input; call it before `fuzz`.
     *
     * @example
     * ```ts
     * export function FuzzTotal(f: testing.F) {
     *   f.add({ net: 100, rate: 0.2 });
     *   f.fuzz((t: testing.T, bill: { net?: number; rate?: number }) => {
     *     const { net = 0, rate = 0 } = bill;
     *     t.assert.Type(net + net * rate, "number");
     *   });
     * }
     * ```
     *
     * @param args JSON values: the arguments of the function after `t`. Their number must always be the same.
     */
    add(...args: any[]): void;

    /**
     * Sets which inputs a search may make, instead of inputs that look like those of `add`.
     *
     * @example
     * ```ts
     * export function FuzzPage(f: testing.F) {
     *   f.schema({ type: "integer", minimum: 1, maximum: 500 });
     *   f.fuzz((t: testing.T, page: number) => {
     *     t.assert.GreaterOrEqual((page - 1) * 20, 0);
     *   });
     * }
     * ```
     *
     * @param schemas A JSON Schema for each argument after `t`; or one schema for the list of all arguments, with
     *   `prefixItems`.
     */
    schema(...schemas: any[]): void;

    /**
     * Runs a function with each input. An input fails like a test: if an assertion fails, if the function throws, or if
     * it takes too long. Call it once, after `add` and `schema`.
     *
     * @param fn The function; it may be `async`. `t` is that of a subtest, without snapshots.
     * @returns Nothing, or a promise if the inputs take time. The test waits for it in any case.
     */
    fuzz<A extends any[]>(fn: (t: T, ...args: A) => unknown): void | Promise<void>;
  }

  /**
   * The first argument of a benchmark, `Benchmark...`: controls the loop that is measured.
   *
   * @example
   * ```ts
   * export function BenchmarkJoin(b: testing.B) {
   *   const words = Array.from({ length: 100 }, (_, i) => `word ${i}`);
   *   while (b.loop()) {
   *     words.join(" ");
   *   }
   * }
   *
   * export function TestJoin(t: testing.T) {
   *   t.assert.Equal(["a", "b"].join(" "), "a b");
   * }
   * ```
   */
  interface B extends T {
    /**
     * Whether the loop continues. Only code in the loop is measured. The first round is not counted; then rounds follow
     * until `--bench-time` is over. The real clock is used, even if `mock.now` has stopped the clock of the test.
     *
     * @returns false when the measurement is complete.
     */
    loop(): boolean;

    /** Continues measuring after `stopTimer`. */
    startTimer(): void;

    /** Stops measuring, for work in a round that should not count. */
    stopTimer(): void;

    /** Discards what was measured so far. */
    resetTimer(): void;

    /**
     * Adds a figure of your own to the line of the benchmark.
     *
     * @param value The figure.
     * @param unit Its unit, without blanks, such as `tokens/op`.
     */
    reportMetric(value: number, unit: string): void;

    /**
     * Runs a benchmark inside this one, reported as `BenchmarkX/name`.
     *
     * @param name Its name.
     * @param fn The inner benchmark, with its own loop. If it is `async`, await the result before the next begins.
     * @returns Whether it did not fail; a promise of it when `fn` returns a promise.
     */
    run<R>(name: string, fn: (b: B, ctx: agent.Context) => R): Verdict<R>;
  }

  /**
   * Compares a value with that of an earlier run, in `__snapshots__` beside the test file. A missing one is stored; in
   * CI, it fails. `--update-snapshots` stores all again, and removes unused ones. Snapshots without a name are
   * numbered. `mask` has JSONPaths of what is not compared, stored as `[masked]`. Returns
   * whether the values are equal.
   *
   * @example
   * ```ts
   * t.snapshot({ title: "Travel", amount: 500 }, "draft");
   * t.snapshot({ title: "Travel", created_at: new Date() }, { mask: ["$..created_at"] });
   * ```
   */
  type StoredSnapshot = (value: unknown, options?: string | { name?: string; mask?: string[] }) => boolean;

  /** Given to `TestMain`. */
  interface M {
    /**
     * Runs the test with its hooks, once.
     *
     * @example
     * ```ts
     * export async function TestMain(m: testing.M, ctx: agent.Context) {
     *   ctx.Metadata.started = Date.now();
     *   const code = await m.Run();
     *   log.Info("ended with %d", code);
     * }
     *
     * export function TestStarted(t: testing.T, ctx: agent.Context) {
     *   t.assert.Type(ctx.Metadata.started, "number");
     * }
     * ```
     *
     * @returns 0 if the test passed, else 1.
     */
    Run(): number | Promise<number>;
  }

  /** The names that `Type` takes, and their types. */
  interface Types {
    /** Text. */
    string: string;
    /** A number, also `NaN`. */
    number: number;
    /** `true` or `false`. */
    boolean: boolean;
    /** An object that is neither null, an array nor a function. */
    object: object;
    /** An array. */
    array: any[];
    /** A function or class. */
    function: (...args: any[]) => any;
    /** `null`. */
    null: null;
    /** `undefined`. */
    undefined: undefined;
    /** A whole number of any size, such as `1n`. */
    bigint: bigint;
    /** A symbol. */
    symbol: symbol;
  }

  /** Values that have an order. */
  type Ordered = number | bigint | string | Date;

  /** Options of `Agent`: what is judged, and by whom. */
  interface AgentOptions {
    /** What the answer must satisfy, in words. The same as `metadata.criteria`. */
    criteria?: any;
    /** Further fields for the validator, such as `conversation`. */
    metadata?: Record<string, any>;
    /** Connector for this call instead of the validator's own. */
    connector?: string;
    /** By default one vote of the validator. */
    judge?: JudgeOptions;
  }

  /** Several votes on one response. */
  interface JudgeOptions {
    /** Votes of each judge, 1 to 9; by default `--judge-samples`. */
    samples?: number;
    /** Share of the votes needed; more than half, by default two thirds. */
    quorum?: number;
    /** The judges, as `agents:<id>`; by default the validator. */
    judges?: string[];
  }

  /**
   * The checks of `t.assert`. A failure is recorded, and the test continues.
   *
   * `Nil`, `NotNil` and `Type` also narrow the type of the value: `if (!assert.NotNil(user)) return;`
   */
  interface Assert {
    /**
     * The value is truthy.
     *
     * @example
     * ```ts
     * t.assert.True("abc".startsWith("a"), "should start with a");
     * ```
     *
     * @param value Anything; `""`, `0`, `NaN`, `null` and `undefined` fail.
     * @param message Replaces the standard text.
     */
    True(value: unknown, message?: string): boolean;

    /**
     * The value is falsy.
     *
     * @example
     * ```ts
     * t.assert.False("abc".endsWith("a"));
     * ```
     *
     * @param value Anything; `""`, `0`, `NaN`, `null` and `undefined` hold.
     * @param message Replaces the standard text.
     */
    False(value: unknown, message?: string): boolean;

    /**
     * Both values are deeply equal, also `Map`, `Set`, `Date`, `RegExp`, typed arrays, `BigInt` and cycles. `NaN`
     * equals `NaN`, `-0` equals `0`, an undefined property a missing one. The order of keys does not matter.
     *
     * @example
     * ```ts
     * t.assert.Equal({ a: [1, 2], b: undefined }, { a: [1, 2] });
     * // fails, as the types differ: t.assert.Equal(1, "1")
     * ```
     *
     * @param actual The value from the code under test.
     * @param expected The value that it should have.
     * @param message Replaces the standard text.
     */
    Equal(actual: unknown, expected: unknown, message?: string): boolean;

    /**
     * The values are not deeply equal, by the rules of `Equal`.
     *
     * @example
     * ```ts
     * t.assert.NotEqual([1, 2], [2, 1]);
     * ```
     *
     * @param actual The value from the code under test.
     * @param expected The value that it should not have.
     * @param message Replaces the standard text.
     */
    NotEqual(actual: unknown, expected: unknown, message?: string): boolean;

    /**
     * The value is null or undefined.
     *
     * @example
     * ```ts
     * t.assert.Nil(ctx.memory.chat.Get("nothing stored here"));
     * ```
     *
     * @param value Anything.
     * @param message Replaces the standard text.
     */
    Nil<V>(value: V, message?: string): value is V & (null | undefined);

    /**
     * The value is neither null nor undefined.
     *
     * @example
     * ```ts
     * const found = ["a", "bb"].find((word) => word.length === 2);
     * if (!t.assert.NotNil(found)) return;
     * t.assert.Equal(found.length, 2);
     * ```
     *
     * @param value Anything; `""`, `0` and `false` hold.
     * @param message Replaces the standard text.
     */
    NotNil<V>(value: V, message?: string): value is NonNullable<V>;

    /**
     * The string has the substring, the array, typed array or `Set` has the element, or the `Map` has the key. Elements
     * are compared as by `Equal`. Of an error, `name: message` is searched.
     *
     * @example
     * ```ts
     * t.assert.Contains("please confirm", "confirm");
     * t.assert.Contains([{ id: 1 }, { id: 2 }], { id: 2 });
     * ```
     *
     * @param container A string, error, array, typed array, `Set` or `Map`; anything else fails.
     * @param item What it should have; in a string or error, a string.
     * @param message Replaces the standard text.
     */
    Contains(container: unknown, item: unknown, message?: string): boolean;

    /**
     * The string, array, typed array, `Set` or `Map` does not have the item, by the rules of `Contains`.
     *
     * @example
     * ```ts
     * t.assert.NotContains("all is well", "error");
     * ```
     *
     * @param container A string, error, array, typed array, `Set` or `Map`; anything else fails.
     * @param item What it should not have; in a string or error, a string.
     * @param message Replaces the standard text.
     */
    NotContains(container: unknown, item: unknown, message?: string): boolean;

    /**
     * The value has the expected length: the `length` of a string or array, the `size` of a `Map` or `Set`, the numeric
     * `length`, else `size`, of another object, or the number of keys of a plain one. The length of null is 0.
     * Functions and undefined fail.
     *
     * @example
     * ```ts
     * t.assert.Len([1, 2, 3], 3);
     * t.assert.Len({ id: 1, name: "a" }, 2);
     * ```
     *
     * @param value A string has its length in UTF-16 units.
     * @param length The expected number.
     * @param message Replaces the standard text.
     */
    Len(value: unknown, length: number, message?: string): boolean;

    /**
     * `a > b`.
     *
     * @example
     * ```ts
     * t.assert.Greater(2, 1);
     * ```
     *
     * @param a The value under test; null and undefined fail.
     * @param b The bound, of the same kind as `a`. Different kinds fail, and so does `NaN`.
     * @param message Replaces the standard text.
     */
    Greater(a: Ordered | null | undefined, b: Ordered, message?: string): boolean;

    /**
     * `a >= b`.
     *
     * @example
     * ```ts
     * t.assert.GreaterOrEqual(2, 2);
     * ```
     *
     * @param a The value under test; null and undefined fail.
     * @param b The bound, of the same kind as `a`. Different kinds fail, and so does `NaN`.
     * @param message Replaces the standard text.
     */
    GreaterOrEqual(a: Ordered | null | undefined, b: Ordered, message?: string): boolean;

    /**
     * `a < b`.
     *
     * @example
     * ```ts
     * t.assert.Less(1, 2);
     * ```
     *
     * @param a The value under test; null and undefined fail.
     * @param b The bound, of the same kind as `a`. Different kinds fail, and so does `NaN`.
     * @param message Replaces the standard text.
     */
    Less(a: Ordered | null | undefined, b: Ordered, message?: string): boolean;

    /**
     * `a <= b`.
     *
     * @example
     * ```ts
     * t.assert.LessOrEqual(2, 2);
     * ```
     *
     * @param a The value under test; null and undefined fail.
     * @param b The bound, of the same kind as `a`. Different kinds fail, and so does `NaN`.
     * @param message Replaces the standard text.
     */
    LessOrEqual(a: Ordered | null | undefined, b: Ordered, message?: string): boolean;

    /**
     * The value is neither null nor undefined; for functions that return errors.
     *
     * @example
     * ```ts
     * const result = { error: "no amount given" };
     * t.assert.Error(result.error);
     * ```
     *
     * @param err An error, or what a function returned instead.
     * @param message Replaces the standard text.
     */
    Error(err: unknown, message?: string): boolean;

    /**
     * The value is null or undefined. The opposite of `Error`.
     *
     * @example
     * ```ts
     * const result: { error?: string } = {};
     * t.assert.NoError(result.error);
     * ```
     *
     * @param err An error, or what a function returned instead.
     * @param message Replaces the standard text.
     */
    NoError(err: unknown, message?: string): boolean;

    /**
     * The function throws, or its promise is rejected.
     *
     * @example
     * ```ts
     * t.assert.Panic(() => JSON.parse("{"));
     * await t.assert.Panic(async () => Promise.reject(new Error("late")));
     * ```
     *
     * @param fn Called without arguments. A generator function fails, because its body does not run.
     * @param message Replaces the standard text.
     * @returns A promise to await if `fn` returns one.
     */
    Panic<R>(fn: () => R, message?: string): Verdict<R>;

    /**
     * The function does not throw, and its promise is fulfilled.
     *
     * @example
     * ```ts
     * t.assert.NoPanic(() => JSON.parse("{}"));
     * ```
     *
     * @param fn Called without arguments. A generator function fails, because its body does not run.
     * @param message Replaces the standard text.
     * @returns A promise to await if `fn` returns one.
     */
    NoPanic<R>(fn: () => R, message?: string): Verdict<R>;

    /**
     * The pattern is found in the text, at any position.
     *
     * @example
     * ```ts
     * t.assert.Match("Order A-1042 confirmed", "(?i)order a-\\d+");
     * t.assert.Match("2025-01-01", /^\d{4}-\d\d-\d\d$/);
     * ```
     *
     * @param value A text or other simple value; of an error, name and message; of another object, its JSON. null,
     *   undefined, functions and symbols fail.
     * @param pattern A pattern in the syntax of Go (RE2), or a `RegExp`.
     * @param message Replaces the standard text.
     */
    Match(value: unknown, pattern: string | RegExp, message?: string): boolean;

    /**
     * The pattern is not found in the text.
     *
     * @example
     * ```ts
     * t.assert.NotMatch("all is well", "(?i)error");
     * ```
     *
     * @param value A text or other simple value; of an error, name and message; of another object, its JSON. null,
     *   undefined, functions and symbols fail.
     * @param pattern A pattern in the syntax of Go (RE2), or a `RegExp`.
     * @param message Replaces the standard text.
     */
    NotMatch(value: unknown, pattern: string | RegExp, message?: string): boolean;

    /**
     * The value at a path equals the expected one, by the rules of `Equal`. A path that does not exist equals null and
     * undefined.
     *
     * @example
     * ```ts
     * const order = { items: [{ sku: "A", price: 3 }, { sku: "B", price: 5 }] };
     * t.assert.JSONPath(order, "$.items[0].sku", "A");
     * t.assert.JSONPath(order, "items[1].price", 5);
     * t.assert.JSONPath(order, "$.items[*].price", [3, 5]);
     * t.assert.JSONPath('{"state":"open"}', "state", ["open", "draft"]);
     * ```
     *
     * @param value An object, an array, or JSON text.
     * @param path A JSONPath, also without `$.`. Several matches are compared as a list.
     * @param expected The expected value. A list means one of its values, unless the value at the path is a list.
     * @param message Replaces the standard text.
     */
    JSONPath(value: unknown, path: string, expected: unknown, message?: string): boolean;

    /**
     * The value has the named type. Arrays and null are not of type `object`.
     *
     * @example
     * ```ts
     * t.assert.Type([1], "array");
     * t.assert.Type(null, "null");
     * ```
     *
     * @param value Anything.
     * @param typeName Unlike `typeof`, arrays are `"array"` and null is `"null"`.
     * @param message Replaces the standard text.
     */
    Type<N extends keyof Types>(value: unknown, typeName: N, message?: string): value is Types[N];

    /**
     * A validator agent, which runs unless it is mocked, finds that the response meets the criteria. Its reason is the
     * text of a failure. `judged: false` means that it could not judge: the check holds, or fails with
     * `--require-judge`. With `judge`, there are several votes; if they do not decide, the test is inconclusive.
     *
     * @example
     * ```ts
     * t.mock.agent("workers.test.validator", { passed: true, reason: "It asks" });
     * t.assert.Agent("Shall I submit the claim?", "workers.test.validator", {
     *   criteria: "Asks for confirmation before it submits",
     * });
     * ```
     *
     * @param response What is judged: text or a value.
     * @param agentId The validator; the prefix `agents:` may be left out.
     * @param options What the validator gets, and who judges.
     * @param message Replaces its reason.
     */
    Agent(response: unknown, agentId: string, options?: AgentOptions, message?: string): boolean;
  }

  /**
   * The checks of `t.require`: those of `t.assert`, but a failure stops the test.
   *
   * They do not narrow the type of the value by themselves: write `if (!require.NotNil(user)) return;`.
   *
   * @example
   * ```ts
   * const { require } = t;
   * const answer: { items?: string[] } = { items: ["a"] };
   * if (!require.NotNil(answer.items)) return;
   * require.Len(answer.items, 1);
   * ```
   */
  interface Require extends Assert {}

  /**
   * Mocks of what the test and all that it calls use. The newest that matches answers. All end with the test.
   *
   * A reply is a value, or a function of the arguments of the call, which may be `async`. If it throws, the caller gets
   * an `Exception`.
   *
   * Arguments and replies are copies, as JSON makes them: a `Date` becomes a text, `undefined` in an object disappears.
   * A `Uint8Array` stays one.
   */
  interface Mock {
    /**
     * Answers processes by name. The objects of the runtime call processes, too: `fs.<volume>.<Method>`,
     * `http.<Method>`, `stores.<id>.<Method>`, `query.<engine>.<Method>`, `mcp.CallTool`, `llm.Stream`, `search.Web`.
     *
     * @example
     * ```ts
     * const users = t.mock.process("models.user.*", (id: number) => ({ id, name: "Ann" }));
     *
     * t.assert.Equal(Process("models.user.Find", 7, {}).name, "Ann");
     *
     * t.assert.Equal(users.count, 1);
     * t.assert.Equal(users.last?.name, "models.user.Find");
     * t.assert.Equal(users.calls[0]?.args[0], 7);
     * ```
     *
     * @param pattern A name in any case; `*` stands for any characters.
     * @param reply The result; null if not given.
     */
    process(pattern: string, reply?: unknown): Recorder;

    /**
     * Answers calls of an agent: by `ctx.agent`, `Process("agents.<id>.Stream")`, delegation or `t.assert.Agent`.
     *
     * @example
     * ```ts
     * const helper = t.mock.agent("helpers.summary", "In short: fine.");
     *
     * const result = ctx.agent.Call("helpers.summary", [{ role: "user", content: "How is it?" }]);
     *
     * t.assert.Equal(result.content, "In short: fine.");
     * t.assert.Equal(helper.last?.args[0][0]?.content, "How is it?");
     * ```
     *
     * @param id An agent id; `*` stands for any characters.
     * @param reply The answer; an empty text if not given.
     */
    agent(
      id: string,
      reply?: AgentReply | ((messages: agent.Message[], options: agent.Options) => AgentReply | Promise<AgentReply>),
    ): Recorder<[messages: agent.Message[], options: agent.Options]>;

    /**
     * Answers HTTP requests. A request that no mock matches needs `--allow-net`. If the reply throws, the connection
     * fails.
     *
     * @example
     * ```ts
     * const rates = t.mock.http("GET https://api.example.com/rates", { data: { EUR: 1.1 } });
     *
     * const result = http.Get("https://api.example.com/rates", { base: "USD" });
     *
     * t.assert.Equal(result.status, 200);
     * t.assert.Equal(result.data, { EUR: 1.1 });
     * t.assert.Equal(rates.last?.args[0].query, { base: "USD" });
     * ```
     *
     * @param pattern An address, or a method and an address. `*` stands for any characters; the query may be left out.
     * @param response The answer; text is its body. Status 200 without a body if not given.
     */
    http(
      pattern: string,
      response?: HttpReply | ((request: HttpRequest) => HttpReply | Promise<HttpReply>),
    ): Recorder<[request: HttpRequest]>;

    /**
     * Answers commands of `ctx.computer.Exec`, in agents with a sandbox. A command that no mock matches is refused.
     *
     * @example
     * ```ts
     * const echo = t.mock.exec("echo", { stdout: "hello" });
     * t.mock.exec(/^unzip .*\.zip$/, { stderr: "no such file", exit_code: 9 });
     *
     * t.assert.Equal(Process("sandbox.computer.Exec", ["echo", "hello"]).stdout, "hello");
     * t.assert.Equal(Process("sandbox.computer.Exec", ["unzip", "a.zip"]).exit_code, 9);
     * t.assert.Equal(echo.last?.args[1], "echo hello");
     * ```
     *
     * @param pattern The command, joined by blanks, its first words, or a regular expression; `*` stands for any
     *   characters.
     * @param reply The result; a text is what it writes. Nothing and exit code 0 if not given.
     */
    exec(
      pattern: string | RegExp,
      reply?: ExecReply | ((argv: string[], command: string) => ExecReply | Promise<ExecReply>),
    ): Recorder<[argv: string[], command: string]>;

    /**
     * Stops the clock of `Date`, `performance.now()`, timers, times to live, tokens, `utils.now.*` and `$SYS`
     * variables. Only `advance` and `time.Sleep`, which returns at once, move it. Timeouts and durations are real. A
     * test that waits for a stopped clock fails.
     *
     * @example
     * ```ts
     * const clock = t.mock.now("2025-03-01T09:00:00Z");
     * t.assert.Equal(new Date().toISOString(), "2025-03-01T09:00:00.000Z");
     *
     * clock.advance(60_000);
     * t.assert.Equal(new Date().getMinutes(), 1);
     * ```
     *
     * @param time An ISO 8601 time, a `Date`, or milliseconds since 1970, from `0001-01-02` to `9999-12-30`; by default
     * the current time.
     */
    now(time?: string | number | Date): Clock;

    /**
     * Stops the clock if it runs, moves it, and runs the timers that become due, each with its promise jobs.
     *
     * @example
     * ```ts
     * let rung = false;
     * setTimeout(() => (rung = true), 3_600_000);
     * t.mock.advance("1h");
     * t.assert.True(rung);
     * ```
     *
     * @param by Milliseconds, or a text such as `"1h30m"` (`ms`, `s`, `m`, `h`, `d`). A negative one is an error.
     */
    advance(by: number | string): void;

    /**
     * Makes `Math.random` and the UUIDs of processes the same in every run. `--seed` does this for all tests.
     *
     * @example
     * ```ts
     * t.mock.random(1);
     * const first = Math.random();
     * t.mock.random(1);
     * t.assert.Equal(Math.random(), first);
     * ```
     *
     * @param seed The start value; 1 by default.
     */
    random(seed?: number | string): Recorder<[]>;

    /** Ends all mocks of the test. */
    restore(): void;
  }

  /**
   * The database of `models.*`, `schemas.*` and `Query`. Each test has its own, with the tables of all models and the
   * `values` of the model files.
   */
  interface Db {
    /**
     * Adds rows with the `Create` of their model.
     *
     * @example
     * ```ts
     * const ids = t.db.seed({ pet: [{ name: "Rex" }, { name: "Mia" }] });
     *
     * t.assert.Equal(Process("models.pet.Find", ids.pet?.[1], {}).name, "Mia");
     * ```
     *
     * @param rows An object with the rows of each model id; or the name of a fixture: `pets` is `fixtures/pets.jsonl`
     *   in the folder of the test file or the nearest one above it, with a line `{"model": "pet", "row": {...}}` for
     *   each row.
     * @returns The new ids by model, in the order of the rows.
     */
    seed(rows: Record<string, Record<string, any>[]> | string): Record<string, any[]>;

    /**
     * The rows of a model, ordered by key, in the form of `Get` but without its limit of 100.
     *
     * @example
     * ```ts
     * t.db.seed({ pet: [{ name: "Rex", kind: "dog" }, { name: "Mia", kind: "cat" }] });
     *
     * Process("models.pet.DeleteWhere", { wheres: [{ column: "kind", value: "dog" }] });
     *
     * t.assert.Equal(t.db.rows("pet").map((pet) => pet.name), ["Mia"]);
     * t.assert.Len(t.db.rows("pet", { where: { kind: "dog" } }), 0);
     * t.assert.Len(t.db.rows("pet", { where: { kind: "dog" }, deleted: true }), 1);
     * ```
     *
     * @param model The id of the model.
     * @param options Which rows.
     */
    rows(model: string, options?: RowOptions): any[];
  }

  /** Which rows `t.db.rows` returns. Any other key is an error. */
  interface RowOptions {
    /** Columns with their values, or conditions as in `wheres` of `Get`. */
    where?: Record<string, any> | { column: string; op?: string; value?: any; [key: string]: any }[];
    /** Whether soft-deleted rows are included. */
    deleted?: boolean;
  }

  /** The calls that a mock answered. */
  interface Recorder<Args extends any[] = any[]> {
    /** The calls that the mock answered, oldest first. */
    readonly calls: Call<Args>[];

    /** The number of calls. */
    readonly count: number;

    /** The newest call. */
    readonly last: Call<Args> | undefined;

    /** Removes the calls so far from the list. */
    reset(): void;

    /** Ends the mock. Calls then reach what it replaced. */
    restore(): void;
  }

  /** A stopped clock. */
  interface Clock extends Recorder<[]> {
    /**
     * Moves the clock, as `t.mock.advance` does.
     *
     * @param by Milliseconds, or a text such as `"1h30m"`. A negative one is an error.
     */
    advance(by: number | string): void;
  }

  /** One call that a mock answered. */
  interface Call<Args extends any[] = any[]> {
    /** Name of the process, id of the agent, or method and address. */
    name: string;
    /** As they were at the time of the call. */
    args: Args;
    /** What the mock replied. */
    result?: any;
    /** What the mock threw. */
    error?: any;
  }

  /**
   * The answer of a mocked agent: text, a verdict of a validator, or parts of an answer. Any other value becomes the
   * data of the answer, and its JSON the text.
   */
  type AgentReply =
    | string
    | { passed: boolean; reason?: string; score?: number }
    | { judged: false; passed?: true; reason?: string }
    | {
        /** Text of the answer. */
        content?: string;
        /** What its `Next` hook would return as `data`. */
        data?: any;
        /** Tools it called. */
        tools?: agent.ToolResult[];
        /** The answer of its model, in place of `content`. */
        completion?: agent.Completion;
        /** A whole answer, as calls of agents give it in `response`. */
        response?: agent.Response;
        /** Makes the call fail with this text. */
        error?: string;
      }
    | Record<string, any>;

  /** An HTTP request, as a mock gets it. */
  interface HttpRequest {
    /** The method in capitals: `GET`. */
    method: string;
    /** The address with its query. */
    url: string;
    /** Query values given separately from the address; several of one name are a list. */
    query: Record<string, any>;
    /** Headers, as they were given. */
    headers: Record<string, any>;
    /** The payload; null if there is none. */
    data: any;
    /** Files to be sent along. */
    files?: any;
  }

  /** The answer of a mocked address: text, which is its body, or its parts. Any other key is an error. */
  type HttpReply =
    | string
    | {
        /** Status code, 200 if not given; 0 is a connection that failed. */
        status?: number;
        /** The body, as the caller finds it in `data`. */
        data?: any;
        /** Headers. */
        headers?: Record<string, string | string[]>;
        /** The lines that `http.Stream` reads; without them those of `data`. */
        lines?: string[];
        /** What the caller finds in `message`. */
        message?: string;
      };

  /** The result of a mocked command: what it writes, or its parts. Any other key is an error. */
  type ExecReply =
    | string
    | {
        /** What it writes to its standard output. */
        stdout?: string;
        /** What it writes to its standard error. */
        stderr?: string;
        /** Its exit code, 0 if not given. */
        exit_code?: number;
        /** How long it takes: milliseconds, or a text such as `"2s"`. A stopped clock moves, and nothing waits. */
        delay?: number | string;
      };

  /** A case, as `Before(ctx, case)` and `After(ctx, case, result, data)` get it. */
  interface Case {
    /** Id of the case. */
    id: string;
    /** Text, a message, or a list of messages. */
    input: any;
    /** Metadata of the case. */
    metadata?: Record<string, any>;
    /** Its assertions. */
    assert?: any;
    /** Its simulator. */
    simulator?: any;
    /** Further fields of the case. */
    [field: string]: any;
  }

  /** The result of a case, as `After(ctx, case, result, data)` and `AfterAll(ctx, results, data)` get it. */
  interface CaseResult {
    /** Id of the case. */
    id: string;
    /** `passed`, `failed` or `skipped`. */
    status: string;
    /** Milliseconds. */
    duration_ms: number;
    /** What the agent answered. */
    output?: any;
    /** Why the case failed. */
    error?: string;
    /** Further fields of the result. */
    [field: string]: any;
  }

  /**
   * What a script named by a `script` assertion returns; the script is called with `(output, input, value)`.
   *
   * @example
   * ```ts
   * function HasTotal(output: any): testing.ScriptVerdict {
   *   return { pass: output?.total > 0, message: "total should be positive" };
   * }
   * t.assert.Equal(HasTotal({ total: 3 }), { pass: true, message: "total should be positive" });
   * ```
   */
  type ScriptVerdict = boolean | { pass: boolean; message?: string };
}

/** `testing.T` under the name some test files use. */
type TestingT = testing.T;

/**
 * `agent.Context` under the name some test files use.
 *
 * @example
 * ```ts
 * export function TestUser(t: TestingT, ctx: Context) {
 *   t.assert.Equal(ctx.User.ID, "test-user");
 * }
 * ```
 */
type Context = agent.Context;
