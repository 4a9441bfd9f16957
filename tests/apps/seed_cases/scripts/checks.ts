/** Whether an answer is signed. */
export function Signed(output: string) {
  const pass = output.includes("desk");
  return { pass, message: pass ? "" : `not signed: ${output}` };
}
