import { Greeting } from "./greeting";

export function TestGreeting(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  assert.Equal(Greeting("Ada", 9), "Good morning, Ada!");
  assert.Equal(Greeting("Ada", 20), "Good evening, Ada!");
}
