import type { Ticket } from "./tickets";

/** Refunds are not for this desk: another agent gets them before any model is asked. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  const said = String(messages.at(-1)?.content ?? "");
  if (/refund|money back/i.test(said)) return { delegate: { agent_id: "desk.refunds", messages } };
  return { messages };
}

/** The answer after tools: a sentence made of their results, so that no model can get the numbers wrong. */
export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
  for (const { tool, result } of payload.tools ?? []) {
    if (tool === "find_tickets") return { data: listed(result as Ticket[]) };
    if (tool === "open_ticket") return { data: opened(result as Ticket) };
  }
  return null;
}

function listed(tickets: Ticket[]): string {
  if (!tickets.length) return "You have no open tickets.";
  return `Your tickets: ${tickets.map(({ id, subject }) => `#${id} ${subject}`).join(", ")}.`;
}

function opened({ id, subject, urgent }: Ticket): string {
  return `I have opened ticket #${id} about your ${subject}. We answer within ${urgent ? "an hour" : "a day"}.`;
}
