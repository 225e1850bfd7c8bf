import type { DataPart, Json, Message, TextPart } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";

/** Named values, plain JSON: what goes into a program, and what comes out. */
export interface Fields {
  readonly [field: string]: Json;
}

/**
 * A frozen copy of what somebody handed in.
 *
 * @param what it is, for the error: `the inputs of "qa"`.
 * @throws TypeError where it is no object, or has what JSON has no word for
 */
export const fieldsGiven = (what: string, given: unknown): Fields => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const kind = given === null ? "null" : Array.isArray(given) ? "a list" : `of type ${typeof given}`;
    throw new TypeError(`${what} are ${kind}; they must be an object of fields`);
  }
  const copy = plainCopy(given);
  if (copy instanceof NotPlain) throw new TypeError(`${what}: ${describeValueProblem(copy.problem, "the object")}`);
  // A plain copy of an object is an object of JSON.
  return copy as Fields;
};

/** Fields as the parts of a message, which has at least one. */
export const partsOf = (fields: Fields): readonly (DataPart | TextPart)[] => {
  const parts = Object.entries(fields).map(([field, value]) => ({ type: "data", field, value }) as const);
  return parts.length === 0 ? [{ type: "text", text: "" }] : parts;
};

/** The fields that a message carries; none where there is no message. */
export const fieldsOf = (message: Pick<Message, "parts"> | undefined): Fields => {
  const data = (message?.parts ?? []).filter((part) => part.type === "data");
  return Object.freeze(Object.fromEntries(data.map(({ field, value }) => [field, value])));
};
