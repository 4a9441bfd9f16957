/**
 * The arguments of an agent's handlers (`ctx`, messages, the payload of `Next`), and what handlers return.
 *
 * ```ts
 * // assistants/expense/src/index.ts
 * export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
 *   ctx.memory.chat.Incr("turns");
 *   return { messages, temperature: 0.2, metadata: { source: "expense" } };
 * }
 *
 * export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
 *   if (payload.completion?.content?.includes("approved")) return { data: { status: "approved" } };
 * }
 * ```
 *
 * ```ts
 * // assistants/expense/src/index_test.ts
 * import { Create, Next } from "./index";
 *
 * export function TestTurnsAreCounted(t: testing.T, ctx: agent.Context) {
 *   const created = Create(ctx, [{ role: "user", content: "Taxi, 30 EUR" }]);
 *
 *   t.assert.Equal(ctx.memory.chat.Get("turns"), 1);
 *   t.assert.JSONPath(created, "metadata.source", "expense");
 *   t.assert.Nil(Next(ctx, { messages: [], completion: { content: "refused" } }));
 * }
 * ```
 */
declare namespace agent {
  /** A user or team. */
  interface Identity {
    /** The same field as `ctx.authorized.user_id` or `ctx.authorized.team_id`. */
    ID: string;
    /** Display name, if the context file gives one. */
    Name?: string;
  }

  /** The user who makes the request, and what this user may see. Empty fields are absent. */
  interface Authorized {
    /** Subject of the token; in a test the user id. */
    sub?: string;
    /** OAuth client. */
    client_id?: string;
    /** Granted scopes, separated by spaces. */
    scope?: string;
    /** Session id. */
    session_id?: string;
    /** User id, `test-user` unless `-u`, case or context file differ. */
    user_id?: string;
    /** Team id, `test-team` unless `-t`, case or context file differ. */
    team_id?: string;
    /** Tenant id; in a test the team id. */
    tenant_id?: string;
    /** Whether the user stays logged in. */
    remember_me?: boolean;
    /** Which records the user may see. */
    constraints?: {
      /** Only records of their owner. */
      owner_only?: boolean;
      /** Only records of their creator. */
      creator_only?: boolean;
      /** Only records of their editor. */
      editor_only?: boolean;
      /** Only records of the team. */
      team_only?: boolean;
      /** Constraints of the application. */
      extra?: Record<string, any>;
    };
    /** Further fields of the context file. */
    [field: string]: any;
  }

  /**
   * The context of one request, and what a handler can use to answer.
   *
   * A test may change it all, with no effect on others. `ctx.Locale` and `ctx.locale` change together.
   *
   * @example
   * ```ts
   * ctx.User = null;
   * ctx.Locale = "de-de";
   * ctx.Metadata.testMode = true;
   *
   * t.assert.Nil(ctx.authorized.user_id);
   * t.assert.Equal(ctx.locale, "de-de");
   * t.assert.Equal(ctx.metadata, { testMode: true });
   * ```
   */
  interface Context {
    /** The user. Setting it to null removes `user_id` and `sub` from `authorized`. */
    get User(): Identity;
    set User(user: Identity | null | undefined);

    /** The team. Setting it to null removes `team_id` and `tenant_id` from `authorized`. */
    get Team(): Identity;
    set Team(team: Identity | null | undefined);

    /** The same as `locale`. */
    Locale: string;

    /** The same as `client`. */
    Client: {
      /** The same as `client.type`. */
      Type: string;
      /** The same as `client.ip`. */
      IP: string;
    };

    /** The same object as `metadata`. */
    Metadata: Record<string, any>;

    /** The same as `chat_id`. */
    ChatID: string;

    /** The same as `assistant_id`. */
    AssistantID: string;

    /** Id of the chat. In a script test `script-test-<function>`. */
    chat_id: string;

    /** Id of the assistant, with dots: `tests.hook-next`. */
    assistant_id: string;

    /** Language and region; in a test `en-us` unless the context file differs. */
    locale: string;

    /** Empty in a test. */
    theme: string;

    /** Empty in a test. */
    route: string;

    /** `test` in a test, `agent` in a call by another agent. */
    referer: string;

    /** Format of output: `standard`, `cui-web` and others. */
    accept: string;

    /** The client program. */
    client: {
      /** `web`, `mobile` and others; `test` in a test. */
      type: string;
      /** `yao-agent-test/1.0` in a test. */
      user_agent: string;
      /** `127.0.0.1` in a test. */
      ip: string;
    };

    /** Any values, passed on with the request. */
    metadata: Record<string, any>;

    /** `{}` if nobody is logged in. */
    authorized: Authorized;

    /** Values that are kept between requests. */
    memory: Memory;

    /** Steps shown to the user while the agent works. */
    trace: Trace;

    /** Calls of MCP servers, with parsed results. */
    mcp: MCP;

    /** Calls of other agents. */
    agent: Agents;

    /** Calls of models, without an agent. */
    llm: LLM;

    /** Search on the web, in knowledge bases and in the database. */
    search: Search;

    /** Commands in a sandbox; absent without one. */
    computer?: Computer;

    /** Files; absent without a sandbox or `metadata.workspace_id`. */
    workspace?: Workspace;

    /** Old name of `computer` and `workspace`. */
    sandbox?: any;

    /**
     * The messages sent so far, by their beginning, with all changes. Exists only in yao-test.
     *
     * @example
     * ```ts
     * const id = ctx.SendStream("Thinking");
     * ctx.Append(id, " ... done");
     * ctx.End(id);
     *
     * t.assert.Len(ctx.sent, 1);
     * t.assert.Equal(ctx.sent[0]?.props.content, "Thinking ... done");
     * ```
     */
    readonly sent: SentMessage[];

