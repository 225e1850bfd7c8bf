import type { Entry, Event, JsonObject, SeedDraft } from "@colloquy/machine";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { fromChatMessages, type Imported, type Loss } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { journalOf } from "../../turns/journal.ts";

export interface ImportDatasetOptions {
  /**
   * `sft`, `dpo`: OpenAI's formats. `trl`: `messages`, `prompt` and `completion`, or `prompt`, `chosen` and `rejected`.
   */
  readonly from: RowFormat;
  /** Returns the id of a line's thread; lines count from 1. Default `line-1` and so on. */
  readonly threadId?: (line: number) => string;
  /** The creation time of the threads, in milliseconds since the epoch. Default 0. */
  readonly at?: number;
}

export interface ImportedDataset {
  /** One journal for each line that could be read. */
  readonly threads: readonly { readonly line: number; readonly entries: readonly Entry[] }[];
  /** Lines that could not be read, with the reason. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
  /** Data that a thread cannot contain. */
  readonly losses: readonly (Loss & { readonly line: number })[];
}

/**
 * Reads threads from a data set in JSON lines. Each line becomes a journal whose turns were added whole. Preferred and
 * rejected replies become two branches of one turn, annotated with `score` 1 and 0. The threads keep everything that is
 * needed to write the same line again. Tools are the thread's metadata `tools`, `parallel_tool_calls` is its model
 * parameter, and `weight: 0` is metadata of the message. Pure; an unreadable line does not stop the others.
 *
 * @throws ConfigurationError for an unknown option or format.
 */
export const importDataset = (text: string, options: ImportDatasetOptions): ImportedDataset => {
  checkOptions("importDataset", options, optionKinds);
  const { from, threadId = (line) => `line-${line}`, at = 0 } = options;
  const threads: { readonly line: number; readonly entries: readonly Entry[] }[] = [];
  const problems: { readonly line: number; readonly reason: string }[] = [];
  const losses: (Loss & { readonly line: number })[] = [];
  for (const [index, each] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (each.trim() === "") continue;
    const line = index + 1;
    const thread = Either.chain((row: DatasetRow) => threadOf(row, { threadId: threadId(line), at }))(
      Either.chain((value: unknown) => readRow(value, from))(jsonIn(each)),
    );
    if (Either.isLeft(thread)) {
      problems.push({ line, reason: thread.left });
      continue;
    }
    threads.push({ line, entries: thread.right.entries });
    losses.push(...thread.right.losses.map((loss) => ({ ...loss, line })));
  }
  return { threads, problems, losses };
};

const optionKinds: OptionKinds<ImportDatasetOptions> = {
  from: kinds.needed(kinds.oneOf("sft", "dpo", "trl")),
  threadId: kinds.call,
  at: kinds.whole(0),
};

const jsonIn = (line: string): Either.Either<string, unknown> => {
  try {
    return Either.right(JSON.parse(line));
  } catch {
    return Either.left(`it is not JSON: ${JSON.stringify(line.slice(0, 60))}`);
  }
};

interface Begun {
  readonly threadId: string;
  readonly at: number;
}

const threadOf = (
  row: DatasetRow,
  begun: Begun,
): Either.Either<string, { readonly entries: readonly Entry[]; readonly losses: readonly Loss[] }> => {
  const [first, second] = row.conversations.map(({ messages, weights }) =>
    Either.bimap(
      ({ reason }: { readonly reason: string }) => reason,
      (imported: Imported) => ({ ...imported, turns: withWeights(imported.turns, weights) }),
    )(fromChatMessages(messages)),
  );
  if (first === undefined || Either.isLeft(first)) return first ?? Either.left("it has no messages");
  if (second !== undefined && Either.isLeft(second)) return second;
  const { system, turns, losses } = first.right;
  const other = second?.right.turns.at(-1);
  const { at } = begun;
  const before = turns.length - 1;
  const events: readonly Event[] = [
    ...turns.map((messages): Event => ({ type: "turn.added", at, messages })),
    ...(other === undefined
      ? []
      : ([
          { type: "turn.annotated", at, turn: before + 1, name: "score", value: 1 },
          { type: "head.moved", at, to: before },
          { type: "turn.added", at, messages: other },
          { type: "turn.annotated", at, turn: before + 2, name: "score", value: 0 },
          { type: "head.moved", at, to: before + 1 },
        ] satisfies readonly Event[])),
  ];
  const metadata: JsonObject = row.tools.length === 0 ? {} : { tools: row.tools };
  return Either.map((entries: readonly Entry[]) => ({ entries, losses: [...row.losses, ...losses] }))(
    journalOf({ ...begun, ...(system === null ? {} : { system }), metadata, model: row.model }, events),
  );
};

