import type { Json, JsonObject } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import { messageOf } from "../boundary/thrown.ts";
import { issuesOf } from "./json-schema.ts";
import { issuesInWords, type SchemaIssue, type SchemaResult, type StandardSchema } from "./schema.ts";

/** Arguments as a tool gets them, or in words, for the model, what it should mend. */
export type ReadArguments = ValidArguments | { readonly problem: string };

export interface ValidArguments {
  /** What the schema made of them. */
  readonly value: unknown;
  /** What the model wrote: plain JSON that a journal keeps as it is. */
  readonly parsed: Json;
}

/** What is approved, and compared: arguments as validated where they are plain JSON and nothing else, else as they were written. */
export const approvableArguments = ({ value, parsed }: ValidArguments): Json => {
  const copy = plainCopy(value, levelsMax);
  // A plain copy is JSON.
  return copy instanceof NotPlain || !showsAll(value) ? parsed : (copy as Json);
};

/** Whether plain data has no member that JSON would leave out in silence: symbols, what is not enumerable, and members of lists. */
const showsAll = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true;
  const shown = Array.isArray(value) ? value.length + 1 : Object.keys(value).length;
  return Reflect.ownKeys(value).length === shown && Object.values(value).every(showsAll);
};

/** Reads the string that a model wrote. Empty and `null` stand for no arguments. A promise only where the schema gives one. */
export const readArguments = (
  written: string,
  schema: StandardSchema | null,
  parameters: JsonObject,
): ReadArguments | Promise<ReadArguments> => {
  let value: Json;
  try {
    // What JSON.parse returns is JSON.
    value = written.trim() === "" ? {} : ((JSON.parse(written) as Json) ?? {});
  } catch (thrown) {
    return { problem: `The arguments are not valid JSON (${messageOf(thrown)}). Send one JSON object.` };
  }
  // It may be journalled, and shown for approval: then it has to be there what it is here.
  const copy = plainCopy(value, levelsMax);
  if (copy instanceof NotPlain)
    return { problem: inWords([{ path: [], message: describeValueProblem(copy.problem, "the value") }]) };
  if (schema === null) {
    const issues = issuesOf(parameters, value);
    return issues.length === 0 ? { value, parsed: value } : { problem: inWords(issues) };
  }
  const result = schema["~standard"].validate(value);
  // Any thenable is a promise: one of another realm, or of a library, is none of ours.
  return "then" in result
    ? Promise.resolve(result).then((validated) => fromResult(validated, value))
    : fromResult(result, value);
};

/** How deep arguments may be nested: safely less than the event, and the request for approval, that they may stand in. */
const levelsMax = 200;

const fromResult = (result: SchemaResult<unknown>, parsed: Json): ReadArguments =>
  result.issues === undefined ? { value: result.value, parsed } : { problem: inWords(result.issues) };

const inWords = (issues: readonly SchemaIssue[]): string =>
  `The arguments do not fit: ${issuesInWords(issues)}. Call again with arguments that do.`;
