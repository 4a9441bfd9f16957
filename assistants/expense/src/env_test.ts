// Hooks of the case files in tests/: no test functions, but what runs before and after cases.
import { Setup } from "./setup";

/** `"before": "env_test.Before"`: the team of the case is set up, and the user thinks in euros. */
export function Before(ctx: agent.Context, testCase: testing.Case) {
  ctx.memory.user.Set("currency", "EUR");
  const { id, error } = Setup(ctx, {
    approvers: { manager: ["maria"], finance: ["felix"], cfo: ["carla"] },
    ...testCase.metadata?.settings,
  });
  if (error) throw new Exception(`${testCase.id}: ${error}`, 412);
  return { data: { company: id } };
}

/** `"after": "env_test.After"`: what Before set up goes away again. */
export function After(ctx: agent.Context, testCase: testing.Case, result: testing.CaseResult, data: any) {
  new Store("expense.settings").Del(`team:${data.company}`);
  if (result.status === "failed") log.Warn("%s failed: %s", testCase.id, result.error);
}

/** `--before env_test.BeforeAll`: once, before the first case. */
export function BeforeAll(ctx: agent.Context, cases: testing.Case[]) {
  log.Info("%d cases for %s", cases.length, ctx.assistant_id);
  return { data: { cases: cases.length } };
}

/** `--after env_test.AfterAll`: once, after the last case. */
export function AfterAll(ctx: agent.Context, results: testing.CaseResult[], data: any) {
  const passed = results.filter((result) => result.status === "passed").length;
  log.Info("%d of %d cases passed", passed, data?.cases ?? results.length);
}