    /**
     * Sends a message that cannot be changed.
     *
     * @example
     * ```ts
     * ctx.Send("Hello");
     * ctx.Send({ type: "image", props: { url: "https://example.com/a.png" } });
     * t.assert.Equal(ctx.sent.map((message) => message.type), ["text", "image"]);
     * ```
     *
     * @param message Needs a `type`; a text stands for `{ type: "text", props: { content } }`.
     * @param block Unless the message has `block_id`.
     * @returns Its `message_id`, or a new one.
     */
    Send(message: OutputMessage | string, block?: string): string;

    /**
     * Sends a message that `Append`, `Replace`, `Merge` and `Set` can change until `End`.
     *
     * @example
     * ```ts
     * const id = ctx.SendStream({ type: "task", props: { progress: 0 } });
     * ctx.Merge(id, { progress: 100 }, "props");
     * ctx.End(id);
     * t.assert.Equal(ctx.sent[0]?.props, { progress: 100 });
     * ```
     *
     * @param message A message or text, as for `Send`.
     * @param block Unless the message has `block_id`.
     * @returns The id of the message.
     */
    SendStream(message: OutputMessage | string, block?: string): string;

    /**
     * Appends to an open message: text to text, elements to a list.
     *
     * @param id Id of the message.
     * @param content What is appended; if it is a message, its `props.content`.
     * @param path Where, with dots; `props.content` if not given.
     * @returns `id`.
     */
    Append(id: string, content: any, path?: string): string;

    /**
     * Replaces an open message, but its ids.
     *
     * @param id Id of the message.
     * @param message A message or text, as for `Send`.
     * @returns `id`.
     */
    Replace(id: string, message: OutputMessage | string): string;

    /**
     * Merges fields into an open message, nested ones too. Other fields do not change.
     *
     * @param id Id of the message.
     * @param fields The fields.
     * @param path Where, with dots; if not given, `props.content` when that is an object, else `props`.
     * @returns `id`.
     */
    Merge(id: string, fields: Record<string, any>, path?: string): string;

    /**
     * Sets one field of an open message. Missing objects on the path are created.
     *
     * @param id Id of the message.
     * @param value The new value.
     * @param path The field, with dots: `props.status`.
     * @returns `id`.
     */
    Set(id: string, value: any, path: string): string;

    /**
     * Closes an open message.
     *
     * @param id Id of the message.
     * @param text Appended to `props.content` before.
     * @returns `id`.
     */
    End(id: string, text?: string): string;

    /**
     * `M1`, `M2` and so on within this context.
     *
     * @example
     * ```ts
     * t.assert.Match(ctx.MessageID(), /^M\d+$/);
     * ```
     */
    MessageID(): string;

    /** `B1`, `B2` and so on. Messages of one block are shown together. */
    BlockID(): string;

    /** `T1`, `T2` and so on, for messages of parallel work. */
    ThreadID(): string;

    /**
     * Closes a block.
     *
     * @param id Id of the block.
     */
    EndBlock(id: string): void;

    /** Clears `memory.context`. Handlers need not call it. */
    Release(): void;

    /** The same as `Release`, called by `Use`. */
    __release(): void;
  }

  /** A message to the client, for `ctx.Send`. */
  interface OutputMessage {
    /** `text`, `image`, `loading`, `action`, `error` or any type that the client knows. */
    type: string;
    /** What the client shows; the fields depend on the type, `content` for text. */
    props?: Record<string, any>;
    /** Id of the message, made if not given. */
    message_id?: string;
    /** Id of the block it is shown in. */
    block_id?: string;
    /** Id of the thread it belongs to. */
    thread_id?: string;
    /** Free values. */
    metadata?: Record<string, any>;
    /** Further fields. */
    [field: string]: any;
  }

  /** A message that was sent, as `ctx.sent` keeps it. */
  interface SentMessage extends OutputMessage {
    /** What the client shows, `{}` if nothing. */
    props: Record<string, any>;
    /** Id of the message. */
    message_id: string;
    /** Of a message of `SendStream`: whether `End` has closed it. */
    done?: boolean;
  }

  /** Part of an answer that arrives, as `onChunk` gets it. */
  interface Chunk {
    /** `text`, `thinking`, `tool_call`, `error` and others. */
    type: string;
    /** What arrived; `content` for text. */
    props?: Record<string, any>;
    /** Id of the part. */
    chunk_id?: string;
    /** Id of the message it belongs to. */
    message_id?: string;
    /** Id of the block it belongs to. */
    block_id?: string;
    /** Id of the thread it belongs to. */
    thread_id?: string;
    /** Whether it changes an earlier message. */
    delta?: boolean;
    /** What it changes. */
    delta_path?: string;
    /** How it changes it. */
    delta_action?: "append" | "replace" | "merge" | "set" | (string & {});
    /** Further fields. */
    [field: string]: any;
  }

  /**
   * Four stores of values, empty when a test begins. One without an id is undefined: there is no `user` after
   * `ctx.User = null`.
   *
   * @example
   * ```ts
   * ctx.memory.user.Set("language", "de");
   * ctx.memory.chat.Push("topics", ["travel", "meals"]);
   *
   * t.assert.Equal(ctx.memory.user.Get("language"), "de");
   * t.assert.Equal(ctx.memory.chat.ArrayAll("topics"), ["travel", "meals"]);
   * t.assert.Nil(ctx.memory.team.Get("language"));
   * ```
   */
  interface Memory {
    /** Values of the user. Outside tests they are kept permanently. */
    user: MemoryNamespace;
    /** Values of the team. Outside tests they are kept permanently. */
    team: MemoryNamespace;
    /** Values of the chat. Outside tests they are kept for 24 hours. */
    chat: MemoryNamespace;
    /** Values of the request, until `ctx.Release()`. */
    context: MemoryNamespace;
  }