/** Adds the weights to messages; the readers of messages keep their order, but drop unknown members. */
const withWeights = (
  turns: readonly (readonly SeedDraft[])[],
  weights: readonly boolean[],
): readonly (readonly SeedDraft[])[] => {
  let reply = 0;
  return turns.map((drafts) =>
    drafts.map((draft) => {
      if (draft.role !== "assistant") return draft;
      return weights[reply++] === false ? { ...draft, metadata: { weight: 0 } } : draft;
    }),
  );
};

/** The families of data set formats for reading. */
export type RowFormat = "sft" | "dpo" | "trl";

interface DatasetRow {
  /** One conversation, or two that differ in their last message, the preferred one first. */
  readonly conversations: readonly RowConversation[];
  /** Declarations of tools in the form of a thread. */
  readonly tools: readonly JsonObject[];
  readonly model: JsonObject;
  readonly losses: readonly Loss[];
}

interface RowConversation {
  /** In the form of chat completions. */
  readonly messages: readonly JsonObject[];
  /** Whether each reply is trained, in order. */
  readonly weights: readonly boolean[];
}

/** Parses a line by its format. Left is a description of the problem. */
const readRow = (value: unknown, format: RowFormat): Either.Either<string, DatasetRow> => {
  if (!isObject(value)) return Either.left(`it is not a JSON object: ${excerpt(value)}`);
  if (format === "dpo") return dpoRow(value);
  return format === "sft" || "messages" in value ? wholeRow(value) : trlRow(value);
};

/** The members of a row beside its messages. */
interface RowRest {
  readonly tools: unknown;
  readonly parallel: unknown;
  readonly rest: JsonObject;
}

/** A member of a row before its check, with its name. */
type Member = readonly [name: string, value: unknown];

const wholeRow = ({ messages: given, tools, parallel_tool_calls: parallel, ...rest }: JsonObject) =>
  Either.chain((messages: readonly JsonObject[]) => {
    const badWeights = messages.flatMap(({ role, weight }, index) =>
      weight === undefined || (role === "assistant" && (weight === 0 || weight === 1))
        ? []
        : [lossAt(`messages.${index}.weight`, "the weight", "a reply is trained (1) or not (0)")],
    );
    return rowOf([conversationOf(messages)], { tools, parallel, rest }, badWeights);
  })(messagesIn(["messages", given]));

const dpoRow = (row: JsonObject): Either.Either<string, DatasetRow> => {
  const { input, preferred_output: preferred, non_preferred_output: other, ...rest } = row;
  if (!isObject(input)) return Either.left(`input is not an object with messages: ${excerpt(input)}`);
  const { messages, tools, parallel_tool_calls: parallel, ...restOfInput } = input;
  return pairRow(
    ["input.messages", messages],
    [
      ["preferred_output", preferred],
      ["non_preferred_output", other],
    ],
    { tools, parallel, rest: { ...rest, ...restOfInput } },
  );
};

const trlRow = (row: JsonObject): Either.Either<string, DatasetRow> => {
  const { prompt, completion, chosen, rejected, tools, ...rest } = row;
  const others = { tools, parallel: undefined, rest };
  if (completion === undefined)
    return pairRow(
      ["prompt", prompt],
      [
        ["chosen", chosen],
        ["rejected", rejected],
      ],
      others,
    );
  const shared = messagesIn(["prompt", prompt]);
  const trained = messagesIn(["completion", completion]);
  if (Either.isLeft(shared)) return shared;
  if (Either.isLeft(trained)) return trained;
  return rowOf([conversationOf([...shared.right.map(untrained), ...trained.right])], others);
};

const pairRow = (prompt: Member, replies: readonly Member[], others: RowRest): Either.Either<string, DatasetRow> => {
  const shared = messagesIn(prompt);
  if (Either.isLeft(shared)) return shared;
  const conversations: RowConversation[] = [];
  for (const [name, value] of replies) {
    const [reply, ...more] = isMessages(value) ? value : [];
    if (reply?.["role"] !== "assistant" || more.length > 0)
      return Either.left(`${name} is not one message of an assistant: ${excerpt(value)}`);
    conversations.push(conversationOf([...shared.right.map(untrained), reply]));
  }
  return rowOf(conversations, others);
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

const messagesIn = ([name, value]: Member): Either.Either<string, readonly JsonObject[]> => {
  if (isMessages(value)) return Either.right(value);
  const is =
    typeof value === "string" ? "a text; give a list of messages" : `not a list of messages: ${excerpt(value)}`;
  return Either.left(`${name} is ${is}`);
};

const isMessages = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

/** Returns whether a value is a JSON object, judging by its first level. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const excerpt = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 120);
