import { Problems } from "./page";

export function TestProblems(t: testing.T) {
  t.assert.Equal(Problems("<h1>Hi</h1>"), []);
  t.assert.Equal(Problems("<p>Hi"), ["it has no heading", "a tag is not closed"]);
  t.assert.Equal(Problems("<h1>Hi</h1><script></script>"), ["it has a script"]);
}
