import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

/** Parses a value by a schema; Left with a description of the first mismatch. */
export const parseWith = <Value>(schema: z.ZodType<Value>, value: unknown): Either.Either<string, Value> => {
  const result = schema.safeParse(value);
  if (result.success) return Either.right(result.data);
  const issue = result.error.issues[0];
  return Either.left(`${issue?.path.join(".") || "the record"}: ${issue?.message ?? "it can't be read"}`);
};

/**
 * Any value except undefined. A result of JSON.parse is always JSON, and checking it again would take longer than a
 * replay.
 */
export const anyJson: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, "it is missing");

/** An object whose members are not checked. */
export const anyObject: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "it is no object",
);

/** Transforms an absent value to null. */
export const orNull = <Value>(value: Value | null | undefined): Value | null => value ?? null;

/** Transforms null to an absent value. */
export const orAbsent = <Value>(value: Value | null | undefined): Value | undefined => value ?? undefined;
