// Hooks: Create and Next are called as the agent calls them. No model is needed: the test makes up what it answered.
import { Create, Next } from "./index";
import { DEFAULT_POLICY } from "./policy";
import { Setup } from "./setup";

const question: agent.Message[] = [{ role: "user", content: "Taxi, 38 euros, yesterday" }];

function ready(ctx: agent.Context) {
  Setup(ctx, { approvers: { manager: ["maria"], finance: ["felix"], cfo: ["carla"] } });
}

/** What Next is given when the model has called a tool. */
function called(tool: string, result: any, error?: string): agent.Payload {
  return { messages: question, tools: [{ toolcall_id: "call-1", server: "agents.expense.expense", tool, result, error }] };
}

export function TestCreateTellsTheRules(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  ready(ctx);

  const created = Create(ctx, question);

  assert.Equal(created.metadata?.currency, "USD", "the locale of the test is en-us");
  assert.Contains(created.metadata?.limits, "lodging 220 EUR a night");
  assert.Nil(created.messages, "a short conversation is left alone");

  Setup(ctx, { policy: { ...DEFAULT_POLICY, currency: "CHF" } });
  ctx.memory.user.Del("currency");
  assert.Equal(Create(ctx, question).metadata?.currency, "CHF", "that of the team, where the user has none");
  assert.Contains(Create(ctx, question).metadata?.limits, "lodging 220 CHF a night");
}

export function TestCreateWithoutSetup(t: testing.T, ctx: agent.Context) {
  t.assert.Equal(Create(ctx, question), { prompt_preset: "setup", metadata: { missing: "settings" } });

  Setup(ctx, { approvers: { manager: ["maria"] } });
  t.assert.Equal(Create(ctx, question).metadata, { missing: "approver for finance, approver for cfo" });
}

export function TestCreateCutsLongConversations(t: testing.T, ctx: agent.Context) {
  const { assert, require } = t;
  ready(ctx);
  const long = Array.from({ length: 50 }, (_, index) => ({ role: "user", content: `message ${index}` }));

  const { messages } = Create(ctx, long);

  // A failing require stops the test; the return tells the compiler that messages are there from here on
  if (!require.NotNil(messages)) return;
  assert.Len(messages, 20);
  assert.Equal(messages.at(-1), { role: "user", content: "message 49" });
  assert.Nil(Create(ctx, long.slice(0, 20)).messages, "twenty are not too many");
}

export function TestNextLeavesTextAlone(t: testing.T, ctx: agent.Context) {
  t.assert.Nil(Next(ctx, { messages: question, completion: { content: "Which day was that?" } }));
  t.assert.Equal(Next(ctx, called("look_around", { amount: 8.4 })), null);
}

export function TestNextConfirms(t: testing.T, ctx: agent.Context) {
  const expense = { id: 7, amount: 38, currency: "EUR", category: "travel", needs: ["manager", "finance"] };

  t.run("approved", (t) => {
    const next = Next(ctx, called("create_expense", { ...expense, status: "approved" }));
    t.assert.Equal(next?.data, {
      type: "expense",
      expense: { ...expense, status: "approved" },
      message: "Expense 7 is approved: 38.00 EUR for travel.",
    });
  });
  t.run("submitted", (t) => {
    const next = Next(ctx, called("create_expense", { ...expense, status: "submitted" }));
    t.assert.JSONPath(next, "data.message", "Expense 7 is filed: 38.00 EUR for travel. It waits for manager and finance.");
  });
  t.run("read off a receipt", (t) => {
    const read = Next(ctx, called("read_receipt", { amount: 8.4, currency: "EUR", date: "2025-03-30" }));
    t.assert.Equal(read?.data, {
      type: "claim",
      claim: { amount: 8.4, currency: "EUR", date: "2025-03-30" },
      message: "I read 8.40 EUR on 2025-03-30. Shall I file it?",
    });
    const bare = Next(ctx, called("read_receipt", { amount: 8.4, date: "2025-03-30" }));
    t.assert.Equal(bare?.data.message, "I read 8.40 on 2025-03-30. Shall I file it?");
    t.assert.Contains(Next(ctx, called("read_receipt", { amount: 8.4 }))?.data.message, "cannot read all");
  });
}

// A snapshot is stored by the first run in __snapshots__ and compared by later ones: for values too large to write down
export function TestNextLists(t: testing.T, ctx: agent.Context) {
  const items = [
    { id: 8, date: "2025-03-30", total: 38, status: "approved" },
    { id: 7, date: "2025-03-28", total: 1200, status: "submitted" },
  ];

  t.snapshot(Next(ctx, called("list_expenses", { items, total: 1238 })));
  t.assert.JSONPath(Next(ctx, called("list_expenses", { items: [], total: 0 })), "data.message", "There are no expenses.");
  const one = Next(ctx, called("list_expenses", { items: items.slice(1), total: 1200 }));
  t.assert.Equal([one?.data.type, one?.data.message], ["list", "1 expense, 1200.00 in total."]);
}

export function TestNextReportsADecision(t: testing.T, ctx: agent.Context) {
  t.assert.Equal(Next(ctx, called("approve_expense", { id: 7, status: "submitted", next: "finance" })), {
    data: { type: "decision", id: 7, status: "submitted", next: "finance", message: "Expense 7 is submitted." },
  });
  const rejected = Next(ctx, called("reject_expense", { id: 7, status: "rejected" }));
  t.assert.Equal(rejected?.data.message, "Expense 7 is rejected.");
}

// A validator agent judges what no comparison can. Here it is mocked; without the mock it is asked.
export function TestErrorsArePolite(t: testing.T, ctx: agent.Context) {
  const validator = t.mock.agent("workers.test.validator", { passed: true, reason: "It apologizes" });

  const next = Next(ctx, called("create_expense", null, "A receipt is needed."));

  t.assert.Equal(next?.data, {
    type: "error",
    tool: "create_expense",
    message: "That did not work: A receipt is needed.",
  });
  const dotted = Next(ctx, called("create_expense", null, "No. 7 is missing."));
  t.assert.Equal(dotted?.data.message, "That did not work: No. 7 is missing.");
  t.assert.Agent(next?.data.message, "workers.test.validator", { criteria: "Is polite and says what to do" });
  t.assert.Equal(validator.count, 1);
}
