import type { DataPart, Json, JsonObject, Message, TextPart } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";

/** The inputs or outputs of a program: named values, plain JSON. */
export interface Fields {
  readonly [field: string]: Json;
}

/**
 * Returns a frozen copy of a given object.
 *
 * @param what names the value in the error: `the inputs of "qa"`.
 * @throws TypeError if it is not an object, or contains a value that JSON cannot express
 */
export const fieldsGiven = (what: string, given: unknown): Fields => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const kind = given === null ? "null" : Array.isArray(given) ? "a list" : `of type ${typeof given}`;
    throw new TypeError(`${what} are ${kind}; they must be an object of fields`);
  }
  const copy = plainCopy(given);
  if (copy instanceof NotPlain) throw new TypeError(`${what}: ${describeValueProblem(copy.problem, "the object")}`);
  // A plain copy of an object is a JSON object.
  return copy as Fields;
};

/** Converts fields to the parts of a message, which has at least one. */
export const partsOf = (fields: JsonObject): readonly (DataPart | TextPart)[] => {
  const parts = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : [{ type: "data", field, value } as const],
  );
  return parts.length === 0 ? [{ type: "text", text: "" }] : parts;
};

/** Returns the fields in a message; none if there is no message. */
export const fieldsOf = (message: Pick<Message, "parts"> | undefined): Fields => {
  const data = (message?.parts ?? []).filter((part) => part.type === "data");
  return Object.freeze(Object.fromEntries(data.map(({ field, value }) => [field, value])));
};
