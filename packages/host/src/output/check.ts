import type { Json, JsonObject, OutputIssue } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import { isRecord, messageOf } from "../boundary/thrown.ts";
import type { Clock } from "../ports/clock.ts";
import { issuesOf } from "../tools/json-schema.ts";
import {
  bounded,
  inWords,
  issuesMax,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
  wordsMax,
} from "../tools/schema.ts";

/** The result of checking an answer. */
export type Checked =
  /** `value` is the written JSON, `output` the schema's result for it. */
  | { readonly type: "valid"; readonly value: Json; readonly output: unknown }
  | { readonly type: "invalid"; readonly issues: readonly OutputIssue[] }
  /** The validator threw, did not finish, or returned an invalid result. */
  | { readonly type: "failed"; readonly reason: string };

/** The schemas that check an answer. */
export interface Validator {
  readonly schema: StandardSchema | null;
  readonly jsonSchema: JsonObject;
}

/** Checks the text of an answer: JSON, perhaps in a code fence. A promise only if the schema gives one. */
export const checkText = (text: string, validator: Validator, clock: Clock): Checked | Promise<Checked> => {
  let value: Json;
  try {
    value = JSON.parse(jsonTextIn(text)) as Json;
  } catch (thrown) {
    return { type: "invalid", issues: [{ message: bounded(`it is not valid JSON (${messageOf(thrown)})`, wordsMax) }] };
  }
  return checkValue(value, validator, clock);
};

/** Checks a value. Never throws and never rejects; a validator may take `longestMs`. */
export const checkValue = (
  value: Json,
  { schema, jsonSchema }: Validator,
  clock: Clock,
): Checked | Promise<Checked> => {
  // The value is journalled, so it must be the same in the journal.
  const copy = plainCopy(value, answerLevels);
  if (copy instanceof NotPlain)
    return { type: "invalid", issues: [{ message: describeValueProblem(copy.problem, "the answer") }] };
  if (schema === null) {
    const issues = issuesOf(jsonSchema, value);
    return issues.length === 0 ? { type: "valid", value, output: value } : { type: "invalid", issues: written(issues) };
  }
  try {
    // The validator gets a copy: it may write into its input, and a journalled value is frozen.
    const result = schema["~standard"].validate(JSON.parse(JSON.stringify(value)));
    return isRecord(result) && "then" in result
      ? inTime(Promise.resolve(result), value, clock)
      : fromResult(result, value);
  } catch (thrown) {
    return threw(thrown);
  }
};

const longestMs = 30_000;

const inTime = (pending: Promise<SchemaResult<unknown>>, value: Json, clock: Clock): Promise<Checked> => {
  const { promise, resolve } = Promise.withResolvers<Checked>();
  const cancel = clock.wakeAt(clock.now() + longestMs, () =>
    resolve({ type: "failed", reason: `the validator did not answer within ${longestMs} ms` }),
  );
  const answered = pending.then((result) => fromResult(result, value), threw);
  void answered.then(resolve).finally(cancel);
  return promise;
};

/** Reads the result of a validator, which is foreign code: it may return any value. */
const fromResult = (result: unknown, value: Json): Checked => {
  try {
    if (!isRecord(result)) return { type: "failed", reason: "the validator answered what is no result" };
    const { issues } = result;
    if (issues === undefined)
      return "value" in result
        ? { type: "valid", value, output: result["value"] }
        : { type: "failed", reason: "the validator answered neither a value nor issues" };
    return Array.isArray(issues)
      ? { type: "invalid", issues: written(issues) }
      : { type: "failed", reason: "the validator answered issues that are no list" };
  } catch (thrown) {
    return threw(thrown);
  }
};

const threw = (thrown: unknown): Checked => ({
  type: "failed",
  reason: bounded(`the validator threw: ${messageOf(thrown)}`, wordsMax),
});

/** Returns issues as they are journalled and as the model reads them: no more than it can use. */
const written = (issues: readonly SchemaIssue[]): readonly OutputIssue[] => {
  const shown = issues.slice(0, issuesMax).map(({ message, path }): OutputIssue => {
    const place = (path ?? []).slice(0, answerLevels).map(segmentOf);
    const words = { message: inWords(message) };
    return place.length === 0 ? words : { ...words, path: place };
  });
  const left = issues.length - shown.length;
  return left === 0 ? shown : [...shown, { message: `and ${left} more` }];
};

const segmentOf = (segment: NonNullable<SchemaIssue["path"]>[number]): string | number => {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "number" && Number.isSafeInteger(key) && key >= 0 ? key : bounded(String(key), keyMax);
};

const keyMax = 100;

/** Returns the JSON of an answer without a code fence around it. Other text around it stays. */
const jsonTextIn = (text: string): string => {
  const trimmed = text.trim();
  const opening = fenceAt(trimmed);
  return opening === 0 || !trimmed.endsWith(fence) ? trimmed : trimmed.slice(opening, -fence.length);
};

const fenceAt = (text: string): number => /^```[\w-]*\s*?\n?/.exec(text)?.[0].length ?? 0;

const fence = "```";

/** The deepest nesting of an answer: safely less than that of the event that contains it. */
export const answerLevels = 200;
