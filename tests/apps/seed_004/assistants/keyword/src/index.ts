export function Create(ctx: agent.Context, messages: agent.Message[]) {
  return { metadata: { words: String(messages[0]?.content).split(" ").length } };
}
