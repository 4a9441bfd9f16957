/** All tests of the store, the worst first. */

import { useEffect, useState } from "preact/hooks";
import { Table } from "../attempts";
import { duration, moment, number, percent, plural, visible } from "../format";
import { SearchField } from "../toolbar";
import { termsOf } from "../view";
import { get, hrefOf, type KnownTest } from "./api";
import { type Look, problemOf, Shell } from "./shell";
import { signOf } from "./test";

/** How many tests are shown at first, and how many each click adds. */
const STEP = 200;

export function TestsPage(look: Look) {
  const [found, setFound] = useState<{ tests: KnownTest[]; version: string } | null>(null);
  const [query, setQuery] = useState("");
  const [limit, setLimit] = useState(STEP);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    document.title = "Tests – yao-test";
    get<{ tests: KnownTest[]; version: string }>("/api/tests").then(setFound, (error) => setProblem(problemOf(error)));
  }, []);
  const terms = termsOf(query);
  const tests = (found?.tests ?? []).filter(({ suite, test, asked }) => terms.every((term) => `${suite}\n${test}\n${asked.join("\n")}`.toLowerCase().includes(term)));
  return (
    <Shell {...look} title="Tests" version={found?.version} problem={problem} main={["tests", "tests"]}>
      <div class="tools-row" role="search" aria-label="Tests">
        <SearchField query={query} label="Search tests" onChange={(query) => { setQuery(query); setLimit(STEP); }} />
        <span class="count" role="status">{found && plural(tests.length, "test")}</span>
      </div>
      <div id="tests" tabIndex={-1}>
        {tests.length > 0 && (
          <Table head={["Test", "Trend", "Newest runs", "Connector", "Run pass rate", "Mean duration", "Last run", "Suite"]} label="Tests">
            {tests.slice(0, limit).map((one) => (
              <tr>
                <td class="wide"><a href={hrefOf("/test", { suite: one.suite, test: one.test })}>{visible(one.test)}</a></td>
                <td>{one.trends.join(", ")}</td>
                <td><Verdicts verdicts={one.verdicts} /></td>
                <td>{visible(one.asked.join(" → "))}</td>
                <td class="figure">{percent(one.passed, one.judged)}</td>
                <td class="figure">{duration(one.duration_ms)}</td>
                <td class="figure">{moment(one.last)}</td>
                <td class="path">{visible(one.suite)}</td>
              </tr>
            ))}
          </Table>
        )}
      </div>
      {found && tests.length === 0 && <p class="empty">{found.tests.length === 0 ? "The store has no tests yet." : "No tests match."}</p>}
      {tests.length > limit && <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>Show more of {number(tests.length)}</button>}
    </Shell>
  );
}

function Verdicts({ verdicts }: { verdicts: string[] }) {
  const passed = verdicts.filter((verdict) => verdict === "passed").length;
  return (
    <span class="marks" role="img" aria-label={`${passed} of the newest ${plural(verdicts.length, "run")} passed`}>
      {verdicts.map((verdict) => <span class={signOf(verdict)} />)}
    </span>
  );
}
