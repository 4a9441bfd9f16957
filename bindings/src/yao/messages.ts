/**
 * The messages of a context: `ctx.Send` and the like, and `ctx.sent`, which records them for tests.
 *
 * `ctx.sent` has one entry for each message, in the order in which they began: `{type, props, message_id}` and, if given,
 * `block_id`, `thread_id`, `metadata`. Streamed content is added to the entry of its message, whose `done` is false until
 * `End`. A change to a message that was never sent adds an entry of the type "text", because Yao forwards such changes too.
 */

import { copy } from "../copy";
import type { Kernel } from "../kernel";

interface Message extends Record<string, unknown> {
  type: string;
  props: Record<string, unknown>;
  message_id: string;
  done?: boolean;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export default function (kernel: Kernel) {
  const fail = (text: string): never => {
    throw new kernel.Exception(text, 400);
  };

  function members(_ctx: object): Record<string, unknown> {
    const sent: Message[] = [];
    const counters: Record<string, number> = {};
    const next = (letter: string) => letter + (counters[letter] = (counters[letter] ?? 0) + 1);

    function read(method: string, value: unknown): Record<string, unknown> {
      if (value === undefined || value === null) fail(`${method} requires a message argument`);
      if (typeof value === "string") return { type: "text", props: { content: value } };
      if (!isObject(value) || typeof value.type !== "string" || !value.type)
        fail(`${method}: the message needs a type`);
      const message = copy(value) as Record<string, unknown>;
      return { ...message, props: isObject(message.props) ? message.props : {} };
    }

    function send(method: string, value: unknown, block: unknown, done: boolean | undefined): string {
      const message = read(method, value) as Message;
      message.message_id = message.message_id ? String(message.message_id) : next("M");
      if (!message.block_id && block) message.block_id = String(block);
      for (const key of ["block_id", "thread_id", "metadata"]) if (!message[key]) delete message[key];
      if (done !== undefined) message.done = done;
      sent.push(message);
      return message.message_id;
    }

    function find(method: string, id: unknown): Message {
      if (typeof id !== "string") fail(`${method} requires the message id as its first argument`);
      let message = sent.findLast((item) => item.message_id === id);
      if (!message) sent.push((message = { type: "text", props: {}, message_id: id as string, done: false }));
      return message;
    }

    /** Changes the value at a path such as `props.items.0`. Creates missing objects on the path. */
    function change(message: Message, path: unknown, update: (old: unknown) => unknown): void {
      const keys = String(path)
        .split(/[.[\]]+/)
        .filter(Boolean);
      let target = message as Record<string, unknown>;
      const own = (key: string) => (Object.hasOwn(target, key) ? target[key] : undefined);
      const put = (key: string, value: unknown) =>
        Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
      const last = keys.pop();
      if (last === undefined) fail("The path of a message change is empty");
      for (const key of keys) {
        let inner = own(key);
        if (typeof inner !== "object" || inner === null) put(key, (inner = {}));
        target = inner as Record<string, unknown>;
      }
      put(last!, update(own(last!)));
    }

    function append(message: Message, content: unknown, path: unknown): void {
      const inner = isObject(content) && isObject(content.props) ? content.props.content : content;
      change(message, path ?? "props.content", (old) => {
        if (Array.isArray(old))
          return [...(old as unknown[]), ...(Array.isArray(inner) ? inner : [inner])].map((item) => copy(item));
        if (old === undefined || old === null || old === "") return copy(inner);
        if (isObject(old) && isObject(inner)) return { ...old, ...copy(inner) };
        return String(old) + (typeof inner === "string" ? inner : JSON.stringify(inner));
      });
    }

    const merged = (old: unknown, data: Record<string, unknown>): Record<string, unknown> => {
      const result = isObject(old) ? { ...old } : {};
      for (const key of Object.keys(data)) {
        result[key] = isObject(result[key]) && isObject(data[key]) ? merged(result[key], data[key]) : copy(data[key]);
      }
      return result;
    };

    return {
      sent,
      Send: (message?: unknown, block?: unknown) => send("Send", message, block, undefined),
      SendStream: (message?: unknown, block?: unknown) => send("SendStream", message, block, false),
      Append(id: unknown, content: unknown, path?: unknown) {
        append(find("Append", id), content, path);
        return id;
      },
      /** Takes type, props and metadata from the new message. The ids do not change. */
      Replace(id: unknown, value: unknown) {
        const { message_id, block_id, thread_id, ...rest } = read("Replace", value);
        delete find("Replace", id).metadata;
        Object.assign(find("Replace", id), rest);
        return id;
      },
      /** Without a path, merges into `props.content` if that is an object, otherwise into `props`. */
      Merge(id: unknown, data: unknown, path?: unknown) {
        if (!isObject(data)) fail("Merge requires an object as its second argument");
        const message = find("Merge", id);
        const fields = (
          path === undefined && isObject((data as Message).props) ? (data as Message).props : data
        ) as Record<string, unknown>;
        change(message, path ?? (isObject(message.props.content) ? "props.content" : "props"), (old) =>
          merged(old, fields),
        );
        return id;
      },
      Set(id: unknown, value: unknown, path: unknown) {
        if (typeof path !== "string") fail("Set requires the path as its third argument");
        change(find("Set", id), path, () => copy(value));
        return id;
      },
      End(id: unknown, content?: unknown) {
        const message = find("End", id);
        if (content !== undefined && content !== null) append(message, content, undefined);
        message.done = true;
        return id;
      },
      MessageID: () => next("M"),
      BlockID: () => next("B"),
      ThreadID: () => next("T"),
      EndBlock: () => undefined,
    };
  }

  return { members };
}
