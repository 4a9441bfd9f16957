/** Keeps pets that are new, and hands questions about money over. */
export function Create(ctx: agent.Context, messages: agent.Message[]): agent.Create {
  const text = String(messages.at(-1)?.content ?? "");
  const [, kind, name] = /new (cat|dog) (\w+)/i.exec(text) ?? [];
  if (name) Register(name, kind);
  if (/bill/i.test(text)) return { delegate: { agent_id: "billing", messages } };
  return null;
}

/** What was booked, with all that the pet has come for. */
export function Next(ctx: agent.Context, payload: agent.NextPayload): agent.NextResult | null {
  const booked = payload.tools?.at(-1);
  if (!booked) return null;
  if (booked.error) return { data: { error: booked.error } };
  const visit = Process("models.clinic.visit.Find", booked.result.id, {});
  const pet = Process("models.pet.Find", visit.pet_id, { select: ["id", "name"], withs: { visits: {} } });
  return { data: { pet: pet.name, at: visit.at, visits: pet.visits.map((one: any) => one.reason) } };
}

export function Register(name: string, kind: string): number {
  return Process("models.pet.Save", { name, kind: kind.toLowerCase(), traits: { since: Date.now() } });
}
