import { checkOptions, kinds } from "@colloquy/host/store";
import { type JsonObject, canonicalText, type Json, type Message, type ToolDeclaration } from "@colloquy/machine";
import { checkExamples, type Example, type Pair } from "../examples/example.ts";
import type { LeftOut, LeftOutBecause } from "../../turns/examples.ts";
import { type ChatMessage, toChatMessages } from "@colloquy/interchange";
import { isObject } from "./read.ts";
import type { Linearised } from "../examples/linearise.ts";
import type { PromptsWithoutPairs } from "../examples/pairs.ts";

/** The rows of a data set, and everything that was left out. */
export interface Dataset {
  /** Each a JSON object; `jsonLines` makes a file of them. */
  readonly rows: readonly JsonObject[];
  /** Examples that the format does not support; for a pair, its chosen one. */
  readonly leftOut: readonly LeftOut[];
  /** Content that was written differently or not at all, with the number of messages in the rows. */
  readonly losses: readonly DatasetLoss[];
}

export interface DatasetLoss {
  readonly what: string;
  readonly why: string;
  readonly times: number;
}

/**
 * Writes examples for OpenAI's supervised fine-tuning: `{ messages, tools?, parallel_tool_calls? }`. Only the last
 * assistant message is trained; all others have `weight: 0`.
 *
 * @throws ConfigurationError for a value that is not a list of examples.
 */
export const toSft = (examples: readonly Example[]): Dataset =>
  written("toSft", "examples", examples, openai, ({ prompt, reply, tools }) => ({
    messages: [
      ...prompt.map((message) => (message["role"] === "assistant" ? { ...message, weight: 0 } : message)),
      reply,
    ],
    ...tools,
  }));

/**
 * Writes pairs for OpenAI's direct preference optimisation: `{ input: { messages, … }, preferred_output,
 * non_preferred_output }`.
 *
 * @throws ConfigurationError for a value that is not a list of pairs.
 */
export const toDpo = (pairs: readonly Pair[]): Dataset =>
  written("toDpo", "pairs", pairs, openai, ({ prompt, reply, other, tools }) => ({
    input: { messages: prompt, ...tools },
    preferred_output: [reply],
    non_preferred_output: [other],
  }));

/**
 * Writes examples for TRL as whole conversations (`messages`), or with the trained part separate (`prompt`,
 * `completion`; the default).
 *
 * @throws ConfigurationError for a value that is not a list of examples, and for an unknown or invalid option.
 */
export const toTrl = (examples: readonly Example[], options: TrlOptions = {}): Dataset => {
  checkOptions("toTrl", options, { as: kinds.oneOf("promptCompletion", "messages") });
  const { as = "promptCompletion" } = options;
  return written("toTrl", "examples", examples, trl, ({ prompt, reply, tools }) => ({
    ...(as === "messages" ? { messages: [...prompt, reply] } : { prompt, completion: [reply] }),
    ...tools,
  }));
};

export interface TrlOptions {
  readonly as?: "promptCompletion" | "messages";
}

/**
 * Writes pairs for TRL's preference training: `prompt`, `chosen`, `rejected`.
 *
 * @throws ConfigurationError for a value that is not a list of pairs.
 */
export const toTrlPreferences = (pairs: readonly Pair[]): Dataset =>
  written("toTrlPreferences", "pairs", pairs, trl, ({ prompt, reply, other, tools }) => ({
    prompt,
    chosen: [reply],
    rejected: [other],
    ...tools,
  }));

