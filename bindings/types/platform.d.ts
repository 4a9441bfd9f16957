/**
 * Names known from browsers. They behave as in browsers, except where noted.
 *
 * ```ts
 * export async function TestPlatform(t: testing.T) {
 *   await new Promise((resolve) => setTimeout(resolve, 10));
 *   t.assert.Equal(new URL("/a?b=1", "https://example.com").searchParams.get("b"), "1");
 *   t.assert.Equal(new TextEncoder().encode("é").length, 2);
 * }
 * ```
 *
 * Where the library `dom` declares the same name, both declarations hold.
 */

/** Output, which the test captures. It is shown if the test fails, or with `-v`. */
interface Console {
  /**
   * Prints at info level.
   *
   * @param data Values, joined by spaces. If the first is a text, `%s`, `%d` and the like in it are replaced by the
   *   next values.
   */
  log(...data: any[]): void;

  /**
   * Prints at debug level.
   *
   * @param data As for `log`.
   */
  debug(...data: any[]): void;

  /**
   * Prints at info level.
   *
   * @param data As for `log`.
   */
  info(...data: any[]): void;

  /**
   * Prints at warning level.
   *
   * @param data As for `log`.
   */
  warn(...data: any[]): void;

  /**
   * Prints at error level. Does not fail the test.
   *
   * @param data As for `log`.
   */
  error(...data: any[]): void;

  /**
   * Prints at trace level.
   *
   * @param data As for `log`.
   */
  trace(...data: any[]): void;

  /**
   * Prints at error level if the condition does not hold. Does not fail the test.
   *
   * @param condition What should hold.
   * @param data As for `log`.
   */
  assert(condition?: boolean, ...data: any[]): void;

  /**
   * Prints a value with its structure.
   *
   * @param item The value.
   */
  dir(item?: any): void;

  /**
   * Prints rows as a table.
   *
   * @param data A list or object of rows.
   * @param columns Only these columns.
   */
  table(data?: any, columns?: string[]): void;

  /**
   * Prints, and indents what follows until `groupEnd`.
   *
   * @param data As for `log`.
   */
  group(...data: any[]): void;

  /** Ends the indent of `group`. */
  groupEnd(): void;

  /**
   * Counts, and prints the count.
   *
   * @param label Which count, `default` if not given.
   */
  count(label?: string): void;

  /**
   * Sets a count to 0.
   *
   * @param label Which count, `default` if not given.
   */
  countReset(label?: string): void;

  /**
   * Starts a stopwatch.
   *
   * @param label Which one, `default` if not given.
   */
  time(label?: string): void;

  /**
   * Prints the milliseconds of a stopwatch.
   *
   * @param label Which one, `default` if not given.
   * @param data Values to print after them.
   */
  timeLog(label?: string, ...data: any[]): void;

  /**
   * Prints the milliseconds of a stopwatch and removes it.
   *
   * @param label Which one, `default` if not given.
   */
  timeEnd(label?: string): void;
}

/**
 * Output captured by the test.
 *
 * @example
 * ```ts
 * console.log("looked at", ctx.ChatID);
 * ```
 */
declare var console: Console;

/**
 * Calls a function later, once. A test does not wait for its timers: await a promise that they settle. When the test
 * function has ended, timers that are due within a second are fired at once; later ones become a warning.
 *
 * @example
 * ```ts
 * const text = await new Promise<string>((resolve) => setTimeout(resolve, 10, "done"));
 * t.assert.Equal(text, "done");
 * ```
 *
 * @param handler The function.
 * @param timeout Milliseconds from now, 0 if not given.
 * @param args Its arguments.
 * @returns For `clearTimeout`.
 */
declare function setTimeout(handler: (...args: any[]) => void, timeout?: number, ...args: any[]): number;

/**
 * Cancels a call of `setTimeout`.
 *
 * @param id The result of `setTimeout`; anything else is ignored.
 */
declare function clearTimeout(id: number | undefined): void;

/**
 * Calls a function repeatedly. An interval that a test does not clear becomes a warning.
 *
 * @example
 * ```ts
 * let count = 0;
 * await new Promise<void>((resolve) => {
 *   const id = setInterval(() => {
 *     if (++count === 3) {
 *       clearInterval(id);
 *       resolve();
 *     }
 *   }, 1);
 * });
 * t.assert.Equal(count, 3);
 * ```
 *
 * @param handler The function.
 * @param timeout Milliseconds between calls.
 * @param args Its arguments.
 * @returns For `clearInterval`.
 */
