import { type AskInput, type Host, tool, type Tool, type ToolCall } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import type { Agent, Subagent } from "../file/agent.ts";
import { partsOf } from "../../program/fields.ts";
import { Lanes } from "../../threads/lanes.ts";
import { nestedThread, nestedThreadId, originOf } from "./nested-thread.ts";
import { outputOf, schemaOf } from "./signature.ts";

/**
 * Makes a subagent a tool. Each call is an ask on a nested thread, with an id that is derived from the call. After a
 * crash, the same ask is sent again; it gets its earlier answer, or continues.
 */
export const subagentTool = (subagent: Subagent, host: () => Host): Tool => {
  const { name, description, agent } = subagent;
  const lanes = new Lanes();
  return tool({
    name,
    description,
    input: schemaOf(agent.signature?.inputs ?? oneMessage),
    recovery: "rerun",
    // A nested thread is one conversation, so calls of one step run on it one after the other, in order.
    run: (input, call) =>
      lanes.run(nestedThreadId(subagent, call.threadId, call.callId), () =>
        answer(host(), subagent, call, inputOf(agent, input)),
      ),
  });
};

const oneMessage: JsonObject = {
  type: "object",
  properties: {
    message: { type: "string", description: "What to ask it: it sees nothing else of this conversation." },
  },
  required: ["message"],
  additionalProperties: false,
};

/** Returns the input of the ask: the text of a subagent without a signature, else the fields as data parts. */
const inputOf = ({ signature }: Agent, input: JsonObject): AskInput => {
  const { message } = input;
  return signature === null && typeof message === "string" ? message : partsOf(input);
};

const answer = async (host: Host, subagent: Subagent, call: ToolCall, input: AskInput): Promise<unknown> => {
  const { signal, callId: askId, toolContext } = call;
  signal.throwIfAborted();
  const thread = await nestedThread(host, subagent, call);
  signal.throwIfAborted();
  const options = { askId, metadata: originOf(subagent, call), toolContext };
  const output = outputOf(subagent.agent);
  const asked = output === null ? thread.ask(input, options) : thread.ask(input, { ...options, output });
  const cancel = (): void => {
    // A host that closes, or has lost the lease, aborts with an Error as the reason. The call is then repeated later,
    // and the nested turn continues.
    if (signal.reason instanceof DOMException) asked.abort("the call was cancelled");
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const result = await asked;
    return "output" in result ? result.output : result.text;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};
