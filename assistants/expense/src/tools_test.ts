// Mocks: the tools call a database, a web service and another agent. None of them is there: each test says what they answer.
import { Setup } from "./setup";
import { ApproveExpense, CreateExpense, ListExpenses, ReadReceipt, RejectExpense } from "./tools";
import type { Expense } from "./tools";

const RATES = "GET https://rates.example.com/latest";

// Runs before each test, in the world of that test: mocks end with it
export function BeforeEach(t: testing.T, ctx: agent.Context) {
  t.mock.now("2025-03-31T10:00:00Z");
  t.mock.http(RATES, { data: { rates: { USD: 0.9 } } });
  Setup(ctx, { approvers: { manager: ["maria"], finance: ["felix"], cfo: ["carla"] } });
  ctx.memory.user.Set("currency", "EUR");
}

/** An expense as the database has it. */
function stored(changes: Partial<Expense> = {}): Expense {
  return {
    id: 7,
    user_id: "erik",
    team_id: "test-team",
    category: "equipment",
    amount: 1200,
    currency: "EUR",
    date: "2025-03-28",
    status: "submitted",
    total: 1200,
    needs: ["manager", "finance"],
    signed: [],
    notes: [],
    ...changes,
  };
}

export function TestCreateApprovesSmallExpenses(t: testing.T, ctx: agent.Context) {
  const create = t.mock.process("models.expense.Create", 41);

  const expense = CreateExpense({ category: "travel", amount: 38, date: "2025-03-30", receipt: "r-1" }, ctx);

  t.assert.Equal(expense, {
    id: 41,
    category: "travel",
    amount: 38,
    currency: "EUR",
    date: "2025-03-30",
    receipt: "r-1",
    user_id: "test-user",
    team_id: "test-team",
    status: "approved",
    total: 38,
    needs: [],
    signed: [],
    notes: [],
  });
  t.assert.Equal(create.count, 1, "one record should be written");
  t.assert.Equal(ctx.memory.chat.ArrayAll("filed"), [41]);
}

export function TestCreateAsksForSignatures(t: testing.T, ctx: agent.Context) {
  t.mock.process("models.expense.Create", 42);

  const expense = CreateExpense({ category: "meals", amount: 130, date: "2025-03-30", receipt: "r-2" }, ctx);

  t.assert.Equal(expense.status, "submitted");
  t.assert.Equal(expense.needs, ["manager", "finance"]);
  t.assert.Equal(expense.notes, ["meals: more than 60 EUR a person"]);
}

export function TestCreateWritesNothingAgainstThePolicy(t: testing.T, ctx: agent.Context) {
  const create = t.mock.process("models.expense.Create");
  try {
    CreateExpense({ category: "travel", amount: 38, date: "2025-03-30" }, ctx);
    t.fail("an expense without receipt was accepted");
  } catch (error) {
    t.assert.Equal((error as Exception).code, 422);
    t.assert.Match(error, "receipt is needed");
  }
  try {
    CreateExpense({ category: "travel", amount: -1, date: "2026-01-01" }, ctx);
    t.fail("an expense of tomorrow was accepted");
  } catch (error) {
    t.assert.Equal((error as Exception).message, "The amount must be more than nothing; The date is in the future");
  }
  t.assert.Equal(create.count, 0);
}

export function TestCreateNeedsSetup(t: testing.T, ctx: agent.Context) {
  ctx.Team = { ID: "new-team" };

  try {
    CreateExpense({ category: "other", amount: 5, date: "2025-03-31" }, ctx);
    t.fail("it was filed");
  } catch (error) {
    const { message, code } = error as Exception;
    t.assert.Equal([message, code], ["The expense assistant is not set up for this team", 412]);
  }
}

