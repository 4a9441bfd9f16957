import type { Check } from "../kernel";
import { isObject } from "../objects";
import { explain, refuse } from "./support";

/** The answer of one judge. `passed` is undefined if it could not judge; `failed` is true if it could not be asked. */
interface Vote {
  judge: string;
  passed?: boolean;
  score?: unknown;
  reason?: string;
  failed?: boolean;
  broke?: boolean;
}

/** The judge to ask next (`ask`), or, once no more are needed, the result of the vote. */
interface Count {
  ask?: string;
  connector?: string;
  passed?: boolean;
  judged?: boolean;
  inconclusive?: boolean;
  failed?: boolean;
  broke?: boolean;
  reason?: string;
}

/**
 * `Agent(response, agentId, {criteria, metadata, connector, judge})`: the validator agent accepts the response.
 *
 * Fails with the agent's reason if it does not accept it. Also fails if the agent cannot be asked, or answers something
 * that is not a judgement. If the agent answers that it could not judge (`judged: false`), the check passes and counts
 * as not judged; with `--require-judge` it fails. With `judge: {samples, quorum, judges}` several judges vote, and the
 * host counts their votes as it does for cases.
 */
export const agent: Check = {
  params: ["response", "agentId", "options?"],
  test(kernel, args) {
    const { std } = kernel;
    const output = args[0];
    const id = args[1];
    const options = args[2] ?? {};
    if (typeof id !== "string") return refuse(kernel, "The validator id must be a string", id);
    if (!isObject(options)) return refuse(kernel, "The options must be an object", options);
    const { criteria, metadata, judge } = options;
    const odd = std.list<unknown>();

    const ask = (name: string, connector: unknown): Vote => {
      const validator = "The validator " + std.stringify(name);
      let answer: unknown;
      try {
        const order = { __proto__: null, agent: name, output, criteria, metadata, connector };
        answer = kernel.call("agent.Validate", [order]);
      } catch (error) {
        const reason = validator + " could not be asked: " + explain(kernel).thrown(error);
        return { judge: name, reason, failed: true, broke: kernel.isBroken(error) };
      }
      const said = (key: string): unknown => (isObject(answer) && std.hasOwn(answer, key) ? answer[key] : undefined);
      const passed = said("passed");
      const given = said("reason");
      const reason = typeof given === "string" && given ? given : undefined;
      if (passed !== false && said("judged") === false) return { judge: name, reason };
      if (typeof passed !== "boolean") {
        odd[odd.length] = answer;
        return { judge: name, reason: validator + " did not answer whether the response passes", failed: true };
      }
      return { judge: name, passed, score: said("score"), reason: reason ?? (passed ? undefined : validator + " did not accept the response") };
    };

    const votes = std.list<Vote>();
    const about = { __proto__: null, output, criteria, metadata, connector: options.connector };
    const count = (): Count => kernel.host("agent.Vote", [id, judge, votes, about]) as Count;
    let found = count();
    while (found.ask !== undefined) {
      votes[votes.length] = ask(found.ask, found.connector || options.connector);
      found = count();
    }
    const { passed, judged, failed, broke, inconclusive, reason = "" } = found;
    if (failed) return odd.length ? { reason, actual: odd[0] } : { reason, bare: true, broke };
    if (judged === false) {
      const required = kernel.host("agent.JudgeRequired", []);
      const why = "Not judged, but --require-judge is set" + (reason ? ": " + reason : "");
      return { reason: why, actual: output, unjudged: required ? "fails" : "holds" };
    }
    return passed ? undefined : { reason, actual: output, inconclusive };
  },
};
