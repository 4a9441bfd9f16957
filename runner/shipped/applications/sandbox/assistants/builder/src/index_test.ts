import { Create, Next } from "./index";

export function TestCreatePreparesTheWorkspace(t: testing.T, ctx: agent.Context) {
  const git = t.mock.exec("git init", { stdout: "Initialized" });
  const request = Create(ctx, [{ role: "user", content: "A page for a bakery" }]);

  t.assert.Equal(git.count, 1);
  t.assert.Equal(request?.metadata, { versioned: true });
  t.assert.Equal(ctx.workspace!.ReadFile("order.txt"), "A page for a bakery");
}

export function TestNextNamesWhatIsWrong(t: testing.T, ctx: agent.Context) {
  ctx.workspace!.WriteFile("index.html", "<h1>Hi");

  t.assert.Equal(Next(ctx, {}), { data: { done: false, problems: ["a tag is not closed"], versioned: ctx.metadata.versioned } });
}
