import type { Content, JsonObject } from "@colloquy/machine";
import { type OutputOptions, type StandardSchema, strictProblems } from "@colloquy/host";
import { z } from "zod";
import type { Agent } from "../file/agent.ts";

/** A schema that validates what a JSON Schema says, and is said to models as it is. */
export const schemaOf = (schema: JsonObject): StandardSchema<JsonObject> => {
  const { validate } = z.fromJSONSchema(schema)["~standard"];
  // What fits the JSON Schema of an object is one.
  const checked = validate as StandardSchema<JsonObject>["~standard"]["validate"];
  return { "~standard": { version: 1, vendor: "json-schema", validate: checked, jsonSchema: { input: () => schema } } };
};

/** The fields of a signature as a message has them. */
export const fieldsAsParts = (fields: JsonObject): Content =>
  Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [{ type: "data", field, value }]));

/** What the answer of an agent has to be, by its signature; null where it is a text. */
export const outputOf = ({ name, signature }: Agent): OutputOptions<StandardSchema<JsonObject>> | null => {
  if (signature === null) return null;
  // Structured outputs of providers take only some schemas.
  const mode = strictProblems(signature.outputs).length === 0 ? "native" : "tool";
  return { schema: schemaOf(signature.outputs), name, mode };
};
