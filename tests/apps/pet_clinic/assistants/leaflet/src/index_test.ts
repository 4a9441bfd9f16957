const ask = (locale: string) =>
  Process("agents.leaflet.Stream", { chat_id: "desk", locale }, [{ role: "user", content: "A leaflet for Rex" }]).response.next;

export function TestLeafletsAreWrittenAndCounted(t: testing.T, ctx: agent.Context) {
  t.db.seed("pets");
  t.assert.Equal(ask("en-us"), { said: "Done", text: "# After the visit\n", count: "Leaflets so far: 1" });
  t.assert.Equal(JSON.parse(ctx.workspace!.ReadFile("pet.json")), { name: "Rex", visits: ["vaccine"] });
  t.assert.False(ctx.workspace!.Exists("draft.md"));
  t.assert.Equal(ask("de-de"), { said: "Fertig", text: "# Nach dem Besuch\n", count: "Merkblätter bisher: 2" });
}

export function TestNobodyElseSeesThat(t: testing.T, ctx: agent.Context) {
  t.assert.Equal(ctx.workspace!.ReadDir(), []);
  t.assert.Equal(ask("en-us").count, "Leaflets so far: 1");
}
