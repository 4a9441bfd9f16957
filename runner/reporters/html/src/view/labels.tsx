/** Labels: what people say about an answer and about the verdicts of judges: yes or no, and why. */

import { useEffect, useRef, useState } from "preact/hooks";
import { brief, visible } from "../format";
import type { Result } from "../model";
import { Section } from "../values";
import { get, type Question, runPath, send } from "./api";
import { problemOf } from "./shell";

const keyOf = ({ run, turn, criterion }: Question) => `${run} ${turn} ${criterion}`;

interface Props {
  run: string;
  at: number;
  result: Result;
  /** Called with the number of labels that the run has now. */
  onChange: (count: number) => void;
}

export function Labels({ run, at, result, onChange }: Props) {
  const [questions, setQuestions] = useState<Question[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    get<{ questions: Question[] }>(runPath(run, `labels?at=${at}`)).then((found) => setQuestions(found.questions), (error) => setProblem(problemOf(error)));
  }, [run, at, result]);
  const last = useRef(Promise.resolve());
  const say = async (question: Question, passed: boolean | null, why: string) => {
    const { run: attempt, turn, criterion } = question;
    try {
      const { count, label } = await send<{ count: number; label?: Question["label"] }>("PUT", runPath(run, "labels"), { at, run: attempt, turn, criterion, passed, why });
      setQuestions((old) => old.map((one) => (keyOf(one) === keyOf(question) ? { ...one, label } : one)));
      setProblem("");
      onChange(count);
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  /** Sends labels one after another, so that the last one counts. */
  const queue = (...said: Parameters<typeof say>) => void (last.current = last.current.then(() => say(...said)));
  if (questions.length === 0 && !problem) return null;
  const given = questions.filter(({ label }) => label).length;
  return (
    <Section title="Human labels" count={given ? `${given} of ${questions.length} labelled` : "no labels yet"} open={given > 0 || questions.some(({ judged }) => judged)}>
      {problem && <p class="problem" role="alert">{visible(problem)}</p>}
      <ul class="questions">
        {questions.map((question) => <Asked key={keyOf(question)} question={question} onSay={(passed, why) => queue(question, passed, why)} />)}
      </ul>
    </Section>
  );
}

function Asked({ question, onSay }: { question: Question; onSay: (passed: boolean | null, why: string) => void }) {
  const { label, judged, criterion } = question;
  const [why, setWhy] = useState(label?.why ?? "");
  const asked = criterion || "The answer is good";
  const answer = (passed: boolean) => onSay(label?.passed === passed ? null : passed, why);
  const pressed = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "y" || event.key === "n") {
      event.preventDefault();
      answer(event.key === "y");
    }
  };
  const where = [question.run > 1 ? `run ${question.run}` : "", question.turn ? `turn ${question.turn}` : ""].filter(Boolean).join(", ");
  return (
    <li>
      <div class="question" role="group" aria-label={visible(asked)} onKeyDown={pressed}>
        <div class="question-what">
          <span dir="auto">{visible(asked)}</span>{" "}
          {where && <span class="faint">{where}</span>}{" "}
          {judged && <span class="faint">{judged.judge ? `${visible(judged.judge)} says` : "The judge says"} {judged.passed ? "yes" : "no"}</span>}
          {(question.run > 1 || question.turn > 0) && <div class="faint" dir="auto">{brief(question.output, 240)}</div>}
        </div>
        <div class="question-says">
          <button type="button" class="button yes" aria-pressed={label?.passed === true} onClick={() => answer(true)}>Yes</button>
          <button type="button" class="button no" aria-pressed={label?.passed === false} onClick={() => answer(false)}>No</button>
          <input type="text" class="field" aria-label={`Why: ${visible(asked)}`} placeholder="Why" maxLength={2000} value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
            onChange={() => label && why !== label.why && onSay(label.passed, why)} />
        </div>
      </div>
    </li>
  );
}
