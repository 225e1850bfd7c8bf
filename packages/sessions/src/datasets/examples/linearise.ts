import {
  digestOf,
  type Entry,
  type JsonObject,
  saysCut,
  type State,
  type ToolDeclaration,
  turnNumbered,
  turnsOf,
  type Message,
  toArray,
} from "@colloquy/machine";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { type Counter, countPrompt } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";
import { checkJournals, type Example, type ExampleTokens } from "./example.ts";
import { type LeftOut, type LeftOutBecause, reasonOfScore } from "../../turns/examples.ts";
import { annotatedScore, annotationName } from "../../turns/turns.ts";
import { type RecordedCall, recordedCalls } from "./recorded-calls.ts";
import { redactedText } from "@colloquy/machine/storage";

export interface LineariseOptions {
  /** `turn`: the answer of each turn. `step`: each reply, including those that call tools. Default `turn`. */
  readonly per?: "turn" | "step";
  /** The declarations of the offered tools; journals contain only their names and digests. Default: none. */
  readonly tools?: readonly ToolDeclaration[];
  /**
   * `kept`: turns on the path of their thread. `all`: also those of other branches, which pairs need. Default `kept`.
   */
  readonly turns?: "kept" | "all";
  /**
   * The name of the annotation with a turn's score: a number, or true for 1 and false for 0; the newest counts. Default
   * `score`.
   */
  readonly score?: string;
  /** The lowest score; turns with a lower one, or none, are left out. Default: none are left out. */
  readonly minScore?: number;
  /** Counts the tokens of each example. */
  readonly counter?: Counter;
}

/** The examples of some journals, and everything that was left out. */
export interface Linearised {
  /** In the order of journals and entries. */
  readonly examples: readonly Example[];
  readonly leftOut: readonly LeftOut[];
  /** Journals that cannot be folded, with the reason. */
  readonly unreadable: readonly { readonly thread: string; readonly reason: string }[];
  /** Tools whose declaration differs from the offered one, with the number of their examples. */
  readonly tools: readonly DoubtfulTool[];
  /** The counter of the tokens: `name@version`; null for no counter. */
  readonly countedBy: string | null;
}

/**
 * `missing`: it is not declared, so examples contain only its name. `changed`: its declaration differs from the offered
 * one.
 */
export interface DoubtfulTool {
  readonly name: string;
  readonly is: "missing" | "changed";
  readonly examples: number;
}

/**
 * Converts recorded model calls to training examples. Each prompt is as it was sent at that step, with the cuts and
 * summaries of that time, whatever happened to the thread since. Calls that are unsuitable for training are left out,
 * and listed with the reason. Pure; it never throws for decoded entries.
 *
 * Turns that were added whole count too, each reply with all messages before it. If a fork and its original are both
 * given, their common part is used once.
 *
 * @throws ConfigurationError for a value that is not a list of journals, and for an unknown or invalid option.
 */
export const linearise = (journals: readonly NamedJournal[], options: LineariseOptions = {}): Linearised => {
  checkOptions("linearise", options, optionKinds);
  const { minScore, tools = [], counter } = options;
  checkJournals("linearise", journals);
  const examples: Example[] = [];
  const leftOut: LeftOut[] = [];
  const unreadable: { readonly thread: string; readonly reason: string }[] = [];
  const doubts = new Map<string, DoubtfulTool>();
  const candidates: Candidate[] = [];
  for (const { name: thread, entries } of journals) {
    const read = recordedCalls(entries);
    if (Either.isLeft(read)) {
      unreadable.push({ thread, reason: `entry ${read.left.seq}: ${read.left.reason}` });
      continue;
    }
    const { end } = read.right;
    const kept = new Set(turnsOf(end).map(({ number }) => number));
    const forks = forksIn(entries);
    const own = idOf(entries);
    for (const call of callsFor(read.right.calls, options)) {
      const annotations = turnNumbered(end, call.turn)?.annotations ?? [];
      const score = annotatedScore(annotations, options.score ?? annotationName);
      const isKept = kept.has(call.turn);
      const isUndone = !isKept && options.turns !== "all";
      const because = reasonAgainst(call, end) ?? (isUndone ? "undone" : reasonOfScore(score, minScore));
      candidates.push({
        thread,
        call,
        metadata: end.context.metadata,
        ...originOf(call, forks, own),
        isKept,
        score,
        because,
      });
    }
  }
  // Content that was redacted in the original must not come back from a fork.
  const counts = ({ because, isCopy }: Candidate): boolean => !isCopy && (because === null || because === "redacted");
  const said = new Set(candidates.filter(counts).map(({ origin }) => origin));
  for (const candidate of candidates) {
    const { thread, call, metadata, origin, isCopy, isKept, score } = candidate;
    const { turn, step, prompt, reply, model } = call;
    const because = candidate.because ?? (isCopy && said.has(origin) ? "copied" : null);
    if (because !== null) {
      leftOut.push({ thread, turn, step, because, score });
      continue;
    }
    said.add(origin);
    const offered = offeredTools(call, tools, importedTools(metadata), doubts);
    const tokens = counter === undefined ? null : tokensOfExample(counter, prompt, reply);
    examples.push({ thread, turn, step, prompt, reply, tools: offered, model, kept: isKept, score, tokens });
  }
  const countedBy = counter === undefined ? null : `${counter.name}@${counter.version}`;
  return { examples, leftOut, unreadable, tools: [...doubts.values()], countedBy };
};

