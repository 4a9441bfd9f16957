const ask = (text: string) => Process("agents.clinic.Stream", [{ role: "user", content: text }]);

export function TestANewPetIsKept(t: testing.T) {
  t.mock.now("2026-03-01T09:30:00Z");
  ask("We have a new cat Ida");
  const [pet] = t.db.rows("pet");
  t.assert.Equal([pet.name, pet.kind, pet.created_at], ["Ida", "cat", "2026-03-01 09:30:00"]);
  t.assert.Equal(pet.traits, { since: Date.parse("2026-03-01T09:30:00Z") });
}

export function TestTheToolWritesAVisit(t: testing.T) {
  t.mock.now("2026-03-01T09:30:00Z");
  t.db.seed("pets");
  const answer = ask("Please book checkup for Rex");
  t.assert.Equal(answer.response.next, { pet: "Rex", at: "2026-03-02 09:30:00", visits: ["vaccine", "checkup"] });
  t.assert.Len(t.db.rows("clinic.visit", { where: { reason: "checkup" } }), 1);
}

export function TestTheDelegateBillsWhatIsThere(t: testing.T) {
  t.mock.now("2026-03-01T09:30:00Z");
  t.db.seed("pets");
  ask("Book surgery for Mia");
  t.assert.Equal(ask("The bill, please").response.next, { total: 80, issued: "2026-03-01T00:00:00Z" });
  t.assert.Len(t.db.rows("agents.billing.invoice"), 1);
}

export function TestNobodyElseSeesThat(t: testing.T) {
  t.assert.Len(t.db.rows("pet"), 0);
  t.assert.Len(t.db.rows("agents.billing.invoice"), 0);
  t.assert.Len(t.db.rows("treatment"), 2);
}
