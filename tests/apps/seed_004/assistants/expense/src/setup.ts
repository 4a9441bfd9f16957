const GlobalConfig = { value: "production" };

function SystemReady(ctx: agent.Context): boolean {
  return ctx.User !== null && ctx.Team !== null;
}

function Setup(ctx: agent.Context, data: Record<string, any> = {}): Record<string, any> {
  if (ctx.Metadata.config === null) return { error: new Exception("The configuration is missing", 400) };
  return { ...data, mode: ctx.Metadata.testMode ? "test" : GlobalConfig.value };
}