declare function setInterval(handler: (...args: any[]) => void, timeout?: number, ...args: any[]): number;

/**
 * Ends `setInterval`.
 *
 * @param id The result of `setInterval`; anything else is ignored.
 */
declare function clearInterval(id: number | undefined): void;

/**
 * Calls a function after the current code and its promises have run. Timers that are due run first.
 *
 * @param handler The function.
 * @param args Its arguments.
 * @returns For `clearImmediate`.
 */
declare function setImmediate(handler: (...args: any[]) => void, ...args: any[]): number;

/**
 * Cancels a call of `setImmediate`.
 *
 * @param id The result of `setImmediate`; anything else is ignored.
 */
declare function clearImmediate(id: number | undefined): void;

/**
 * Calls a function after the promises that are already settled, and before timers.
 *
 * @param callback The function.
 */
declare function queueMicrotask(callback: () => void): void;

/**
 * Makes a deep copy of a value, including `Map`, `Set`, `Date`, `RegExp`, errors, typed arrays and cycles.
 *
 * @example
 * ```ts
 * const order = { items: [{ id: 1 }] };
 * const copy = structuredClone(order);
 * copy.items[0]!.id = 2;
 * t.assert.Equal(order.items[0]?.id, 1);
 * ```
 *
 * @param value The value.
 * @param options `transfer`: buffers that are emptied afterwards.
 * @throws {DOMException} `DataCloneError` for functions, symbols, promises and the like.
 */
declare function structuredClone<T = any>(value: T, options?: { transfer?: ArrayBuffer[] }): T;

/**
 * Decodes base64 text. The bytes are read as UTF-8, as in Yao. A browser instead makes one character from each byte.
 *
 * @example
 * ```ts
 * t.assert.Equal(atob(btoa("Grüße")), "Grüße");
 * ```
 *
 * @param data Base64 text.
 */
declare function atob(data: string): string;

/**
 * Encodes text, as UTF-8, in base64. A browser does not accept characters above U+00FF.
 *
 * @param data The text.
 */
declare function btoa(data: string): string;

/** Time since the realm began. */
interface Performance {
  /** Milliseconds since the realm began, with fractions. `t.mock.now` stops them. */
  now(): number;
}

/**
 * Time since the realm began.
 *
 * @example
 * ```ts
 * const started = performance.now();
 * t.assert.GreaterOrEqual(performance.now(), started);
 * ```
 */
declare var performance: Performance;

/** The parts of an address. Setting one part changes the others. */
interface URL {
  /** `#` and what follows, or empty. */
  hash: string;
  /** Host name and port. */
  host: string;
  /** Host name. */
  hostname: string;
  /** The whole address. */
  href: string;
  /** Protocol, host name and port. */
  readonly origin: string;
  /** Password, or empty. */
  password: string;
  /** Path, with its leading slash. */
  pathname: string;
  /** Port, empty if it is the default port of the protocol. */
  port: string;
  /** Protocol with its colon: `https:`. */
  protocol: string;
  /** `?` and the query, or empty. */
  search: string;
  /** The query, value by value. */
  readonly searchParams: URLSearchParams;
  /** User name, or empty. */
  username: string;
  /** The same as `href`. */
  toString(): string;
  /** The same as `href`. */
  toJSON(): string;
}

/**
 * Reads an address.
 *
 * @example
 * ```ts
 * const url = new URL("../list?page=2", "https://example.com/a/b");
 * t.assert.Equal(url.href, "https://example.com/list?page=2");
 * t.assert.Panic(() => new URL("no address"));
 * ```
 *
 * @param url An address, or one relative to `base`.
 * @param base An address.
 * @throws {TypeError} If it is not an address.
 */
declare var URL: typeof globalThis extends { onmessage: any; URL: infer U }
  ? U
  : {
      new (url: string | URL, base?: string | URL): URL;
      readonly prototype: URL;
      /** Whether it is an address. */
      canParse(url: string | URL, base?: string | URL): boolean;
      /** Reads an address; null if it is invalid. */
      parse(url: string | URL, base?: string | URL): URL | null;
    };

/** The values of a query, in their order. */
interface URLSearchParams {
  /** The number of values. */
  readonly size: number;

