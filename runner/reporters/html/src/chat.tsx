/** Shows a conversation: messages, turns, calls of tools. */

import { useContext } from "preact/hooks";
import { AroundResults, At } from "./around";
import { Assertions } from "./assertions";
import { brief, bytes, capital, duration, plural, textOf, visible } from "./format";
import type { Attachment, Json, ToolCall, Turn } from "./model";
import { Badge, Labelled, Section, Sign, Value } from "./values";

interface Said {
  role: string;
  content: Json;
}

/** The messages in an input; null if it has none. */
export function messagesIn(value: Json | undefined): Said[] | null {
  const all = Array.isArray(value) ? value : [value];
  const found = all.filter((item): item is { role: string; content: Json } =>
    typeof item === "object" && item !== null && "role" in item && "content" in item);
  return found.length > 0 && found.length === all.length ? found : null;
}

export function Messages({ messages }: { messages: Said[] }) {
  return (
    <ol class="chat">
      {messages.map((message) => (
        <Bubble side={message.role === "user" ? "user" : "agent"} who={capital(String(message.role))}>
          <Content content={message.content} />
        </Bubble>
      ))}
    </ol>
  );
}

function Bubble(props: { side: "user" | "agent"; who: string; note?: string; children: preact.ComponentChildren }) {
  return (
    <li class={`bubble ${props.side}`}>
      <div class="who">{visible(props.who)}{props.note && <span class="faint"> · {visible(props.note)}</span>}</div>
      <div class="said">{props.children}</div>
    </li>
  );
}

/** The content of a message: text, parts with files, or a JSON value. */
export function Content({ content }: { content: Json | undefined }) {
  if (content == null) return <span class="faint">(nothing)</span>;
  if (typeof content === "string") return <LongText text={content} />;
  const inner = (content as { content?: Json }).content;
  if (!Array.isArray(content) && typeof content === "object" && inner !== undefined) return <Content content={inner} />;
  if (Array.isArray(content) && content.length > 0 && content.every((part) => part && typeof part === "object" && "type" in part)) {
    return <>{content.map((part) => <Part part={part as Record<string, Json>} />)}</>;
  }
  return <Value value={content} label="Message" />;
}

/** An answer: a text, or a JSON value as it is, also where it looks like a message. */
export function Answer({ answer }: { answer: Json }) {
  return typeof answer === "string" ? <LongText text={answer} /> : <Value value={answer} label="Answer" />;
}

/** What the model said where the agent answered something else. */
export function Completion({ text }: { text: string }) {
  return <details class="stack"><summary>Text of the completion</summary><Value value={text} label="Completion" /></details>;
}

function Part({ part }: { part: Record<string, Json> }) {
  const around = useContext(AroundResults);
  const { at, files } = useContext(At);
  if (typeof part.text === "string") return <LongText text={part.text} />;
  const file = fileOf(part, files);
  if (around && file) return <Labelled label={file.name ?? file.source ?? capital(file.type)}>{around.picture(at, file)}</Labelled>;
  return <Labelled label={capital(String(part.type))}><Value value={part} label={String(part.type)} /></Labelled>;
}

/** What reports have instead of the content of a file. */
const CONTENT = /^data:([^;]+);base64,… \((.+)\)$/;

/** The attachment that a part of a message is: found by its source, or by type and size if its content was sent. */
function fileOf(part: Record<string, Json>, files: Attachment[]): Attachment | undefined {
  const sent = (part.image_url as { url?: Json } | null | undefined)?.url ?? part.source ?? part.url;
  const [, type, size] = (typeof sent === "string" && CONTENT.exec(sent)) || [];
  return files.find((file) => (type ? file.media_type === type && size === sizeOf(file.size ?? 0) : sent != null && file.source === sent));
}

/** A size as in `CONTENT`. */
function sizeOf(bytes: number): string {
  const [unit, size] = bytes >= 1_000_000 ? ["MB", 1_000_000] : ["KB", 1000];
  return bytes < 1000 ? `${bytes} bytes` : `${Number((bytes / Number(size)).toPrecision(3))} ${unit}`;
}