export function TestRatesAreAskedForOnceADay(t: testing.T, ctx: agent.Context) {
  t.mock.process("models.expense.Create", 1);
  const rates = t.mock.http(RATES, { data: { rates: { USD: 0.9 } } });
  const taxi = { category: "travel", amount: 40, currency: "USD", date: "2025-03-30", receipt: "r-3" } as const;

  t.assert.Equal(CreateExpense(taxi, ctx).total, 36);
  t.assert.Equal(CreateExpense(taxi, ctx).total, 36);

  t.assert.Equal(rates.count, 1);
  t.assert.Equal(rates.last?.args[0].query, { base: "EUR" });

  t.mock.advance("23h59m59s");
  CreateExpense(taxi, ctx);
  t.assert.Equal(rates.count, 1, "the same for a day");
  t.mock.advance("2s");
  CreateExpense(taxi, ctx);
  t.assert.Equal(rates.count, 2, "and then asked for again");

  const { currency, ...bare } = taxi;
  ctx.memory.user.Set("currency", "USD");
  t.assert.Equal(CreateExpense(bare, ctx).currency, "USD", "that of the user");
  ctx.memory.user.Del("currency");
  t.assert.Equal(CreateExpense(bare, ctx).currency, "EUR", "that of the books");
}

export function TestRatesOfThePolicyWhenTheServiceIsDown(t: testing.T, ctx: agent.Context) {
  t.mock.process("models.expense.Create", 1);
  t.mock.http(RATES, { status: 503 });

  const expense = CreateExpense(
    { category: "travel", amount: 40, currency: "USD", date: "2025-03-30", receipt: "r-4" },
    ctx,
  );

  t.assert.Equal(expense.total, 36.8);
}

export function TestListShowsOwnExpenses(t: testing.T, ctx: agent.Context) {
  const get = t.mock.process("models.expense.Get", [stored({ total: 12.1 }), stored({ total: 0.2 })]);

  const { items, total } = ListExpenses({ status: "submitted", month: "2025-03" }, ctx);

  t.assert.Len(items, 2);
  t.assert.Equal(total, 12.3);
  t.assert.Equal(get.last?.args[0].wheres, [
    { column: "user_id", value: "test-user" },
    { column: "status", value: "submitted" },
    { column: "date", op: "match", value: "2025-03-" },
  ]);
  t.assert.Equal(get.last?.args[0].orders, [{ column: "date", option: "desc" }], "newest first");
  t.assert.Equal(get.last?.args[0].limit, 50);
}

export function TestListShowsTheTeamToThoseWhoMaySeeIt(t: testing.T, ctx: agent.Context) {
  const get = t.mock.process("models.expense.Get", []);
  ctx.authorized.constraints = { team_only: true };

  ListExpenses({}, ctx);

  t.assert.Equal(get.last?.args[0].wheres, [{ column: "team_id", value: "test-team" }]);
}

export function TestApprovalGoesThroughTheChain(t: testing.T, ctx: agent.Context) {
  // A database of one record
  let record = stored();
  t.mock.process("models.expense.Find", () => record);
  t.mock.process("models.expense.Update", (id: number, changes: Partial<Expense>) => {
    record = { ...record, ...changes };
  });

  ctx.User = { ID: "maria" };
  t.assert.Equal(ApproveExpense({ id: 7 }, ctx), { id: 7, status: "submitted", next: "finance" });

  ctx.User = { ID: "felix" };
  t.assert.Equal(ApproveExpense({ id: 7, comment: "ok" }, ctx), { id: 7, status: "approved", next: null });

  t.assert.Equal(record.signed, [
    { role: "manager", by: "maria", at: "2025-03-31T10:00:00.000Z" },
    { role: "finance", by: "felix", at: "2025-03-31T10:00:00.000Z", comment: "ok" },
  ]);
}