const optionKinds: OptionKinds<LineariseOptions> = {
  per: kinds.oneOf("turn", "step"),
  tools: kinds.listOf("declarations of tools", (each) => kinds.text.fits(Reflect.get(Object(each), "name"))),
  turns: kinds.oneOf("kept", "all"),
  score: kinds.text,
  minScore: kinds.number,
  counter: kinds.having("a counter, such as estimateCounter", "countPart"),
};

const idOf = (entries: readonly Entry[]): string | null => {
  const event = entries[0]?.event;
  return event?.type === "thread.started" ? event.threadId : null;
};

/** A call, and the reason why it is not an example. */
interface Candidate {
  readonly thread: string;
  readonly call: RecordedCall;
  readonly metadata: JsonObject;
  /** The thread in which it was made (its own, or the original of a fork), its turn and its step. */
  readonly origin: string;
  readonly isCopy: boolean;
  readonly isKept: boolean;
  readonly score: number | null;
  readonly because: LeftOutBecause | null;
}

/** Returns the origin of a call; if a thread was forked repeatedly, the first fork after the call decides. */
const originOf = (
  { seq, turn, step }: RecordedCall,
  forks: readonly { readonly seq: number; readonly from: string }[],
  own: string | null,
): Pick<Candidate, "origin" | "isCopy"> => {
  const fork = forks.find((each) => each.seq > seq);
  return { origin: JSON.stringify([fork?.from ?? own, turn, step]), isCopy: fork !== undefined };
};

const forksIn = (entries: readonly Entry[]): Parameters<typeof originOf>[1] =>
  entries.flatMap(({ seq, event }) => (event.type === "thread.forked" ? [{ seq, from: event.from.threadId }] : []));

const callsFor = (calls: readonly RecordedCall[], { per = "turn" }: LineariseOptions): readonly RecordedCall[] =>
  per === "step" ? calls : [...new Map(calls.map((call) => [call.turn, call])).values()];

/** Returns the tools of a thread that was imported from a data set; see `importDataset`. */
const importedTools = (metadata: JsonObject): readonly ToolDeclaration[] => {
  const { tools } = metadata;
  return Array.isArray(tools) ? tools.filter(isDeclaration) : [];
};

const isDeclaration = (value: unknown): value is ToolDeclaration =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";

const offeredTools = (
  { offered }: RecordedCall,
  tools: readonly ToolDeclaration[],
  imported: readonly ToolDeclaration[],
  doubts: Map<string, DoubtfulTool>,
): readonly ToolDeclaration[] => {
  if (offered === null) return imported.length > 0 ? imported : tools;
  return offered.map(({ name, digest }) => {
    const tool = tools.find((each) => each.name === name);
    const is = tool === undefined ? "missing" : digestOfTool(tool) === digest ? null : "changed";
    if (is !== null) doubts.set(name, { name, is, examples: (doubts.get(name)?.examples ?? 0) + 1 });
    return tool ?? { name };
  });
};

/** Computes the digest of an offered tool as the machine does. */
const digestOfTool = ({ name, description, parameters }: ToolDeclaration): string =>
  digestOf({ name, description: description ?? null, parameters: parameters ?? null });

/**
 * Counts the tokens of an example by the formula of OpenAI's cookbook: those of the prompt with the reply. A message
 * with a name costs the tokens of the name and one more. With `gptCounter` the cookbook's own example has 124 tokens,
 * as the API reports.
 */
const tokensOfExample = (counter: Counter, prompt: readonly Message[], reply: Message): ExampleTokens => {
  const messages = [...prompt, reply];
  const names = messages.reduce(
    (sum, { name }) => sum + (name === undefined ? 0 : 1 + counter.countPart({ type: "text", text: name })),
    0,
  );
  return {
    total: countPrompt(counter, messages) + names,
    trained: reply.parts.reduce((sum, part) => sum + counter.countPart(part), 0),
  };
};

/** Returns why a call is not an example, given the thread's end; null if it is one. */
const reasonAgainst = (call: RecordedCall, end: State): LeftOutBecause | null => {
  const turn = turnNumbered(end, call.turn);
  if (turn === undefined) return "open";
  if (turn.outcome.status !== "completed") return turn.outcome.status;
  const reply = toArray(turn.messages).find(({ id }) => id === call.reply.id);
  // A closed turn does not contain refused outputs.
  if (reply === undefined) return "refused";
  if (reply.incomplete === true) return "interrupted";
  if (reply.truncated !== undefined || saysCut(call.finishReason)) return "truncated";
  if (call.isRedacted || [...call.prompt, call.reply].some(isRedacted)) return "redacted";
  if (!call.isAsSent) return "unrecorded";
  if (call.isRecovered) return "recovered";
  // The machine also makes the summary of other turns, but the model was shown that on purpose.
  if ([...call.prompt, call.reply].some(({ id, synthesised }) => synthesised === true && isOf(call.turn, id)))
    return "synthesised";
  if (call.reply.metadata?.["weight"] === 0) return "untrained";
  if (call.prompt.at(-1)?.role === "assistant") return "continues";
  return call.prompt.length === 0 || call.reply.parts.length === 0 ? "empty" : null;
};

const isOf = (turn: number, messageId: string): boolean => messageId.startsWith(`${turn}.`);

/**
 * Returns whether a message is redacted. One that quotes the replacement text counts too: that costs an example, but
 * reveals nothing.
 */
const isRedacted = ({ parts }: Message): boolean => JSON.stringify(parts).includes(redactedText);
