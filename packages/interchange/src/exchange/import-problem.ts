import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { Json, JsonObject } from "@colloquy/machine";
import { excerpt, isJsonObject } from "./json-object.ts";
import { plainJson } from "./plain-json.ts";

/** The reason why a value cannot be imported as a conversation. */
export interface ImportProblem {
  /** The index of the item in the list, from 0; null if the value is not a list. */
  readonly index: number | null;
  /** Tells what is wrong, with the value, and how to fix it. */
  readonly reason: string;
}

/** Reads each item of a list, up to the first unreadable one. `what` names the expected items: "chat messages". */
export const eachItem = <Item>(
  items: unknown,
  what: string,
  read: (item: Json, index: number) => Either.Either<ImportProblem, Item>,
): Either.Either<ImportProblem, readonly Item[]> => {
  if (!Array.isArray(items)) return problem(null, `not a list of ${what}: ${shown(items)}; give the list itself`);
  const done: Item[] = [];
  for (const [index, value] of items.entries()) {
    const plain = plainJson(value);
    if (Either.isLeft(plain)) return problem(index, `item ${index} is no plain JSON: ${plain.left}`);
    const item = read(plain.right, index);
    if (Either.isLeft(item)) return item;
    done.push(item.right);
  }
  return Either.right(done);
};

/** Parses a value by a schema, or returns an error with the place in the item. */
export const shaped = <Value>(
  schema: z.ZodMiniType<Value>,
  value: Json,
  index: number,
  what: string,
): Either.Either<ImportProblem, Value> => {
  const parsed = schema.safeParse(value, { error: english.localeError });
  if (parsed.success) return Either.right(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  return problem(index, `item ${index} is not ${what}: ${where}${issue?.message ?? "unreadable"}, in ${shown(value)}`);
};

/** The schema of an object. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, "expected an object");

/** The schema of any JSON value. */
export const jsonValue = z.custom<Json>((value) => value !== undefined, "expected a value");

/** Errors are in English, whichever language zod is set to elsewhere. */
const english = z.locales.en();

/** Creates an error about an item. */
export const problem = (index: number | null, reason: string): Either.Either<ImportProblem, never> =>
  Either.left({ index, reason });

/** Formats a value for an error. Never throws, since an unreadable value may be anything. */
const shown = (value: unknown): string => {
  try {
    return excerpt(value);
  } catch {
    return `a ${typeof value} that has no JSON`;
  }
};