  /**
   * Adds a value, even if the name has one already.
   *
   * @param name Its name.
   * @param value The value.
   */
  append(name: string, value: string): void;

  /**
   * Removes all values of a name.
   *
   * @param name The name.
   * @param value Removes only values that are equal to it.
   */
  delete(name: string, value?: string): void;

  /**
   * The first value of a name, null if there is none.
   *
   * @param name The name.
   */
  get(name: string): string | null;

  /**
   * All values of a name.
   *
   * @param name The name.
   */
  getAll(name: string): string[];

  /**
   * Whether there is a value of a name.
   *
   * @param name The name.
   * @param value Looks for this value.
   */
  has(name: string, value?: string): boolean;

  /**
   * Sets a value, which replaces all values of the name.
   *
   * @param name Its name.
   * @param value The value.
   */
  set(name: string, value: string): void;

  /** Sorts by name. */
  sort(): void;

  /** The query without `?`. */
  toString(): string;

  /**
   * Calls a function for each value.
   *
   * @param callback The function.
   * @param thisArg Its `this`.
   */
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, thisArg?: any): void;

  /** Names and values. */
  entries(): IterableIterator<[string, string]>;

  /** Names. */
  keys(): IterableIterator<string>;

  /** Values. */
  values(): IterableIterator<string>;

  /** Names and values. */
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

/**
 * Makes a query.
 *
 * @example
 * ```ts
 * const query = new URLSearchParams({ q: "a b", page: "2" });
 * t.assert.Equal(query.toString(), "q=a+b&page=2");
 * ```
 *
 * @param init Text with or without `?`, pairs, or an object.
 */
declare var URLSearchParams: typeof globalThis extends { onmessage: any; URLSearchParams: infer P }
  ? P
  : {
      new (init?: string | Iterable<[string, string]> | string[][] | Record<string, string>): URLSearchParams;
      readonly prototype: URLSearchParams;
    };

/** Turns text into bytes. */
interface TextEncoder {
  /** Always `utf-8`. */
  readonly encoding: string;

  /**
   * Encodes text.
   *
   * @param input The text, empty if not given.
   */
  encode(input?: string): Uint8Array;

  /**
   * Encodes text into an array, as far as it fits.
   *
   * @param source The text.
   * @param destination The array.
   * @returns UTF-16 units read and bytes written.
   */
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}

/** Turns text into bytes. */
declare var TextEncoder: typeof globalThis extends { onmessage: any; TextEncoder: infer E }
  ? E
  : {
      new (): TextEncoder;
      readonly prototype: TextEncoder;
    };

/** Turns bytes into text. */
interface TextDecoder {
  /** Name of the encoding in lower case: `utf-8`. */
  readonly encoding: string;
  /** Whether invalid bytes throw. */
  readonly fatal: boolean;
  /** Whether a byte order mark is kept. */
  readonly ignoreBOM: boolean;

  /**
   * Decodes bytes. Invalid bytes become U+FFFD, unless `fatal` is set.
   *
   * @param input The bytes, none if not given.
   * @param options `stream: true` keeps the beginning of a character for the next call.
   */
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

/**
 * Turns bytes into text.
 *
 * @example
 * ```ts
 * const bytes = new TextEncoder().encode("é");
 * t.assert.Equal(new TextDecoder().decode(bytes), "é");
 * ```
 *
 * @param label `utf-8`, which is the default, `utf-16le`, `utf-16be`, `latin1` or another name of these.
 * @param options `fatal: true` throws on invalid bytes; `ignoreBOM: true` keeps a byte order mark.
 */
declare var TextDecoder: typeof globalThis extends { onmessage: any; TextDecoder: infer D }
  ? D
  : {
      new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
      readonly prototype: TextDecoder;
    };

/** An error that the functions and classes in this file throw. */
interface DOMException extends Error {
  /** Its number, 0 for names that have none. */
  readonly code: number;
  /** What went wrong. */
  readonly message: string;
  /** Its kind: `DataCloneError`, `InvalidCharacterError` and others. */
  readonly name: string;
}

/**
 * Makes an error with a kind.
 *
 * @param message What went wrong.
 * @param name Its kind, `Error` if not given.
 */
declare var DOMException: typeof globalThis extends { onmessage: any; DOMException: infer X }
  ? X
  : {
      new (message?: string, name?: string): DOMException;
      readonly prototype: DOMException;
    };
