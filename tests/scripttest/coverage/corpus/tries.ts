export function risky(fails: boolean) {
  try { if (fails) throw new Error("x"); return 1; }
  catch ({ message = "none" }: any) { return message; }
  finally { void 0; }
}
risky(false); risky(true);
try { risky(false); } catch { risky(true); }
debugger;
