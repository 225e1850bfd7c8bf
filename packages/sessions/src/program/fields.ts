import type { ContentPart, DataPart, Json, Message } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";

/** Named values, plain JSON: what goes into a program, and what comes out. */
export interface Fields {
  readonly [field: string]: unknown;
}

/** An exchange as a caller hands it in. */
export interface GivenExchange {
  readonly inputs: object;
  readonly outputs: object;
}

/**
 * A frozen copy of what somebody handed in.
 *
 * @param what it is, for the error: `the inputs of "qa"`.
 * @throws TypeError where it is no object, or has what JSON has no word for
 */
export const fieldsGiven = (what: string, given: unknown): { readonly [field: string]: Json } => {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new TypeError(
      `${what} are ${given === null ? "null" : Array.isArray(given) ? "a list" : `a ${typeof given}`}; they must be an object of fields`,
    );
  const copy = plainCopy(given);
  if (copy instanceof NotPlain) throw new TypeError(`${what}: ${describeValueProblem(copy.problem, "the whole")}`);
  // A plain copy of an object is an object of JSON.
  return copy as { readonly [field: string]: Json };
};

/** Fields as the parts of a message. */
export const partsOf = (fields: { readonly [field: string]: Json }): readonly DataPart[] =>
  Object.entries(fields).map(([field, value]) => ({ type: "data", field, value }));

/** The fields that a message carries; none where there is no message. */
export const fieldsOf = (message: { readonly parts: readonly ContentPart[] | Message["parts"] } | undefined): Fields =>
  Object.fromEntries(
    (message?.parts ?? []).flatMap((part) => (part.type === "data" ? [[part.field, part.value]] : [])),
  );
