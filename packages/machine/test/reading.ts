import * as Either from "fp-ts/lib/Either.js";
import type { Entry, State } from "../src/index.ts";
import { fold } from "../src/journal.ts";

/** Returns the value of a right; throws for a left. */
export const right = <Value>(either: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};

export const foldOf = (entries: readonly Entry[]): State => right(fold(entries));

/** Returns a value as a store returns it. */
export const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
