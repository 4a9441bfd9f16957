import type { Check } from "../kernel";
import { explain, isObject, refuse } from "./support";

/** What one judge answered; without `passed` it could not judge, or could not be asked, which `failed` tells. */
interface Vote {
  judge: string;
  passed?: boolean;
  score?: unknown;
  reason?: string;
  failed?: boolean;
  broke?: boolean;
}

/** Who is asked next, or what the votes come to. */
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
 * `Agent(response, agentId, {criteria, metadata, connector, judge})`: the validator agent finds that the response
 * passes. Fails with the agent's reason, and when it cannot be asked or answers something else than a judgement. When it
 * could not judge (`judged: false`), the check holds unjudged, or fails where a judge is required. The host counts the
 * votes of `judge: {samples, quorum, judges}`, as it does in cases.
 */
export const agent: Check = {
  params: ["response", "agentId", "options?"],
  test(kernel, args) {
    const { std } = kernel;
    const output = args[0];
    const id = args[1];
    const options = args[2] ?? {};
    if (typeof id !== "string") return refuse(kernel, "The id of a validator is a text", id);
    if (!isObject(options)) return refuse(kernel, "The options are an object", options);
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
      const why = "Not judged, which --require-judge does not accept" + (reason ? ": " + reason : "");
      return { reason: why, actual: output, unjudged: required ? "fails" : "holds" };
    }
    return passed ? undefined : { reason, actual: output, inconclusive };
  },
};
