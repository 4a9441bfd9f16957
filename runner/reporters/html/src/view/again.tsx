/** Runs tests of a run again. It first shows the command; the user must start it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../format";
import { Badge } from "../values";
import { type Again, get, hrefOf, runPath, send } from "./api";
import { problemOf } from "./shell";

/** Milliseconds between two requests for its output. */
const LOOK = 400;

export function AgainPanel({ run, keys, onClose }: { run: string; keys: string[]; onClose: () => void }) {
  const [commands, setCommands] = useState<string[]>([]);
  const [again, setAgain] = useState<Again | null>(null);
  const [problem, setProblem] = useState("");
  const isRunning = again?.state === "running";
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    panel.current!.focus();
    return () => before?.focus(); // back to the button that opened it
  }, []);
  useEffect(() => {
    send<{ commands: string[] }>("POST", runPath(run, "again/plan"), { keys }).then((plan) => setCommands(plan.commands), (error) => setProblem(problemOf(error)));
  }, [run]);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => void get<Again>("/api/again").then(setAgain, (error) => setProblem(problemOf(error))), LOOK);
    return () => clearInterval(timer);
  }, [isRunning]);
  const start = async () => {
    try {
      setAgain(await send<Again>("POST", runPath(run, "again"), { keys }));
      setProblem("");
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const stop = () => void send<Again>("DELETE", "/api/again").then(setAgain, (error) => setProblem(problemOf(error)));
  return (
    <section class="again card" aria-labelledby="again-title" tabIndex={-1} ref={panel}>
      <h2 id="again-title">Run again{keys.length > 0 ? `: ${keys.length === 1 ? "one result" : `${keys.length} results`}` : ""}</h2>
      {problem && <p class="problem" role="alert">{visible(problem)}</p>}
      {commands.map((command) => <pre class="value" tabIndex={0} role="group" aria-label="Command">{visible(command)}</pre>)}
      <p class="faint">It runs on this machine, in the application folder, with the current files.</p>
      <div class="tools-row">
        {!again && <button type="button" class="button primary" disabled={commands.length === 0} onClick={() => void start()}>Run</button>}
        {isRunning && <button type="button" class="button" onClick={stop}>Stop</button>}
        {!isRunning && <button type="button" class="button" onClick={onClose}>Close</button>}
        <span role="status">
          {isRunning && <Badge kind="accent">running</Badge>}
          {again?.state === "ended" && <Badge kind={again.code === 0 ? "passed" : "failed"}>ended with exit code {again.code}</Badge>}
        </span>
        {again && <a href={hrefOf("/")}>The results are in the list of runs</a>}
      </div>
      {again && again.output && <pre class="value output" tabIndex={0} role="group" aria-label="Output">{visible(again.output)}</pre>}
    </section>
  );
}
