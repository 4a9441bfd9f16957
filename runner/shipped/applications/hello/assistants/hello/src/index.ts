import type { Hours } from "./hours";

/** A hook: it runs after the model has answered and its tools have run. Null leaves the text of the model as it is. */
export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
  const found = payload.tools?.find((tool) => tool.tool === "opening_hours");
  if (!found) return null;
  const { day, from, to } = found.result as Hours;
  return { data: `On ${day} we are open from ${from} to ${to}.` };
}
