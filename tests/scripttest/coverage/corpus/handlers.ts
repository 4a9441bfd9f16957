interface Message { role: string; content: string }
function Create(ctx: any, messages: Message[]) {
  const last = messages[messages.length - 1];
  if (!last || last.role !== "user") { return null; }
  const text = typeof last.content === "string" ? last.content : "";
  return text.length > 100 ? { messages: messages.slice(-1) } : { messages };
}
function Next(ctx: any, payload: any) {
  try { return { data: JSON.parse(payload?.completion?.content ?? "null") }; }
  catch (error) { return { error: (error as Error).message }; }
}
Create({}, [{ role: "user", content: "hi" }]);
Next({}, {});
export { Create, Next };
