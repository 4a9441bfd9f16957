import passages from "./passages.json";

export interface Passage {
  id: string;
  text: string;
}

const COMMON = new Set("a and are can do for get how i is it many may my of on the to what when which you".split(" "));

/** The passages that share most words with a question, the best first; none that shares no word. */
export function Search(question: string, most = 2): Passage[] {
  const wanted = words(question);
  return passages
    .map((passage) => ({ passage, score: words(`${passage.id} ${passage.text}`).filter((w) => wanted.includes(w)).length }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ passage }) => passage);
}

/** The words of a text that mean something, each once, without the s of a plural. */
function words(text: string): string[] {
  const found = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return [...new Set(found.filter((word) => !COMMON.has(word)).map((word) => word.replace(/s$/, "")))];
}
