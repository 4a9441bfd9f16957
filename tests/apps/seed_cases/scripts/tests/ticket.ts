/** Whether an answer names a ticket; by its role, as the reference names no function. */
export function Validate(output: string) {
  return /Ticket \d+/.test(output);
}
