import { Create, Next } from "./index";

export function TestRefundsArePassedOn(t: testing.T, ctx: agent.Context) {
  const messages = [{ role: "user", content: "I want my money back" }] as agent.Message[];

  t.assert.Equal(Create(ctx, messages), { delegate: { agent_id: "desk.refunds", messages } });
}

export function TestNextNamesTheTickets(t: testing.T, ctx: agent.Context) {
  const answer = (result: object[]) =>
    Next(ctx, { tools: [{ toolcall_id: "1", server: "agents.desk.tickets", tool: "find_tickets", result }] });

  t.assert.Equal(answer([{ id: 1, subject: "printer", urgent: false }]), { data: "Your tickets: #1 printer." });
  t.assert.Equal(answer([]), { data: "You have no open tickets." });
}