  /** One store of `ctx.memory`. Values are JSON, and reading returns a copy. */
  interface MemoryNamespace {
    /** Id of the user, team, chat or context it belongs to. */
    readonly id: string;

    /** `user`, `team`, `chat` or `context`. */
    readonly space: string;

    /**
     * Returns a value.
     *
     * @param key Its key.
     * @returns The value, null if there is none.
     */
    Get(key: string): any;

    /**
     * Stores a value.
     *
     * @example
     * ```ts
     * ctx.memory.context.Set("token", "abc", 300);
     * t.assert.Equal(ctx.memory.context.GetDel("token"), "abc");
     * t.assert.False(ctx.memory.context.Has("token"));
     * ```
     *
     * @param key Its key.
     * @param value Any JSON value.
     * @param ttl Seconds until it is removed. (In Yao these are milliseconds, unlike in its documentation.)
     */
    Set(key: string, value: any, ttl?: number): void;

    /**
     * Removes a value. A missing key is no error.
     *
     * @param key Its key; `*` stands for any characters: `cache:*` means all keys that begin with `cache:`.
     */
    Del(key: string): void;

    /**
     * Tells whether there is a value.
     *
     * @param key Its key.
     */
    Has(key: string): boolean;

    /**
     * Returns a value and removes it.
     *
     * @param key Its key.
     * @returns The value, null if there was none.
     */
    GetDel(key: string): any;

    /** All keys. */
    Keys(): string[];

    /** The number of keys. */
    Len(): number;

    /** Removes all values. */
    Clear(): void;

    /**
     * Adds to a number. A missing number counts as 0.
     *
     * @example
     * ```ts
     * t.assert.Equal(ctx.memory.chat.Incr("turns"), 1);
     * t.assert.Equal(ctx.memory.chat.Incr("turns", 5), 6);
     * ```
     *
     * @param key Its key.
     * @param delta What is added, 1 if not given.
     * @returns The new number.
     */
    Incr(key: string, delta?: number): number;

    /**
     * Subtracts from a number. A missing number counts as 0.
     *
     * @param key Its key.
     * @param delta What is subtracted, 1 if not given.
     * @returns The new number.
     */
    Decr(key: string, delta?: number): number;

    /**
     * Appends to a list, which is created if missing. Yao documents this method and those below, but does
     * not have them.
     *
     * @param key Its key.
     * @param values The new elements.
     * @returns The new length.
     */
    Push(key: string, values: any[]): number;

    /**
     * Removes the last element of a list.
     *
     * @param key Its key.
     * @returns The element, null if there was none.
     */
    Pop(key: string): any;

    /**
     * Removes the last elements of a list.
     *
     * @param key Its key.
     * @param count How many at most.
     * @returns The elements, in the order of the list.
     */
    Pull(key: string, count: number): any[];

    /**
     * Removes all elements of a list.
     *
     * @param key Its key.
     * @returns The elements.
     */
    PullAll(key: string): any[];

    /**
     * Appends values that the list lacks.
     *
     * @param key Its key.
     * @param values The new elements.
     * @returns The new length.
     */
    AddToSet(key: string, values: any[]): number;

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
     * @param index From 0; negative counts from the end.
     * @returns The element, null if there is none.
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
     * @example
     * ```ts
     * ctx.memory.chat.Push("n", [1, 2, 3, 4]);
     * t.assert.Equal(ctx.memory.chat.ArraySlice("n", 0, 2), [1, 2]);
     * t.assert.Equal(ctx.memory.chat.ArraySlice("n", -2, -1), [3, 4]);
     * ```
     *
     * @param key Its key.
     * @param start Index of the first element, from 0; negative counts from the end.
     * @param end Index after the last element; a negative one is that of the last element, from the end.
     */
    ArraySlice(key: string, start: number, end?: number): any[];

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

  /** How a step is shown. */
  interface TraceOption {
    /** Its title. */
    label: string;
    /** Its type, free. */
    type?: string;
    /** Name of an icon. */
    icon?: string;
    /** A sentence about it. */
    description?: string;
    /** Free values. */
    metadata?: Record<string, any>;
    /** Whether the step above ends when this one begins, true if not given. */
    autoCompleteParent?: boolean;
  }

  /** Members that steps and the whole trace share. */
  interface TraceScope {
    /** Its id. */
    readonly id: string;

    /**
     * Begins a step.
     *
     * @param input What the step works on.
     * @param option How it is shown.
     */
    Add(input: any, option: TraceOption): TraceNode;

    /**
     * Begins steps that run in parallel.
     *
     * @param steps One item per step.
     * @returns One node per step.
     */
    Parallel(steps: { input: any; option: TraceOption }[]): TraceNode[];

    /**
     * Adds a line at info level.
     *
     * @param message The text.
     */
    Info(message: string): this;

    /**
     * Adds a line at debug level.
     *
     * @param message The text.
     */
    Debug(message: string): this;

    /**
     * Adds a line at warning level.
     *
     * @param message The text.
     */
    Warn(message: string): this;

    /**
     * Adds a line at error level.
     *
     * @param message The text.
     */
    Error(message: string): this;

