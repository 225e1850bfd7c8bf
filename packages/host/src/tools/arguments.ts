import type { Json, JsonObject } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import { messageOf } from "../boundary/thrown.ts";
import { issuesOf } from "./json-schema.ts";
import { issuesInWords, type SchemaIssue, type SchemaResult, type StandardSchema } from "./schema.ts";

/** Arguments as a tool gets them, or the problem that the model should fix. */
export type ReadArguments = ValidArguments | { readonly problem: string };

export interface ValidArguments {
  readonly value: unknown;
  /** The JSON that the model wrote: plain data that a journal keeps unchanged. */
  readonly parsed: Json;
}

/** Returns the arguments to approve: as validated if that is plain JSON and nothing else, or as written. */
export const approvableArguments = ({ value, parsed }: ValidArguments): Json => {
  const copy = plainCopy(value, levelsMax);
  return copy instanceof NotPlain || !showsAll(value) ? parsed : (copy as Json);
};

/** Returns whether plain data has no member that JSON would silently leave out, such as a symbol. */
const showsAll = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true;
  const shown = Array.isArray(value) ? value.length + 1 : Object.keys(value).length;
  return Reflect.ownKeys(value).length === shown && Object.values(value).every(showsAll);
};

/** Reads the text that a model wrote; empty and `null` mean no arguments. A promise only if the schema's is. */
export const readArguments = (
  written: string,
  schema: StandardSchema | null,
  parameters: JsonObject,
): ReadArguments | Promise<ReadArguments> => {
  let value: Json;
  try {
    value = written.trim() === "" ? {} : ((JSON.parse(written) as Json) ?? {});
  } catch (thrown) {
    return { problem: `The arguments are not valid JSON (${messageOf(thrown)}). Send one JSON object.` };
  }
  // The value may be journalled, and shown for approval, so it must be the same in the journal.
  const copy = plainCopy(value, levelsMax);
  if (copy instanceof NotPlain)
    return { problem: inWords([{ path: [], message: describeValueProblem(copy.problem, "the value") }]) };
  if (schema === null) {
    const issues = issuesOf(parameters, value);
    return issues.length === 0 ? { value, parsed: value } : { problem: inWords(issues) };
  }
  const result = schema["~standard"].validate(value);
  // Any thenable counts: a promise of another realm or library is not an instance of this `Promise`.
  return "then" in result
    ? Promise.resolve(result).then((validated) => fromResult(validated, value))
    : fromResult(result, value);
};

/** The deepest nesting of arguments: less than that of the events that may contain them. */
const levelsMax = 200;

const fromResult = (result: SchemaResult<unknown>, parsed: Json): ReadArguments =>
  result.issues === undefined ? { value: result.value, parsed } : { problem: inWords(result.issues) };

const inWords = (issues: readonly SchemaIssue[]): string =>
  `The arguments do not fit: ${issuesInWords(issues)}. Call again with arguments that do.`;
