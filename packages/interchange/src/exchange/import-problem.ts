import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { Json, JsonObject } from "@colloquy/machine";
import { excerpt, isJsonObject, plainJson } from "./json.ts";

/** The reason why a value cannot be imported as a conversation. */
export interface ImportProblem {
  /** The index of the item in the list, from 0; null if the value is not a list. */
  readonly index: number | null;
  /** Tells what is wrong, with the value, and how to fix it. */
  readonly reason: string;
}

/** Readers throw it at what they cannot read; `caught` makes it the result of an import. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
  readonly problem: ImportProblem;

  constructor(index: number | null, reason: string) {
    super(reason);
    this.problem = { index, reason };
  }
}

/** Returns what a reader read, or the problem at which it stopped. */
export const caught = <Value>(read: () => Value): Either.Either<ImportProblem, Value> => {
  try {
    return Either.right(read());
  } catch (thrown) {
    if (thrown instanceof Unreadable) return Either.left(thrown.problem);
    throw thrown;
  }
};

/** Reads each item of a list. `what` names the expected items: "chat messages". @throws Unreadable */
export const eachItem = <Item>(items: unknown, what: string, read: (item: Json, index: number) => Item): Item[] => {
  if (!Array.isArray(items))
    throw new Unreadable(null, `not a list of ${what}: ${excerpt(items)}; give the list itself`);
  // Not `map`, which would skip holes.
  return Array.from(items, (value: unknown, index) => {
    const plain = plainJson(value);
    if (Either.isRight(plain)) return read(plain.right, index);
    throw new Unreadable(index, `item ${index} is no plain JSON: ${plain.left}`);
  });
};

/** Parses a value by a schema. @throws Unreadable with the place in the item */
export const shaped = <Value>(schema: z.ZodMiniType<Value>, value: Json, index: number, what: string): Value => {
  const parsed = schema.safeParse(value, { error: english.localeError });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  const problem = `${where}${issue?.message ?? "unreadable"}`;
  throw new Unreadable(index, `item ${index} is not ${what}: ${problem}, in ${excerpt(value)}`);
};

/** The schema of an object. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "expected an object");

/** The schema of any JSON value. */
export const jsonValue = z.custom<Json>((value) => value !== undefined, "expected a value");

/** Errors are in English, whichever language zod is set to elsewhere. */
const english = z.locales.en();
