import { Find, IsUrgent, Open } from "./tickets";

export function TestOpen(t: testing.T) {
  t.assert.Equal(Open("ada", "printer"), { id: 1, subject: "printer", urgent: false });
  t.assert.Len(Find("ada"), 1);
  t.assert.Len(Find("grace"), 0);
}

export function TestTheSameTicketIsOpenedOnce(t: testing.T) {
  const first = Open("ada", "screen");

  t.assert.Equal(Open("ada", "screen"), first);
  t.assert.Len(Find("ada"), 1);
}

export function TestIsUrgent(t: testing.T) {
  for (const [subject, urgent] of [["screen", true], ["Login page", true], ["printer", false]] as const) {
    t.run(subject, (t) => {
      t.assert.Equal(IsUrgent(subject), urgent);
    });
  }
}
