import type { Check } from "../kernel";
import { explain, isObject, refuse } from "./support";

/**
 * `Agent(response, agentId, {criteria, metadata, connector})`: the validator agent finds that the response passes.
 * Fails with the agent's reason, and when it cannot be asked or answers something else than a judgement. When it could
 * not judge (`judged: false`), the check holds unjudged, or fails where a judge is required.
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
    const { criteria, metadata, connector } = options;
    const validator = "The validator " + std.stringify(id);
    let answer: unknown;
    try {
      answer = kernel.call("agent.Validate", [{ __proto__: null, agent: id, output, criteria, metadata, connector }]);
    } catch (error) {
      const reason = validator + " could not be asked: " + explain(kernel).thrown(error);
      return { reason, bare: true, broke: kernel.isBroken(error) };
    }
    const said = (key: string): unknown => (isObject(answer) && std.hasOwn(answer, key) ? answer[key] : undefined);
    const passed = said("passed");
    const given = said("reason");
    const reason = typeof given === "string" && given;
    if (passed !== false && said("judged") === false) {
      const required = kernel.host("agent.JudgeRequired", []);
      const why = "Not judged, which --require-judge does not accept" + (reason ? ": " + reason : "");
      return { reason: why, actual: output, unjudged: required ? "fails" : "holds" };
    }
    if (typeof passed !== "boolean") {
      return { reason: validator + " did not answer whether the response passes", actual: answer };
    }
    if (passed) return undefined;
    return { reason: reason || validator + " did not accept the response", actual: output };
  },
};
