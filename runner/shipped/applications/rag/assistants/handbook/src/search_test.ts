import { Search } from "./search";

const ids = (question: string) => Search(question).map(({ id }) => id);

export function TestTheBestPassageIsFirst(t: testing.T) {
  t.assert.Equal(ids("How many days of vacation do I have?")[0], "vacation");
  t.assert.Equal(ids("Who pays my taxi?"), ["travel"]);
  t.assert.Equal(ids("When do I get new laptops?"), ["laptops"]);
}

export function TestNothingIsFoundForOtherQuestions(t: testing.T) {
  t.assert.Len(Search("What is the meaning of life?"), 0);
  t.assert.Len(Search(""), 0);
}
