import { Search } from "./search";

const UNKNOWN = "The handbook does not say.";

/** Puts the passages for the question before the conversation. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  const found = Search(String(messages.at(-1)?.content ?? ""));
  const context = found.map(({ id, text }) => `[${id}] ${text}`).join("\n");
  return {
    messages: [{ role: "system", content: `Passages:\n${context}` }, ...messages],
    metadata: { sources: found.map(({ id }) => id) },
  };
}

/** Refuses an answer whose sources were not among the passages: the model has made them up. */
export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
  const text = String(payload.completion?.content ?? "");
  const named = [...text.matchAll(/\[(\w+)\]/g)].map((match) => match[1]);
  const sources: string[] = ctx.metadata.sources ?? [];
  return Grounded(named, sources) ? null : { data: UNKNOWN };
}

/** Whether an answer names sources, and only those that were given to the model. */
export function Grounded(named: string[], sources: string[]): boolean {
  return named.length > 0 && named.every((id) => sources.includes(id));
}
