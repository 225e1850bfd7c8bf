import type { Content, Json, JsonObject } from "@colloquy/machine";
import { type OutputOptions, type StandardSchema, strictProblems } from "@colloquy/host";
import { issuesInWords, issuesOf } from "@colloquy/host/store";
import { partsOf } from "../../program/fields.ts";
import type { Agent } from "../file/agent.ts";

/** Returns a schema that validates by a JSON Schema, in bounded steps, and shows it unchanged to models. */
export const schemaOf = (schema: JsonObject): StandardSchema<JsonObject> => ({
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
export const outputOf = ({ name, signature }: Agent): OutputOptions<StandardSchema<JsonObject>> | null => {
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
