import type { JsonObject } from "@colloquy/machine";
import type { Loss } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";

/** The families of data set formats for reading. */
export type RowFormat = "sft" | "dpo" | "trl";

/** A line of a data set in any format. */
export interface DatasetRow {
  /** One conversation, or two that differ in their last message, the preferred one first. */
  readonly conversations: readonly RowConversation[];
  /** Declarations of tools in the form of a thread. */
  readonly tools: readonly JsonObject[];
  /** Parameters of the call. */
  readonly model: JsonObject;
  readonly losses: readonly Loss[];
}

export interface RowConversation {
  /** In the form of chat completions. */
  readonly messages: readonly JsonObject[];
  /** Whether each reply is trained, in order. */
  readonly weights: readonly boolean[];
}

/** Parses a line by its format. Left is a description of the problem. */
export const readRow = (value: unknown, format: RowFormat): Either.Either<string, DatasetRow> => {
  if (!isObject(value)) return Either.left(`it is not a JSON object: ${excerpt(value)}`);
  switch (format) {
    case "sft":
      return wholeRow(value);
    case "dpo":
      return dpoRow(value);
    case "trl":
      return "messages" in value ? wholeRow(value) : trlRow(value);
  }
};

/** The members of a row beside its messages. */
interface RowRest {
  readonly tools: unknown;
  readonly parallel: unknown;
  readonly rest: JsonObject;
}

/** The members of a pair before their check. */
interface Branches {
  readonly messages: unknown;
  readonly preferred: unknown;
  readonly other: unknown;
}

const wholeRow = (row: JsonObject): Either.Either<string, DatasetRow> => {
  const { messages, tools, parallel_tool_calls: parallel, ...rest } = row;
  if (!isMessages(messages)) return notMessages("messages", messages);
  const badWeights = messages.flatMap(({ role, weight }, index) =>
    weight === undefined || (role === "assistant" && (weight === 0 || weight === 1))
      ? []
      : [lossAt(`messages.${index}.weight`, "the weight", "a reply is trained (1) or not (0)")],
  );
  return rowOf([conversationOf(messages)], { tools, parallel, rest }, badWeights);
};

const dpoRow = (row: JsonObject): Either.Either<string, DatasetRow> => {
  const { input, preferred_output: preferred, non_preferred_output: other, ...rest } = row;
  if (!isObject(input)) return Either.left(`input is not an object with messages: ${excerpt(input)}`);
  const { messages, tools, parallel_tool_calls: parallel, ...restOfInput } = input;
  return pairRow({ messages, preferred, other }, ["input.messages", "preferred_output", "non_preferred_output"], {
    tools,
    parallel,
    rest: { ...rest, ...restOfInput },
  });
};

const trlRow = (row: JsonObject): Either.Either<string, DatasetRow> => {
  const { prompt, completion, chosen, rejected, tools, ...rest } = row;
  const others = { tools, parallel: undefined, rest };
  if (completion === undefined)
    return pairRow({ messages: prompt, preferred: chosen, other: rejected }, ["prompt", "chosen", "rejected"], others);
  if (!isMessages(prompt)) return notMessages("prompt", prompt);
  if (!isMessages(completion)) return notMessages("completion", completion);
  return rowOf([conversationOf([...prompt.map(untrained), ...completion])], others);
};

const pairRow = (
  { messages, preferred, other }: Branches,
  [ofMessages, ofPreferred, ofOther]: readonly [string, string, string],
  others: RowRest,
): Either.Either<string, DatasetRow> => {
  if (!isMessages(messages)) return notMessages(ofMessages, messages);
  for (const [name, output] of [
    [ofPreferred, preferred],
    [ofOther, other],
  ] as const)
    if (!isMessages(output) || output.length !== 1 || output[0]?.["role"] !== "assistant")
      return Either.left(`${name} is not one message of an assistant: ${excerpt(output)}`);
  const shared = messages.map(untrained);
  return rowOf(
    [preferred, other].map((output) => conversationOf([...shared, ...(isMessages(output) ? output : [])])),
    others,
  );
};

const rowOf = (
  conversations: readonly RowConversation[],
  { tools, parallel, rest }: RowRest,
  badWeights: readonly Loss[] = [],
): Either.Either<string, DatasetRow> => {
  const listed: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const declared = listed.flatMap(declarationOf);
  if (tools !== undefined && tools !== null && (!Array.isArray(tools) || declared.length !== listed.length))
    return Either.left(`tools is not a list of function tools: ${excerpt(tools)}`);
  const model = typeof parallel === "boolean" ? { parallel_tool_calls: parallel } : {};
  const losses = [
    ...badWeights,
    ...Object.keys(rest).map(fieldLost),
    ...(parallel === undefined || typeof parallel === "boolean" ? [] : [fieldLost("parallel_tool_calls")]),
    ...declared.flatMap((declaration, index) => lossesOfTool(listed[index], declaration, `tools.${index}`)),
  ];
  return Either.right({ conversations, tools: declared, model, losses });
};

/** Returns a loss for each member of a tool that its declaration lacks, such as `strict`. */
const lossesOfTool = (tool: unknown, declaration: JsonObject, at: string): readonly Loss[] => {
  const { type: _, function: called, ...rest } = isObject(tool) ? tool : {};
  const lost = Object.keys(isObject(called) ? called : {}).filter((field) => !Object.hasOwn(declaration, field));
  return [...Object.keys(rest), ...lost.map((field) => `function.${field}`)].map((field) =>
    fieldLost(`${at}.${field}`),
  );
};

const fieldLost = (path: string): Loss => lossAt(path, `the field "${path}"`, "a thread has no place for it");

const lossAt = (path: string, what: string, why: string): Loss => ({ index: 0, path, what, why });

const declarationOf = (tool: unknown): readonly JsonObject[] => {
  const called = isObject(tool) && tool["type"] === "function" ? tool["function"] : undefined;
  if (!isObject(called) || typeof called["name"] !== "string") return [];
  const { name, description, parameters } = called;
  return [
    {
      name,
      ...(typeof description === "string" ? { description } : {}),
      ...(isObject(parameters) ? { parameters } : {}),
    },
  ];
};

const conversationOf = (messages: readonly JsonObject[]): RowConversation => ({
  messages: [...messages.map(({ weight: _, ...message }) => message), ...resultsAfter(messages.at(-1))],
  weights: messages.flatMap(({ role, weight }) => (role === "assistant" ? [weight !== 0] : [])),
});

/** Returns placeholder results for the calls at the end of a row, because a thread has no call without a result. */
const resultsAfter = (last: JsonObject | undefined): readonly JsonObject[] => {
  const calls = last?.["role"] === "assistant" ? last["tool_calls"] : undefined;
  return Array.isArray(calls)
    ? calls.map((call: unknown) => ({
        role: "tool",
        content: "No result: the data set ends with the call.",
        ...(isObject(call) && call["id"] !== undefined ? { tool_call_id: call["id"] } : {}),
      }))
    : [];
};

const untrained = (message: JsonObject): JsonObject =>
  message["role"] === "assistant" ? { ...message, weight: 0 } : message;

const notMessages = (name: string, value: unknown): Either.Either<string, never> =>
  Either.left(
    typeof value === "string"
      ? `${name} is a text; give a list of messages`
      : `${name} is not a list of messages: ${excerpt(value)}`,
  );

const isMessages = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** Returns whether a value is a JSON object, judging by its first level. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const excerpt = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 120);
