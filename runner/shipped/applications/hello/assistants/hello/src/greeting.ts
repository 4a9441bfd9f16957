/** A greeting for an hour of the day, 0 to 23. */
export function Greeting(name: string, hour: number): string {
  const part = hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening";
  return `Good ${part}, ${name}!`;
}