export function TestApproveRefuses(t: testing.T, ctx: agent.Context) {
  const own = "Nobody decides about their own expenses";
  const janitor = stored({ needs: ["janitor"] });
  const table: Record<string, { record: Expense | null; user: string; code: number; said: string }> = {
    "no such expense": { record: null, user: "maria", code: 404, said: "There is no expense 7" },
    "expense of another team": { record: stored({ team_id: "sales" }), user: "maria", code: 404, said: "There is no expense 7" },
    "decided already": { record: stored({ status: "rejected" }), user: "maria", code: 409, said: "Expense 7 is rejected already" },
    "own expense": { record: stored({ user_id: "maria" }), user: "maria", code: 403, said: own },
    "not the next in the chain": { record: stored(), user: "felix", code: 403, said: "Expense 7 waits for manager" },
    "nobody's approver": { record: stored(), user: "erika", code: 403, said: "Expense 7 waits for manager" },
    "a role that nobody has": { record: janitor, user: "maria", code: 403, said: "Expense 7 waits for janitor" },
    "all have signed": { record: stored({ needs: [] }), user: "maria", code: 403, said: "Expense 7 waits for " },
  };
  for (const [name, { record, user, code, said }] of Object.entries(table)) {
    t.run(name, (t) => {
      t.mock.process("models.expense.Find", record);
      const update = t.mock.process("models.expense.Update");
      ctx.User = { ID: user };
      try {
        ApproveExpense({ id: 7 }, ctx);
        t.fail("it was approved");
      } catch (error) {
        t.assert.Equal([(error as Exception).code, (error as Exception).message], [code, said]);
      }
      t.assert.Equal(update.count, 0);
    });
  }
}

export function TestRejectKeepsTheReason(t: testing.T, ctx: agent.Context) {
  t.mock.process("models.expense.Find", stored({ notes: ["over the limit"] }));
  const update = t.mock.process("models.expense.Update");
  ctx.User = { ID: "maria" };

  for (const reason of [" ", undefined]) {
    try {
      RejectExpense({ id: 7, reason: reason! }, ctx);
      t.fail("a reason is needed");
    } catch (error) {
      const { message, code } = error as Exception;
      t.assert.Equal([message, code], ["Give a reason, the employee will see it", 400]);
    }
  }
  t.assert.Equal(RejectExpense({ id: 7, reason: " Use the one we have " }, ctx), { id: 7, status: "rejected" });

  t.assert.Equal(update.last?.args, [
    7,
    { status: "rejected", notes: ["over the limit", "Rejected by manager: Use the one we have"] },
  ]);
}

export function TestReadReceipt(t: testing.T, ctx: agent.Context) {
  const reader = t.mock.agent(
    "expense.receipts",
    'Here it is:\n```json\n{"merchant": "Café Zentral", "amount": 8.4, "currency": "EUR", "date": null}\n```',
  );

  const claim = ReadReceipt({ url: "https://files.example.com/r-5.jpg" }, ctx);

  t.assert.Equal(claim, { merchant: "Café Zentral", amount: 8.4, currency: "EUR" });
  t.assert.Equal(reader.last?.args[0], [
    {
      role: "user",
      content: [{ type: "image_url", image_url: { url: "https://files.example.com/r-5.jpg" } }],
    },
  ]);
}

export function TestReadReceiptThatCannotBeRead(t: testing.T, ctx: agent.Context) {
  t.run("prose", (t) => {
    t.mock.agent("expense.receipts", "Sorry, this is a picture of a cat.");
    try {
      ReadReceipt({ url: "https://files.example.com/cat.jpg" }, ctx);
      t.fail("a cat was read");
    } catch (error) {
      const { message, code } = error as Exception;
      t.assert.Equal([message, code], ["The receipt cannot be read, enter the expense by hand", 422]);
    }
  });
  t.run("error", (t) => {
    t.mock.agent("expense.receipts", { error: "the model is overloaded" });
    try {
      ReadReceipt({ url: "https://files.example.com/r-6.jpg" }, ctx);
      t.fail("it was read");
    } catch (error) {
      t.assert.Match(error, "overloaded");
      t.assert.Equal((error as Exception).code, 502);
    }
  });
}
