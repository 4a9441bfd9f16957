import { Create } from "./index";

export function TestCreateCountsWords(t: testing.T, ctx: agent.Context) {
  t.assert.JSONPath(Create(ctx, [{ role: "user", content: "three short words" }]), "metadata.words", 3);
}