    /**
     * Sets the output.
     *
     * @param output Any value.
     */
    SetOutput(output: any): this;

    /**
     * Sets one value of the metadata.
     *
     * @param key Its key.
     * @param value Any value.
     */
    SetMetadata(key: string, value: any): this;

    /**
     * Marks it as completed.
     *
     * @param output Its output.
     */
    Complete(output?: any): this;

    /**
     * Marks it as failed.
     *
     * @param error Why.
     */
    Fail(error: string | Error): this;
  }

  /** One step of a trace. */
  interface TraceNode extends TraceScope {
    /** What the step works on. Exists only in yao-test. */
    readonly input: any;
    /** How it is shown. Exists only in yao-test. */
    readonly option: TraceOption;
  }

  /** A call of a method of a trace or of one of its steps. */
  interface TraceRecord {
    /** Id of the step, null for the trace itself. */
    node: string | null;
    /** Name of the method. */
    method: string;
    /** Its arguments. */
    args: any[];
  }

  /** A space that groups steps on the screen. In tests it is empty. */
  interface TraceSpace {
    /** Its id. */
    readonly id: string;
    /** Further members. */
    [member: string]: any;
  }

  /**
   * Steps shown to the user while the agent works. In tests, calls are only recorded.
   *
   * @example
   * ```ts
   * const step = ctx.trace.Add({ query: "flights" }, { label: "Search" });
   * step.Info("asking two providers").Complete({ found: 3 });
   *
   * t.assert.Equal(ctx.trace.nodes[0]?.option.label, "Search");
   * t.assert.Equal(ctx.trace.records.map((record) => record.method), ["Add", "Info", "Complete"]);
   * t.assert.False(ctx.trace.IsComplete());
   * ```
   */
  interface Trace extends TraceScope {
    /** All calls so far, oldest first. Exists only in yao-test. */
    readonly records: TraceRecord[];

    /** All steps so far, oldest first. Exists only in yao-test. */
    readonly nodes: TraceNode[];

    /** Marks the whole trace as complete. */
    MarkComplete(): void;

    /** Whether the trace is complete; false when tracing is off. */
    IsComplete(): boolean;

    /**
     * Makes a space that groups steps on the screen.
     *
     * @param option How it is shown; `ttl` in seconds.
     */
    CreateSpace(option: {
      label: string;
      type?: string;
      icon?: string;
      description?: string;
      ttl?: number;
      metadata?: Record<string, any>;
    }): TraceSpace;

    /**
     * Finds a space.
     *
     * @param id Its id.
     */
    GetSpace(id: string): TraceSpace;

    /** Frees what the trace holds. Handlers need not call it. */
    Release(): void;
  }

  /** One tool call among several, to the same server. */
  interface MCPCall {
    /** Name of the tool. */
    name: string;
    /** Its arguments. */
    arguments?: Record<string, any>;
  }

  /** One tool call among several, to any server. */
  interface MCPRequest {
    /** Id of the server. */
    mcp: string;
    /** Name of the tool. */
    tool: string;
    /** Its arguments. */
    arguments?: Record<string, any>;
  }

  /** The result of an `MCPRequest`. */
  interface MCPResult {
    /** Id of the server. */
    mcp: string;
    /** Name of the tool. */
    tool: string;
    /** The result, as `CallTool` returns it. */
    result?: any;
    /** Why the call failed. */
    error?: string;
  }

  /** An example of a call, which comes with an MCP server. */
  interface MCPSample {
    /** Its name. */
    name: string;
    /** What it shows. */
    description?: string;
    /** Arguments of the call. */
    input: any;
    /** Its result. */
    output?: any;
    /** Its place among the samples, from 0. */
    index: number;
  }

  /** Commands in a sandbox: mocks answer them. */
  interface Computer {
    /** Id of the box. */
    id: string;
    /**
     * Runs a command: a list, or a text that is split at blanks. If the exit code is not 0, nothing is thrown.
     *
     * @param command A list, or a text that is split at blanks.
     */
    Exec: (command: string | string[]) => { stdout: string; stderr: string; exit_code: number };
    /**
     * Information about the box; always the same in a test.
     */
    Info: () => Record<string, any>;
    /**
     * Throws: there is no screen.
     */
    VNC: () => string;
    /**
     * Throws: there are no ports.
     *
     * @param port Of a program in the box.
     * @param path Of a folder; the top if not given.
     */
    Proxy: (port: number, path?: string) => string;
  }

  /** Files of a workspace. Paths are relative. For reading, a path must not begin with `/` or contain `.` or `..`. */
  interface Workspace {
    /**
     * The text of a file.
     *
     * @param path Of a file or folder.
     */
    ReadFile: (path: string) => string;
    /**
     * Writes a file, and makes the folders above it.
     *
     * @param path Of a file or folder.
     * @param content Its text; other values are converted to text.
     */
    WriteFile: (path: string, content: any) => void;
    /**
     * Whether there is a file or folder.
     *
     * @param path Of a file or folder.
     */
    Exists: (path: string) => boolean;
    /**
     * What is in a folder, by name.
     *
     * @param path Of a folder; the top if not given.
     */
    ReadDir: (path?: string) => { name: string; is_dir: boolean; size: number }[];
    /**
     * What a file or folder is; `mtime` is in milliseconds.
     *
     * @param path Of a file or folder.
     */
    Stat: (path: string) => { name: string; size: number; is_dir: boolean; mode: number; mtime: number };
    /**
     * Makes a folder and those above it.
     *
     * @param path Of a file or folder.
     */
    MkdirAll: (path: string) => void;
    /**
     * Removes a file or an empty folder.
     *
     * @param path Of a file or folder.
     */
    Remove: (path: string) => void;
    /**
     * Removes a file, or a folder with everything in it.
     *
     * @param path Of a file or folder.
     */
    RemoveAll: (path: string) => void;
    /**
     * Moves a file or folder.
     *
     * @param from Where it is.
     * @param to Where it will be.
     */
    Rename: (from: string, to: string) => void;
    /**
     * Copies a file or folder.
     *
     * @param from Where it is.
     * @param to Where it will be.
     */
    Copy: (from: string, to: string) => void;
  }

