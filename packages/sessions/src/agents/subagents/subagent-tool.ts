import {
  type AskInput,
  type Host,
  tool,
  type Tool,
  type ToolCall,
  type OutputOptions,
  type StandardSchema,
  strictProblems,
} from "@colloquy/host";
import type { JsonObject, Content, Json } from "@colloquy/machine";
import type { Agent, Subagent } from "../file/agent.ts";
import { partsOf } from "../../program/exchange.ts";
import { Lanes } from "../../threads/session-runtime.ts";
import { nestedThread, nestedThreadId, originOf } from "./nested-thread.ts";
import { issuesInWords, issuesOf } from "@colloquy/host/store";

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
  signal.addEventListener("abort", cancel);
  const result = await asked;
  return "output" in result ? result.output : result.text;
};

/** Returns a schema that validates by a JSON Schema, in bounded steps, and shows it unchanged to models. */
const schemaOf = (schema: JsonObject): StandardSchema<JsonObject> => ({
  "~standard": {
    version: 1,
    vendor: "json-schema",
    validate: (value) => {
      // A model wrote the value, so it is JSON. A value that matches the schema of an object is an object.
      const issues = issuesOf(schema, value as Json);
      return issues.length === 0 ? { value: value as JsonObject } : { issues };
    },
    jsonSchema: { input: () => schema },
  },
});

/** Returns the required output of an agent's answer, from its signature; null if it is a text. */
const outputOf = ({ name, signature }: Agent): OutputOptions<StandardSchema<JsonObject>> | null => {
  if (signature === null) return null;
  // The structured outputs of providers support only some schemas.
  const mode = strictProblems(signature.outputs).length === 0 ? "native" : "tool";
  return { schema: schemaOf(signature.outputs), name, mode };
};

/**
 * Returns an ask of an agent, checked by its signature.
 *
 * @throws TypeError for inputs that do not match, and if there is no signature
 */
export const signedAsk = (
  agent: Agent,
  inputs: JsonObject,
): { readonly input: Content; readonly output: NonNullable<ReturnType<typeof outputOf>> } => {
  const { name, signature } = agent;
  const output = outputOf(agent);
  if (signature === null || output === null)
    throw new TypeError(`agent "${name}" has no signature: ask it a text, or give its file one: { inputs, outputs }`);
  const issues = issuesOf(signature.inputs, inputs);
  if (issues.length === 0) return { input: partsOf(inputs), output };
  throw new TypeError(`agent "${name}": the inputs do not fit its signature: ${issuesInWords(issues)}`);
};
