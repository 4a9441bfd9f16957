/** Puts the pet and its visits where the runner finds them. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  const name = /for (\w+)/.exec(String(messages.at(-1)?.content))?.[1];
  const [pet] = Process("models.pet.Get", { wheres: [{ column: "name", value: name }], withs: { visits: {} }, limit: 1 });
  ctx.workspace!.WriteFile("pet.json", JSON.stringify({ name, visits: (pet?.visits ?? []).map((one: any) => one.reason) }));
  ctx.workspace!.WriteFile("draft.md", "");
  return null;
}

/** Counts the leaflets of a user, in all chats. */
export function Next(ctx: agent.Context, payload: agent.NextPayload): agent.NextResult {
  const count = ctx.memory.user.Incr("leaflets");
  const text = ctx.workspace!.ReadFile("leaflet.md");
  return { data: { said: payload.completion?.content, text, count: `${$L("Leaflets so far")}: ${count}` } };
}