  /** Examples of calls. */
  interface MCPSamples {
    /** The examples. */
    samples: MCPSample[];
    /** Their number. */
    total: number;
  }

  /** Tools of a server. */
  interface MCPTools {
    /** The tools; `inputSchema` is the JSON Schema of their arguments. */
    tools: { name: string; description?: string; inputSchema?: any; [field: string]: any }[];
    /** Where the list continues, if it does. */
    nextCursor?: string;
  }

  /** Resources of a server. */
  interface MCPResources {
    /** The resources. */
    resources: { uri: string; name: string; description?: string; mimeType?: string; [field: string]: any }[];
    /** Where the list continues, if it does. */
    nextCursor?: string;
  }

  /** The content of a resource. */
  interface MCPContents {
    /** Its parts: text, or base64 in `blob`. */
    contents: { uri: string; mimeType?: string; text?: string; blob?: string; [field: string]: any }[];
  }

  /** Prompts of a server. */
  interface MCPPrompts {
    /** The prompts, with the variables they take. */
    prompts: { name: string; description?: string; arguments?: any[]; [field: string]: any }[];
    /** Where the list continues, if it does. */
    nextCursor?: string;
  }

  /** A prompt with its variables filled in. */
  interface MCPPrompt {
    /** What it is for. */
    description?: string;
    /** Its messages. */
    messages: { role: string; content: any }[];
  }

  /**
   * Calls of MCP servers. An unknown server or tool throws.
   *
   * Results are parsed: one text is the JSON value in it, or else the text; several contents are an array. If a tool
   * throws, the result is the text `Error executing tool NAME: ...`.
   */
  interface MCP {
    /**
     * Lists the tools of a server.
     *
     * @param server Id of the server.
     * @param cursor Where to continue: `nextCursor` of the list before.
     */
    ListTools(server: string, cursor?: string): MCPTools;

    /**
     * Calls a tool.
     *
     * @param server Id of the server.
     * @param name Name of the tool.
     * @param args Its arguments.
     * @returns The parsed result.
     */
    CallTool(server: string, name: string, args?: Record<string, any>): any;

    /**
     * One after another.
     *
     * @param server Id of the server.
     * @param calls The calls.
     * @returns The parsed results, in the order of the calls.
     */
    CallTools(server: string, calls: MCPCall[]): any[];

    /**
     * In tests one after another.
     *
     * @param server Id of the server.
     * @param calls The calls.
     * @returns The parsed results, in the order of the calls.
     */
    CallToolsParallel(server: string, calls: MCPCall[]): any[];

    /**
     * Waits for all.
     *
     * @param requests The calls.
     * @returns One item per request, in that order.
     */
    All(requests: MCPRequest[]): MCPResult[];

    /**
     * Ends with the first that succeeds.
     *
     * @param requests The calls.
     * @returns One item per request, in that order; null for those not finished.
     */
    Any(requests: MCPRequest[]): (MCPResult | null)[];

    /**
     * Ends with the first, with or without success.
     *
     * @param requests The calls.
     * @returns One item per request, in that order; null for those not finished.
     */
    Race(requests: MCPRequest[]): (MCPResult | null)[];

    /**
     * Lists the resources of a server.
     *
     * @param server Id of the server.
     * @param cursor Where to continue: `nextCursor` of the list before.
     */
    ListResources(server: string, cursor?: string): MCPResources;

    /**
     * Reads a resource.
     *
     * @param server Id of the server.
     * @param uri Address of the resource.
     */
    ReadResource(server: string, uri: string): MCPContents;

    /**
     * Lists the prompts of a server.
     *
     * @param server Id of the server.
     * @param cursor Where to continue: `nextCursor` of the list before.
     */
    ListPrompts(server: string, cursor?: string): MCPPrompts;

    /**
     * Fills in a prompt.
     *
     * @param server Id of the server.
     * @param name Name of the prompt.
     * @param args Values of its variables.
     */
    GetPrompt(server: string, name: string, args?: Record<string, any>): MCPPrompt;

    /**
     * Lists examples of calls.
     *
     * @param server Id of the server.
     * @param type Of what.
     * @param name Name of the tool or resource.
     */
    ListSamples(server: string, type: "tool" | "resource", name: string): MCPSamples;

    /**
     * Returns one example of a call.
     *
     * @param server Id of the server.
     * @param type Of what.
     * @param name Name of the tool or resource.
     * @param index Its place, from 0.
     */
    GetSample(server: string, type: "tool" | "resource", name: string, index: number): MCPSample;
  }

  /** Options of a call of an agent. Its hooks get them as their third argument. */
  interface Options {
    /** Connector for this call instead of the agent's own. */
    connector?: string;
    /** Mode of the agent: `chat`, `task` and others. */
    mode?: string;
    /** Whether and how to search: true, false, or an object with the details. */
    search?: any;
    /** What to leave out. */
    skip?: Skip;
    /** Leaves out the global prompts. */
    disable_global_prompts?: boolean;
    /** Merged into `ctx.metadata` before `Create` runs. */
    metadata?: Record<string, any>;
    /** Further options. */
    [option: string]: any;
  }

