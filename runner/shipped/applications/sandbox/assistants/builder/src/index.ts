import { Problems } from "./page";

/** Prepares the workspace before the runner starts. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  ctx.workspace!.WriteFile("order.txt", String(messages.at(-1)?.content ?? ""));
  const { exit_code } = ctx.computer!.Exec("git init");
  return { messages, metadata: { versioned: exit_code === 0 } };
}

/** Checks what the runner has left behind. */
export function Next(ctx: agent.Context, payload: agent.Payload): agent.Next {
  const problems = Problems(String(ctx.workspace!.ReadFile("index.html")));
  return { data: { done: problems.length === 0, problems, versioned: ctx.metadata.versioned } };
}