/** Writes one JSON value per line. */
export const jsonLines = (rows: readonly JsonObject[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** The differences between formats. */
interface Dialect {
  /** Arguments of calls: as the text that the model wrote, or as an object. */
  readonly arguments: "text" | "object";
  /** Whether user messages may contain images. */
  readonly images: boolean;
  /** Whether rows say if the model may call several tools at once. */
  readonly parallel: boolean;
}

const openai: Dialect = { arguments: "text", images: true, parallel: true };

/** Chat templates take texts, and most of them require arguments as objects. */
const trl: Dialect = { arguments: "object", images: false, parallel: false };

interface RowParts {
  readonly prompt: readonly JsonObject[];
  readonly reply: JsonObject;
  /** The rejected reply. */
  readonly other: JsonObject | null;
  readonly tools: JsonObject;
}

const written = (
  of: string,
  wanted: "examples" | "pairs",
  given: readonly (Example | Pair)[],
  dialect: Dialect,
  row: (parts: RowParts) => JsonObject,
): Dataset => {
  checkExamples(of, given, wanted);
  const rows: JsonObject[] = [];
  const leftOut: LeftOut[] = [];
  const losses = new Map<string, DatasetLoss>();
  for (const each of given) {
    const { chosen, rejected } = "chosen" in each ? each : { chosen: each, rejected: null };
    const noted: (readonly [what: string, why: string])[] = [];
    const parts = partsOf(chosen, rejected, dialect, (what, why) => noted.push([what, why]));
    if ("because" in parts) {
      const { thread, turn, step, score } = chosen;
      leftOut.push({ thread, turn, step, because: parts.because, score });
      continue;
    }
    rows.push(row(parts));
    for (const [what, why] of noted) {
      const key = `${what}: ${why}`;
      losses.set(key, { what, why, times: (losses.get(key)?.times ?? 0) + 1 });
    }
  }
  return { rows, leftOut, losses: [...losses.values()] };
};

const partsOf = (
  chosen: Example,
  rejected: Example | null,
  dialect: Dialect,
  lose: LoseField,
): RowParts | { readonly because: LeftOutBecause } => {
  const shown = wireMessages([...chosen.prompt, chosen.reply], dialect, lose);
  if ("because" in shown) return shown;
  const other = wireMessages(rejected === null ? [] : [rejected.reply], dialect, lose);
  if ("because" in other) return other;
  const reply = shown.messages.at(-1);
  if (reply === undefined) return { because: "empty" };
  const prompt = shown.messages.slice(0, -1);
  return { prompt, reply, other: other.messages[0] ?? null, tools: toolsOf(chosen, dialect) };
};

const toolsOf = ({ tools, model }: Example, dialect: Dialect): JsonObject => {
  const { parallel_tool_calls: parallel } = dialect.parallel ? model : {};
  if (tools.length === 0) return {};
  return { tools: tools.map(wireTool), ...(typeof parallel === "boolean" ? { parallel_tool_calls: parallel } : {}) };
};

/** Messages in the form of a data set, or the reason why that is impossible. */
type WireMessages = { readonly messages: readonly JsonObject[] } | { readonly because: LeftOutBecause };

/** Notes a part of a message that a data set cannot contain. */
type LoseField = (what: string, why: string) => void;

/**
 * Converts messages to the form of chat completions, with only the members that trainers know: role, content, name,
 * tool calls, and a result's call id. Contents are texts, unless they contain an image.
 */
const wireMessages = (messages: readonly Message[], dialect: Dialect, lose: LoseField): WireMessages => {
  const { value, losses } = toChatMessages(messages);
  // The format itself writes weights, and a row may end with calls.
  for (const { index, path, what, why } of losses)
    if (
      !(path === "metadata" && isWeight(messages[index])) &&
      !(index === messages.length - 1 && what.startsWith("no result for "))
    )
      lose(what, why);
  const wire: JsonObject[] = [];
  for (const message of value) {
    const content = contentOf(message, dialect, lose);
    const calls = callsOf(message, dialect);
    if (content === null || calls === null) return { because: "content" };
    if (content === "" && calls.length === 0 && message.role !== "tool") return { because: "empty" };
    for (const field of Object.keys(message))
      if (!known.includes(field)) lose(`the field "${field}"`, "trainers do not know it");
    if (message.role === "developer") lose('the role "developer"', "trainers know it as system");
    wire.push({
      role: message.role === "developer" ? "system" : message.role,
      content,
      ...(message.name === undefined || message.name === "" ? {} : { name: message.name }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(message.tool_call_id === undefined ? {} : { tool_call_id: message.tool_call_id }),
    });
  }
  return { messages: wire };
};

const isWeight = (message: Message | undefined): boolean => canonicalText(message?.metadata ?? {}) === '{"weight":0}';

const wireTool = ({ name, description, parameters }: ToolDeclaration): JsonObject => ({
  type: "function",
  function: {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
  },
});

const known: readonly string[] = ["role", "content", "name", "tool_calls", "tool_call_id", "refusal"];

/** Returns null if the format does not support the content. */
const contentOf = (
  message: ChatMessage,
  { images }: Dialect,
  lose: LoseField,
): string | readonly JsonObject[] | null => {
  const { content, refusal, role } = message;
  const parts =
    typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : (content ?? []);
  const texts = parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  if (refusal !== undefined) lose("a refusal", "it is written as a text");
  if (texts.length === parts.length) {
    const all = refusal === undefined ? texts : [...texts, refusal];
    if (all.length > 1) lose("where the parts of a content begin and end", "they are written as one text");
    return all.filter((text) => text !== "").join("\n");
  }
  if (!images || role !== "user" || parts.some(({ type }) => type !== "text" && type !== "image_url")) return null;
  return parts.map(({ type, text, image_url: image }): JsonObject =>
    type === "text" ? { type, text } : { type, image_url: image },
  );
};

const callsOf = ({ tool_calls: calls = [] }: ChatMessage, dialect: Dialect): readonly JsonObject[] | null => {
  const written = calls.flatMap(({ id, type, function: called }): readonly JsonObject[] => {
    if (type !== "function" || !isObject(called) || typeof called["arguments"] !== "string") return [];
    const given = dialect.arguments === "text" ? called["arguments"] : objectIn(called["arguments"]);
    return [{ ...(id === undefined ? {} : { id }), type, function: { name: called["name"], arguments: given } }];
  });
  return written.length === calls.length ? written : null;
};

/** Returns the arguments as an object; other arguments are a text in every format. */
const objectIn = (text: string): Json => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
};

export interface DatasetOrigin {
  readonly linearised: Linearised;
  readonly dataset: Dataset;
  /** Only for a data set of pairs. */
  readonly pairs?: PromptsWithoutPairs;
}

/**
 * Describes the conversion of conversations to a data set, for a person: one line for each fact, the rows first. It
 * contains names and texts of the conversations unchanged.
 */
export const datasetReport = ({ linearised, dataset, pairs }: DatasetOrigin): readonly string[] => {
  const { examples, leftOut, unreadable, tools, countedBy } = linearised;
  const counted = examples.flatMap(({ tokens }) => tokens ?? []);
  const total = counted.reduce((sum, tokens) => sum + tokens.total, 0);
  const trained = counted.reduce((sum, tokens) => sum + tokens.trained, 0);
  return [
    `${numbered(dataset.rows.length, "row")} of ${numbered(examples.length, "example")}`,
    ...(countedBy === null
      ? []
      : [`${numbered(total, "token")} in the examples, ${trained} of them trained (by ${countedBy})`]),
    ...leftOutLines([...leftOut, ...dataset.leftOut]),
    ...(pairs === undefined ? [] : pairLines(pairs)),
    ...tools.map(({ name, is, examples: count }) => `${doubts[is](name)} (${numbered(count, "example")})`),
    ...dataset.losses.map(({ what, why, times }) => `not as it was: ${what}: ${why} (${numbered(times, "time")})`),
    ...unreadable.map(({ thread, reason }) => `${thread} can't be read: ${reason}`),
  ];
};

const leftOutLines = (leftOut: readonly LeftOut[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { because } of leftOut) counts.set(because, (counts.get(because) ?? 0) + 1);
  const words = [...counts].map(([because, count]) => `${count} ${because}`);
  return words.length === 0 ? [] : [`left out: ${words.join(", ")}`];
};

const pairLines = ({ alone, ties, same, unscored }: PromptsWithoutPairs): readonly string[] =>
  alone + ties + same + unscored === 0
    ? []
    : [
        `without a pair: ${numbered(alone, "prompt")} with one reply, ${ties} with replies that are equally good; ${numbered(same, "pair")} of the same reply; ${numbered(unscored, "example")} without a score`,
      ];

const doubts = {
  missing: (name: string) => `the tool "${name}" is not declared: rows have its name alone`,
  changed: (name: string) => `the tool "${name}" is declared in other words than it was offered in: rows have these`,
} as const;

const numbered = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;
