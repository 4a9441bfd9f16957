import { Create, Next } from "./index";

export function TestRefundsArePassedOn(t: testing.T, ctx: agent.Context) {
  const messages = [{ role: "user", content: "I want my money back" }] as agent.Message[];

  t.assert.Equal(Create(ctx, messages), { delegate: { agent_id: "desk.refunds", messages } });
}

export function TestNextNamesTheTickets(t: testing.T, ctx: agent.Context) {
  const result = [{ id: 1, subject: "printer", urgent: false }];

  t.assert.Equal(Next(ctx, { tools: [{ tool: "find_tickets", result }] }), { data: "Your tickets: #1 printer." });
  t.assert.Equal(Next(ctx, { tools: [{ tool: "find_tickets", result: [] }] }), { data: "You have no open tickets." });
}