  /** What a call of an agent leaves out. */
  interface Skip {
    /** Neither reads nor writes the history of the chat. */
    history?: boolean;
    /** Records no trace. */
    trace?: boolean;
    /** Sends nothing to the client. */
    output?: boolean;
    /** Extracts no keywords. */
    keyword?: boolean;
    /** Does not search. */
    search?: boolean;
    /** Does not parse attachments. */
    content_parsing?: boolean;
  }

  /** Options of `ctx.agent.Call`. */
  interface CallOptions extends Options {
    /**
     * Called for each part as it arrives.
     *
     * @param message The part.
     * @returns 0 or nothing to continue, any other number to stop.
     */
    onChunk?: (message: Chunk) => number | void;
  }

  /** One call among several. */
  interface AgentRequest {
    /** Id of the agent. */
    agent: string;
    /** What it is sent. */
    messages: Message[];
    /** Options of this call, without `onChunk`. */
    options?: Options;
  }

  /** The result of a call of an agent. */
  interface AgentResult {
    /** Id of the agent. */
    agent_id: string;
    /** The whole answer. */
    response?: Response;
    /** Text of the answer. */
    content?: any;
    /** Why the call failed. */
    error?: string;
  }

  /** For calls of several agents or models. */
  interface BatchOptions {
    /**
     * Called for each part as it arrives.
     *
     * @param id Id of the agent or connector.
     * @param index Place of the request, from 0.
     * @param message The part.
     * @returns 0 or nothing to continue, any other number to stop.
     */
    onChunk?: (id: string, index: number, message: Chunk) => number | void;
  }

  /** Calls of other agents. Problems are in `error`; only arguments of a wrong type throw. */
  interface Agents {
    /**
     * Calls an agent and waits for its answer.
     *
     * @example
     * ```ts
     * t.mock.agent("helpers.translate", "Guten Tag");
     *
     * const result = ctx.agent.Call("helpers.translate", [{ role: "user", content: "Good day" }]);
     *
     * t.assert.NoError(result.error);
     * t.assert.Equal(result.content, "Guten Tag");
     * ```
     *
     * @param id Id of the agent.
     * @param messages What it is sent.
     * @param options Options of the call.
     */
    Call(id: string, messages: Message[], options?: CallOptions): AgentResult;

    /**
     * Waits for all. They send nothing to the client.
     *
     * @param requests The calls; invalid ones are dropped.
     * @param options For all of them.
     * @returns One item per request, in that order.
     */
    All(requests: AgentRequest[], options?: BatchOptions): AgentResult[];

    /**
     * Ends with the first that succeeds.
     *
     * @param requests The calls; invalid ones are dropped.
     * @param options For all of them.
     * @returns One item per request, in that order; null for those not finished.
     */
    Any(requests: AgentRequest[], options?: BatchOptions): (AgentResult | null)[];

    /**
     * Ends with the first, with or without success.
     *
     * @param requests The calls; invalid ones are dropped.
     * @param options For all of them.
     * @returns One item per request, in that order; null for those not finished.
     */
    Race(requests: AgentRequest[], options?: BatchOptions): (AgentResult | null)[];
  }

  /** Options of `ctx.llm.Stream`. */
  interface LLMOptions {
    /** Randomness, 0 to 2. */
    temperature?: number;
    /** Old name of `max_completion_tokens`. */
    max_tokens?: number;
    /** Maximum length of the answer in tokens. */
    max_completion_tokens?: number;
    /** Share of likely tokens to choose from, 0 to 1. */
    top_p?: number;
    /** -2 to 2. */
    presence_penalty?: number;
    /** -2 to 2. */
    frequency_penalty?: number;
    /** Texts that end the answer. */
    stop?: string | string[];
    /** Whom the call is for. */
    user?: string;
    /** Makes answers more similar to each other. */
    seed?: number;
    /** Tools, in the format of OpenAI. */
    tools?: any[];
    /** `auto`, `none`, `required` or one tool. */
    tool_choice?: any;
    /** `{ type: "json_object" }` and others. */
    response_format?: any;
    /** `low`, `medium`, `high` and others. */
    reasoning_effort?: string;
    /**
     * Called for each part as it arrives.
     *
     * @param message The part.
     * @returns 0 or nothing to continue, any other number to stop.
     */
    onChunk?: (message: Chunk) => number | void;
    /** Further options. */
    [option: string]: any;
  }

  /** One call among several. */
  interface LLMRequest {
    /** Id of the connector. */
    connector: string;
    /** What the model is sent. */
    messages: Message[];
    /** Options of this call, without `onChunk`. */
    options?: LLMOptions;
  }

  /** The result of a call of a model. */
  interface LLMResult {
    /** Id of the connector. */
    connector: string;
    /** The whole answer. */
    response?: Completion;
    /** Text of the answer. */
    content?: any;
    /** Why the call failed. */
    error?: string;
  }

  /** The result of making an image. */
  interface ImageResult {
    /** Id of the connector. */
    connector: string;
    /** The image, as base64 or as an address. */
    image?: string;
    /** `png`, `jpeg` and others. */
    format?: string;
    /** Why the call failed. */
    error?: string;
  }

  /** Calls of models, without an agent. Problems are in `error`. */
  interface LLM {
    /**
     * Calls a model and waits for its answer.
     *
     * @param connector Id of the connector.
     * @param messages What the model is sent.
     * @param options Options of the call.
     */
    Stream(connector: string, messages: Message[], options?: LLMOptions): LLMResult;