function LongText({ text }: { text: string }) {
  if (text.length > 6000) return <Value value={text} label="Text" />;
  return <p class="prose" dir="auto">{visible(text)}</p>;
}

/** Lists attachments. Reports do not have their content. */
export function Files({ files, said }: { files?: Attachment[]; said?: Json }) {
  const around = useContext(AroundResults);
  const { at } = useContext(At);
  if (!files?.length) return null;
  const above = JSON.stringify(messagesIn(said) ?? ""); // its pictures are already shown
  return (
    <ul class="files" aria-label="Attachments">
      {files.map((file) => (
        <li title={file.source}>
          <span>{visible(file.name ?? file.source ?? capital(file.type))}</span>{" "}
          <span class="faint">{visible(file.media_type ?? file.type)}{file.size != null && `, ${bytes(file.size)}`}</span>
          {!(file.source && above.includes(JSON.stringify(file.source))) && around?.picture(at, file)}
        </li>
      ))}
    </ul>
  );
}

export function Tools({ tools }: { tools: ToolCall[] }) {
  return (
    <ul class="tools">
      {tools.map((tool) => (
        <li>
          <details class={`tool ${tool.error != null ? "failed" : ""}`}>
            <summary>
              <span class="tool-name">{visible(tool.name)}</span>
              <code>{brief(tool.args ?? tool.arguments ?? null, 90)}</code>
              {tool.error != null && <Badge kind="failed">error</Badge>}
            </summary>
            <div class="pair">
              <Labelled label="Arguments"><Value value={tool.args ?? tool.arguments ?? null} label={`Arguments of ${tool.name}`} /></Labelled>
              <Labelled label={tool.error != null ? "Error" : "Result"}>
                <Value value={tool.error ?? tool.result ?? null} label={`Result of ${tool.name}`} />
              </Labelled>
            </div>
            {tool.server && <p class="faint">Server: {visible(tool.server)}</p>}
          </details>
        </li>
      ))}
    </ul>
  );
}

const WHO: Record<string, string> = {
  static: "User", initial: "User", simulated: "User (simulated)", human: "User (a person)",
};

export function Turns({ turns, open }: { turns: Turn[]; open?: boolean }) {
  return (
    <Section title="Conversation" count={plural(turns.length, "turn")} open={open}>
      <ol class="turns">
        {turns.map((turn) => (
          <li class={`turn ${turn.status}`}>
            <div class="turn-head">
              <Sign status={turn.status} />
              <strong>Turn {turn.turn}</strong>
              <span class="faint">{duration(turn.duration_ms)}</span>
              {turn.awaiting_input && <Badge title={turn.awaiting_reason}>waits for the user</Badge>}
            </div>
            <ol class="chat">
              {turn.input != null && (
                <Bubble side="user" who={WHO[turn.input_source] ?? "User"}>
                  <Content content={turn.input} />
                  <Files files={turn.attachments} said={turn.input} />
                </Bubble>
              )}
              {turn.tool_calls && <li class="between"><Tools tools={turn.tool_calls} /></li>}
              {turn.output != null && turn.output !== "" && (
                <Bubble side="agent" who="Agent" note={turn.input_hint && `hint: ${turn.input_hint}`}>
                  <Answer answer={turn.output} />
                  {turn.response && textOf(turn.output) !== turn.response && <Completion text={turn.response} />}
                </Bubble>
              )}
            </ol>
            {turn.error && <p class="problem">{visible(turn.error)}</p>}
            {turn.skip_reason && <p class="faint">Skipped: {visible(turn.skip_reason)}</p>}
            {turn.question && <p class="faint">The agent asked: {visible(turn.question)}</p>}
            {turn.note && <p class="note">{visible(turn.note)}</p>}
            {turn.assertions && <Assertions assertions={turn.assertions} />}
          </li>
        ))}
      </ol>
    </Section>
  );
}
