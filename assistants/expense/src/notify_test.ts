// Async: a test may be an async function. It ends when its promise is settled; until then timers run.
import { DEFAULT_POLICY } from "./policy";
import { NotifyApprovers } from "./notify";
import type { Settings } from "./setup";
import type { Expense } from "./tools";

const HOOK = "https://chat.example.com/hooks/finance";
const QUICK = { attempts: 3, pause: 5 };

const settings: Settings = {
  id: "acme",
  name: "Acme Ltd.",
  policy: DEFAULT_POLICY,
  approvers: { manager: ["maria"], finance: ["felix", "fatima"] },
  webhook: HOOK,
};

function expense(changes: Partial<Expense> = {}): Expense {
  const claim = { category: "equipment", amount: 1200, currency: "EUR", date: "2025-03-28" } as const;
  const filed = { id: 7, user_id: "erik", team_id: "acme", status: "submitted", total: 1200 } as const;
  return { ...claim, ...filed, needs: ["manager", "finance"], signed: [], notes: [], ...changes };
}

const signedByManager = { signed: [{ role: "manager", by: "maria", at: "2025-03-29T08:00:00Z" }] };

export async function TestTheNextInTheChainIsTold(t: testing.T) {
  const hook = t.mock.http(`POST ${HOOK}`, { status: 204 });

  const result = await NotifyApprovers(expense(), settings, QUICK);

  t.assert.Equal(result, { told: ["maria"], missed: [] });
  t.assert.Equal(hook.calls.map((call) => call.args[0].data), [
    { to: "maria", text: "Expense 7: 1200 EUR for equipment waits for you" },
  ]);
}

export async function TestEverybodyInTheRoleIsTold(t: testing.T) {
  t.mock.http(HOOK, { status: 204 });

  const { told } = await NotifyApprovers(expense(signedByManager), settings, QUICK);

  t.assert.Equal(told, ["felix", "fatima"]);
}

export async function TestDeliveryIsTriedAgain(t: testing.T) {
  t.mock.now("2026-11-03T09:00:00Z");
  let busy = 2;
  const hook = t.mock.http(HOOK, () => ({ status: busy-- > 0 ? 503 : 204 }));

  const delivery = NotifyApprovers(expense(), settings, QUICK);
  const tries: number[] = [];
  for (const milliseconds of [4, 1, 9, 1]) {
    for (let job = 0; job < 20; job++) await null;
    t.mock.advance(milliseconds);
    tries.push(hook.count);
  }

  t.assert.Equal(tries, [1, 2, 2, 3], "it should pause for 5 and for 10 milliseconds");
  t.assert.Equal((await delivery).told, ["maria"]);

  const refused = t.mock.http(HOOK, { status: 503 });
  const patient = NotifyApprovers(expense(), settings).catch((reason) => reason.message);
  const waited: number[] = [];
  for (const milliseconds of [499, 1, 999, 1]) {
    for (let job = 0; job < 20; job++) await null;
    t.mock.advance(milliseconds);
    waited.push(refused.count);
  }
  t.assert.Equal(waited, [1, 2, 2, 3], "three times, after half a second and a whole one");
  t.assert.Equal(await patient, "Nobody in manager could be told");
  t.assert.Equal(refused.count, 3);
}

export async function TestARefusalIsNotTriedAgain(t: testing.T) {
  const hook = t.mock.http(HOOK, (request) => ({ status: request.data.to === "felix" ? 404 : 204 }));

  const result = await NotifyApprovers(expense(signedByManager), settings, QUICK);

  t.assert.Equal(result, { told: ["fatima"], missed: ["felix"] });
  t.assert.Equal(hook.count, 2);

  const tries: Record<number, number> = { 199: 3, 200: 1, 299: 1, 300: 3, 399: 3, 400: 1, 499: 1, 500: 3 };
  for (const [status, count] of Object.entries(tries)) {
    const one = t.mock.http(HOOK, { status: Number(status) });
    const answer = await NotifyApprovers(expense(), settings, { attempts: 3, pause: 0 }).catch(() => null);
    t.assert.Equal([one.count, answer !== null], [count, status[0] === "2"], status);
  }
}

export async function TestNobodyCanBeReached(t: testing.T) {
  const { assert } = t;
  const hook = t.mock.http(HOOK, { status: 0, message: "connection refused" });

  // Panic awaits what the function returns
  await assert.Panic(() => NotifyApprovers(expense(), settings, QUICK), "someone has to be told");
  assert.Equal(hook.count, 3);

  const error = await NotifyApprovers(expense(), settings, { attempts: 1, pause: 0 }).catch((reason) => reason);
  assert.Equal(error.code, 502);

  t.mock.now("2026-11-03T09:00:00Z"); // which stands: nobody waits after the last attempt
  await assert.Panic(() => NotifyApprovers(expense(), settings, { attempts: 1, pause: 5 }));
}

export async function TestNothingToTell(t: testing.T) {
  const { assert } = t;
  const hook = t.mock.http(HOOK);

  await assert.NoPanic(async () => {
    assert.Equal(await NotifyApprovers(expense({ needs: [] }), settings), { told: [], missed: [] });
    assert.Equal(await NotifyApprovers(expense(), { ...settings, webhook: "" }), { told: [], missed: [] });
    assert.Equal(await NotifyApprovers(expense({ needs: ["cfo"] }), settings), { told: [], missed: [] });
  });
  assert.Equal(hook.count, 0);
}