    /**
     * Waits for all.
     *
     * @param requests The calls.
     * @param options For all of them.
     * @returns One item per request, in that order.
     */
    All(requests: LLMRequest[], options?: BatchOptions): LLMResult[];

    /**
     * Ends with the first that succeeds.
     *
     * @param requests The calls.
     * @param options For all of them.
     * @returns One item per request, in that order; null for those not finished.
     */
    Any(requests: LLMRequest[], options?: BatchOptions): (LLMResult | null)[];

    /**
     * Ends with the first, with or without success.
     *
     * @param requests The calls.
     * @param options For all of them.
     * @returns One item per request, in that order; null for those not finished.
     */
    Race(requests: LLMRequest[], options?: BatchOptions): (LLMResult | null)[];

    /**
     * Makes an image.
     *
     * @param connector Id of the connector.
     * @param prompt What the image shows.
     * @param options Options of the model.
     */
    GenerateImage(connector: string, prompt: string, options?: Record<string, any>): ImageResult;
  }

  /** One search among several. */
  interface SearchRequest {
    /** Where to search. */
    type: "web" | "kb" | "db";
    /** What to search for. */
    query: string;
    /** Options of that kind of search. */
    [option: string]: any;
  }

  /** One result of a search. */
  interface SearchItem {
    /** The id by which the answer may cite it. */
    citation_id: string;
    /** `user`, `hook` or `auto`: who asked for the search. */
    source: string;
    /** Weight of the source, 0 to 1. */
    weight: number;
    /** How well it fits. */
    score?: number;
    /** `web`, `kb` or `db`. */
    type: string;
    /** Its title. */
    title?: string;
    /** Its text. */
    content: string;
    /** Its address. */
    url?: string;
    /** Further fields. */
    [field: string]: any;
  }

  /** The results of a search. */
  interface SearchResult {
    /** `web`, `kb` or `db`. */
    type: string;
    /** What was searched for. */
    query: string;
    /** Who asked for the search. */
    source: string;
    /** What was found. */
    items: SearchItem[];
    /** The number of items. */
    total: number;
    /** Milliseconds. */
    duration_ms: number;
    /** Why the search failed. */
    error?: string;
  }

  /** Search on the web, in knowledge bases and in the database. Problems are in `error`. */
  interface Search {
    /**
     * Searches the web.
     *
     * @param query What to search for.
     * @param options `limit`, `sites`, `time_range` (`day`, `week`, `month`, `year`) and others.
     */
    Web(query: string, options?: Record<string, any>): SearchResult;

    /**
     * Searches knowledge bases.
     *
     * @param query What to search for.
     * @param options `collections`, `threshold`, `limit`, `graph` and others.
     */
    KB(query: string, options?: Record<string, any>): SearchResult;

    /**
     * Searches the database.
     *
     * @param query What to search for.
     * @param options `models`, `wheres`, `orders`, `select`, `limit` and others.
     */
    DB(query: string, options?: Record<string, any>): SearchResult;

    /**
     * Waits for all.
     *
     * @param requests The searches.
     * @returns One item per request, in that order.
     */
    All(requests: SearchRequest[]): SearchResult[];

    /**
     * Searches in several places until one search finds something.
     *
     * @param requests The searches.
     * @returns One item per request, in that order; null for those not finished.
     */
    Any(requests: SearchRequest[]): (SearchResult | null)[];

    /**
     * Ends with the first, with or without success.
     *
     * @param requests The searches.
     * @returns One item per request, in that order; null for those not finished.
     */
    Race(requests: SearchRequest[]): (SearchResult | null)[];
  }

  /** A message of a conversation, in the format of OpenAI. */
  interface Message {
    /** Who says it. */
    role: "developer" | "system" | "user" | "assistant" | "tool" | (string & {});
    /** Text, a list of `ContentPart`, or null in a message that only calls tools. */
    content?: any;
    /** Name of the speaker. */
    name?: string;
    /** Of role `tool`: the call it answers. */
    tool_call_id?: string;
    /** Of role `assistant`. */
    tool_calls?: ToolCall[];
    /** Of role `assistant`: why it refuses. */
    refusal?: string;
  }

  /** Part of a message. */
  interface ContentPart {
    /** `image`, `audio` and `file` of case files are converted to the other types. */
    type: "text" | "image_url" | "input_audio" | "file" | "data" | "image" | "audio" | (string & {});
    /** The text. */
    text?: string;
    /** An address or a data URL. */
    image_url?: { url: string; detail?: "auto" | "low" | "high" | (string & {}) };
    /** Base64, and `wav`, `mp3` and others. */
    input_audio?: { data: string; format: string };
    /** An address or a data URL, and its name. */
    file?: { url?: string; filename?: string; file_id?: string };
    /** References to data of the application. */
    data?: any;
    /** Further fields. */
    [field: string]: any;
  }

  /** A call that the model asks for. */
  interface ToolCall {
    /** Id of the call. */
    id: string;
    /** Always `function`. */
    type: "function" | (string & {});
    /** Name of the tool, and its arguments as JSON text. */
    function: { name: string; arguments: string };
  }

  /** A call of a tool, as it was carried out. */
  interface ToolResult {
    /** Id of the call. */
    toolcall_id: string;
    /** Id of the MCP server. */
    server: string;
    /** Name of the tool, without the server. */
    tool: string;
    /** JSON text, as the model gave it. */
    arguments?: any;
    /** The result of the tool. */
    result?: any;
    /** Why the call failed. */
    error?: string;
  }

