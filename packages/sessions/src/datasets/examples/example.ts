import { type JsonObject, type Message, type ToolDeclaration, ConfigurationError } from "@colloquy/machine";

/** A prompt that a model received, and its reply: one row of training data. */
export interface Example {
  /** The name of its journal. */
  readonly thread: string;
  readonly turn: number;
  /** The number of the step in its turn, from 1. */
  readonly step: number;
  /** The prompt as sent at that step; for a turn that was added whole, all messages before the reply. */
  readonly prompt: readonly Message[];
  readonly reply: Message;
  /** The offered tools, in this order. */
  readonly tools: readonly ToolDeclaration[];
  readonly model: JsonObject;
  /** Whether its turn is on the path of the thread: it was not undone or replaced by another branch. */
  readonly kept: boolean;
  /** The score of its turn; null if there is none. */
  readonly score: number | null;
  /** Null without a counter. */
  readonly tokens: ExampleTokens | null;
}

/** The tokens of an example by a counter, without the declarations of tools. */
export interface ExampleTokens {
  /** The tokens of prompt and reply, by the formula of OpenAI's cookbook. */
  readonly total: number;
  /** The tokens of the reply's content, which are trained. */
  readonly trained: number;
}

/** A reply that is preferred to another reply to the same prompt. */
export interface Pair {
  readonly chosen: Example;
  readonly rejected: Example;
}

/**
 * Checks a function's journals, for callers in JavaScript.
 *
 * @throws ConfigurationError for a value that is not a list of journals, such as a single journal or a list of entries
 */
export const checkJournals = (of: string, given: unknown): void => {
  const wanted = `${of} takes a list of journals, [{ name, entries }]`;
  if (!Array.isArray(given)) {
    if (hasMembers(given, ["entries"]))
      throw new ConfigurationError(`${wanted}, and was given one without a list around it`);
    throw new ConfigurationError(`${wanted}, and was given ${kindOf(given)}`);
  }
  const wrong = given.findIndex(
    (journal) => !hasMembers(journal, ["name"]) || !Array.isArray(Reflect.get(journal, "entries")),
  );
  if (wrong < 0) return;
  const journal: unknown = given[wrong];
  if (hasMembers(journal, ["seq"]))
    throw new ConfigurationError(`${wanted}, and was given the entries of one; give them a name: [{ name, entries }]`);
  const is = Array.isArray(journal) ? "the entries of one, without a name" : kindOf(journal);
  throw new ConfigurationError(`${wanted}, and number ${wrong} of the list is ${is}`);
};

/**
 * Checks a function's examples or pairs, for callers in JavaScript.
 *
 * @throws ConfigurationError for a value that is not a list of them, with the member that contains them
 */
export const checkExamples = (of: string, given: unknown, wanted: "examples" | "pairs"): void => {
  const way = wanted === "examples" ? "`examples` of what linearise gives" : "`pairs` of what pairsOf gives";
  const takes = `${of} takes a list of ${wanted}: ${way}`;
  if (!Array.isArray(given)) throw new ConfigurationError(`${takes}; it was given ${kindOf(given)}`);
  const members = membersOf[wanted];
  const wrong = given.findIndex((each) => !hasMembers(each, members));
  if (wrong < 0) return;
  const other = wanted === "examples" ? "pairs" : "examples";
  const is = hasMembers(given[wrong], membersOf[other])
    ? `a list of ${other}`
    : `a list whose number ${wrong} is ${kindOf(given[wrong])}`;
  throw new ConfigurationError(`${takes}; it was given ${is}`);
};

const membersOf = { examples: ["prompt", "reply"], pairs: ["chosen", "rejected"] } as const;

const hasMembers = (given: unknown, names: readonly string[]): given is object =>
  typeof given === "object" && given !== null && names.every((name) => name in given);

const kindOf = (given: unknown): string => {
  if (given === null || given === undefined) return String(given);
  if (Array.isArray(given)) return "a list";
  if (given instanceof Promise) return "a promise; await it first";
  if (typeof given !== "object") return `of type ${typeof given}`;
  return `an object of ${Object.keys(given).join(", ") || "nothing"}`;
};