  /** Tokens of a call. */
  interface Usage {
    /** Tokens of what was sent. */
    prompt_tokens: number;
    /** Tokens of the answer. */
    completion_tokens: number;
    /** The sum. */
    total_tokens: number;
    /** Further counts. */
    [count: string]: any;
  }

  /** The answer of a model. Made for `Next` by a test, it needs only the fields that `Next` reads. */
  interface Completion {
    /** Id of the answer. */
    id?: string;
    /** Format of the answer. */
    object?: string;
    /** When it was made, in seconds since 1970. */
    created?: number;
    /** The model. */
    model?: string;
    /** `assistant`. */
    role?: string;
    /** Its text. */
    content?: any;
    /** The tools it calls. */
    tool_calls?: ToolCall[];
    /** Why it refuses. */
    refusal?: string;
    /** Its reasoning, if the model shows it. */
    reasoning_content?: string;
    /** `stop`, `length`, `tool_calls`, `content_filter` and others. */
    finish_reason?: string;
    /** Absent if the provider did not report them. */
    usage?: Usage;
  }

  /** The answer of an agent. */
  interface Response {
    /** Id of the request. */
    request_id: string;
    /** Id of the context. */
    context_id: string;
    /** Id of the trace. */
    trace_id: string;
    /** Id of the chat. */
    chat_id: string;
    /** Id of the agent. */
    assistant_id: string;
    /** What its `Create` hook returned. */
    create?: CreateResult;
    /** `data` of what its `Next` hook returned. */
    next?: any;
    /** Absent if no model was called. */
    completion?: Completion;
    /** The tools that were called. */
    tools?: ToolResult[];
  }

  /** Passes the request to another agent, with the same chat, user and memory. */
  interface Delegate {
    /** Id of the agent. */
    agent_id: string;
    /** What it is sent. */
    messages: Message[];
    /** Options of the call. */
    options?: Options;
  }

  /** Whether and how to search. */
  interface SearchIntent {
    /** Whether to search. */
    need_search?: boolean;
    /** Where: `web`, `kb`, `db`. */
    search_types?: string[];
    /** Confidence, 0 to 1. */
    confidence?: number;
    /** Why. */
    reason?: string;
    /** Further fields. */
    [option: string]: any;
  }

  /** What the `Create` hook changes in the request. An absent field changes nothing. */
  interface CreateResult {
    /** Messages for the model instead of the conversation; the prompts are still sent. An empty list is ignored. */
    messages?: Message[];
    /** Audio options of the model. */
    audio?: { voice?: string; format?: string; [option: string]: any };
    /** Randomness, 0 to 2. */
    temperature?: number;
    /** Old name of `max_completion_tokens`. */
    max_tokens?: number;
    /** Maximum length of the answer in tokens. */
    max_completion_tokens?: number;
    /** Connector for this request. */
    connector?: string;
    /** Written to `ctx.locale`. */
    locale?: string;
    /** Written to `ctx.theme`. */
    theme?: string;
    /** Written to `ctx.route`. */
    route?: string;
    /** Merged into `ctx.metadata`, key by key. */
    metadata?: Record<string, any>;
    /**
     * Prompts to use in place of the default ones: `task` for `prompts/task.yml`, `chat.friendly` for
     * `prompts/chat/friendly.yml`.
     */
    prompt_preset?: string;
    /** Leaves out the global prompts. */
    disable_global_prompts?: boolean;
    /** MCP servers to use in place of the agent's own, each with all its tools and resources or those named. */
    mcp_servers?: { server_id: string; tools?: string[]; resources?: string[]; [option: string]: any }[];
    /** Agents that do part of the work (`vision`, `audio`, `search`, `fetch` and others), field by field. */
    uses?: Record<string, any>;
    /** Uses them even if the model could do the work itself. */
    force_uses?: boolean;
    /** Whether and how to search. */
    search?: boolean | SearchIntent;
    /**
     * Passes the request to another agent at once. Neither the model nor `Next` is called, and the answer of the other
     * agent is the answer.
     */
    delegate?: Delegate;
  }

  /** The argument of the `Next` hook. */
  interface NextPayload {
    /** The conversation, without prompts; if `Create` replaced it, still the original. */
    messages?: Message[];
    /** The answer of the model; null or absent when none was called. */
    completion?: Completion | null;
    /** The tools that were called, with their results. */
    tools?: ToolResult[];
    /** Why the model failed; rarely set, since a failing model ends the request. */
    error?: string;
  }

  /** The result of the `Next` hook: what becomes of the answer. */
  interface NextResult {
    /** The output of the agent, instead of the text of the model. Null, `""`, `{}` and `[]` count as no output. */
    data?: any;
    /** Passes the request to another agent, whose answer replaces everything. */
    delegate?: Delegate;
    /** Ignored. */
    metadata?: Record<string, any>;
  }

  /** What `Create` may return: null or nothing to leave the request as it is. */
  type Create = CreateResult | null | undefined;

  /** What `Next` may return: null or nothing to answer with the text of the model. */
  type Next = NextResult | null | undefined;

  /** Another name of `NextPayload`, from Yao's own declarations. */
  type Payload = NextPayload;

  /** Another name of `Options`, from Yao's own declarations. */
  type HookOptions = Options;

  /** The hook that runs before the model is called. */
  type CreateHook = (ctx: Context, messages: Message[], options: Options) => Create;

  /** The hook that runs after the model has answered and its tools have run. */
  type NextHook = (ctx: Context, payload: NextPayload, options: Options) => Next;
}
