import {
  type AskHandle,
  createHost,
  type Host,
  type HostedThread,
  type LlmHandler,
  memoryStore,
  type StandardSchema,
  type Tool,
  tool,
  TurnError,
  withJsonSchema,
} from "@colloquy/host";
import { problemOfSchema } from "@colloquy/host/store";
import {
  conversationMachine,
  type ConversationMachine,
  type JsonObject,
  type MachineOptions,
  type State,
  type Turn,
  turnNumbered,
  turnsOf,
  canonicalText,
  type ContentPart,
  textOf,
  toArray,
  toolCallsOf,
  toolResultOf,
  type Entry,
  type Message,
  type MessageDraft,
  type Part,
  type SystemDraft,
} from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { fold, forkOf, foldVisiting } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { type RerunOptions, type RerunSide, sideOf } from "./report.ts";
import { redactedText } from "@colloquy/machine/storage";

/** A recorded turn, and its new run. */
export interface RunTurn {
  readonly recorded: RecordedTurn;
  readonly after: RerunSide;
}

/**
 * Asks the questions of one recorded conversation again. Turns before a problem are kept.
 *
 * @param ran is called with each turn when it has ended.
 * @throws Error for a journal that cannot be folded, and for any other problem that stops the conversation.
 */
export const runConversation = async (
  { entries }: NamedJournal,
  options: RerunOptions,
  ran: (turn: RunTurn) => void,
): Promise<void> => {
  const end = fold(entries);
  if (Either.isLeft(end)) throw new Error(`entry ${end.left.seq}: ${end.left.reason}`);
  const results = new RecordedResults(turnsOf(end.right));
  const running = new Running(options.llm, options.machine ?? {}, results);
  const { clock, history = "recorded", signal } = options;
  let drawn = 0;
  const ids = { draw: (kind: string) => `${kind}-${++drawn}` };
  const host = createHost({
    machine: running.machine,
    store: memoryStore({ clock }),
    llm: running.llm,
    clock,
    ids,
    tools: running.tools,
    recovery: false,
  });
  const copyUpTo = async (turn: number): Promise<HostedThread> => importedCopy(host, end.right.context, entries, turn);
  try {
    const own = history === "own" ? await copyUpTo(0) : null;
    for (const recorded of recordedTurns(entries, end.right)) {
      signal?.throwIfAborted();
      const thread = own ?? (await copyUpTo(recorded.turn.parent));
      await thread.changeSystem(options.system === undefined ? recorded.system : options.system);
      results.beginTurn(recorded.turn.number);
      ran({ recorded, after: sideOf(await running.ask(thread, recorded, options)) });
    }
  } finally {
    await host.close();
  }
};

const importedCopy = async (
  host: Host,
  { threadId, createdAt }: State["context"],
  entries: NamedJournal["entries"],
  turn: number,
): Promise<HostedThread> => {
  const copied = forkOf(entries, { threadId: `${threadId} up to turn ${turn}`, turn, at: createdAt });
  if (Either.isLeft(copied)) throw new Error(copied.left);
  return host.importJournal(copied.right.entries);
};

/** The machine, the tools and the model of a conversation that is asked again, and its open turn. */
class Running {
  readonly machine: ConversationMachine;
  readonly tools: readonly Tool[];
  readonly llm: LlmHandler;
  #handle: AskHandle | null = null;
  /** The call for which the recording has no result. */
  #unknown: string | null = null;

  constructor(llm: LlmHandler, options: MachineOptions, results: RecordedResults) {
    // Nothing runs, so nothing needs approval, a timeout or a queue.
    this.tools = (options.tools ?? []).map(({ name, description = "", parameters = { type: "object" } }) =>
      tool({
        name,
        description,
        input: inputOf(parameters),
        run: (input) => {
          const given = JSON.stringify(input);
          const result = results.take(name, given);
          if (result === null) throw new Error(this.#endAt(name, given));
          if (result.outcome === "failed") throw new Error(result.text);
          return result.content;
        },
      }),
    );
    this.machine = conversationMachine({ ...options, tools: this.tools.map(({ declaration }) => declaration) });
    const handler: LlmHandler = async (call, context) => {
      // The machine answers a call of an unknown tool itself, and the turn would continue. This model call is not made,
      // and counts as one without reported usage.
      if (this.#unknown !== null) {
        this.#handle?.abort(this.#unknown);
        return { type: "failed", failure: { kind: "unknown", message: this.#unknown, retryable: false } };
      }
      const outcome = await llm(call, context);
      const calls = outcome.type === "completed" ? (outcome.reply.toolCalls ?? []) : [];
      const stray = calls.find(({ name }) => !this.tools.some(({ declaration }) => declaration.name === name));
      if (stray !== undefined)
        this.#unknown ??= `the machine's options do not declare the tool of ${stray.name}(${stray.arguments})`;
      return outcome;
    };
    this.llm = Object.assign(handler, { secrets: () => llm.secrets?.() ?? [] });
  }

  /** Asks, and returns the turn after its end, whatever its outcome. */
  async ask(thread: HostedThread, { asked }: RecordedTurn, { model, signal }: RerunOptions): Promise<Turn> {
    this.#unknown = null;
    this.#handle = thread.ask(asked, {
      ...(model === undefined ? {} : { model }),
      ...(signal === undefined ? {} : { signal }),
    });
    const number = await numberOf(this.#handle);
    const state = await thread.state();
    const turn = state === null ? undefined : turnNumbered(state, number);
    if (turn === undefined) throw new Error(`turn ${number} is not in the thread`);
    return this.#unknown === null ? turn : { ...turn, outcome: { status: "cancelled", reason: this.#unknown } };
  }

  #endAt(name: string, given: string): string {
    this.#unknown ??= `the recording has no result of ${name}(${given})`;
    this.#handle?.abort(this.#unknown);
    return this.#unknown;
  }
}

const numberOf = async (handle: AskHandle): Promise<number> => {
  try {
    return (await handle).turn;
  } catch (thrown) {
    if (thrown instanceof TurnError && thrown.summary.turn !== null) return thrown.summary.turn;
    throw thrown;
  }
};

/**
 * Returns the input schema of a declared tool. Its own schema may have rules that a check in bounded steps cannot
 * follow; then arguments are not checked.
 */
const inputOf = (parameters: JsonObject): StandardSchema | { readonly jsonSchema: JsonObject } =>
  problemOfSchema(parameters) === null ? { jsonSchema: parameters } : withJsonSchema(unchecked, parameters);

const unchecked: StandardSchema = {
  "~standard": { version: 1, vendor: "colloquy", validate: (value) => ({ value }) },
};

/** A tool's answer in a recording. */
interface RecordedResult {
  readonly outcome: "completed" | "failed";
  readonly content: readonly ContentPart[];
  readonly text: string;
}

/**
 * The results of a recorded conversation, by their calls. Calls match if they have the same tool and the same
 * arguments, ignoring order and spacing.
 */
class RecordedResults {
  readonly #results: readonly KeyedResult[];
  #turn = 0;
  readonly #taken = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    this.#results = turns.flatMap(resultsOf);
  }

  /** Makes the results of this turn come first from now on. */
  beginTurn(turn: number): void {
    this.#turn = turn;
    this.#taken.clear();
  }

  /**
   * Returns the result of a matching call. Within this turn, each result is used once, in order, and the last one is
   * repeated for further calls. Otherwise it is the newest result of earlier turns. Null if the recording has no result
   * from a tool.
   */
  take(name: string, given: string): RecordedResult | null {
    const key = keyOf(name, given);
    const same = this.#results.filter((each) => each.key === key);
    const here = same.filter(({ turn }) => turn === this.#turn);
    const taken = this.#taken.get(key) ?? 0;
    this.#taken.set(key, taken + 1);
    return here[taken] ?? same.findLast(({ turn }) => turn <= this.#turn) ?? null;
  }
}

interface KeyedResult extends RecordedResult {
  readonly key: string;
  readonly turn: number;
}

const resultsOf = ({ number, messages }: Turn): readonly KeyedResult[] => {
  const said = toArray(messages);
  const calls = new Map(said.flatMap(toolCallsOf).map((call) => [call.callId, call]));
  return said.flatMap((message) => {
    const result = toolResultOf(message);
    const call = result === undefined ? undefined : calls.get(result.callId);
    if (result === undefined || call === undefined) return [];
    const { outcome, content } = result;
    // A result that the machine synthesised has another outcome.
    if (outcome !== "completed" && outcome !== "failed") return [];
    return [{ key: keyOf(call.name, call.arguments), turn: number, outcome, content, text: textOf(message) }];
  });
};

const keyOf = (name: string, given: string): string => `${name} ${canonicalArguments(given)}`;

const canonicalArguments = (given: string): string => {
  try {
    return canonicalText(JSON.parse(given));
  } catch {
    return given;
  }
};

/** A recorded turn with a question. */
interface RecordedTurn {
  readonly turn: Turn;
  /**
   * The messages that were asked: all before the first reply. Messages that joined the turn later are not asked again.
   */
  readonly asked: readonly MessageDraft[];
  readonly question: string;
  /** The system prompt at the start of the turn; null for none. */
  readonly system: SystemDraft | null;
}

/** Returns the turns on the path of a journal that can be asked again, in order; `end` is its final state. */
const recordedTurns = (entries: readonly Entry[], end: State): readonly RecordedTurn[] => {
  const systems = systemsOf(entries);
  return turnsOf(end).flatMap((turn) => {
    const messages = toArray(turn.messages);
    const replied = messages.findIndex(({ role }) => role === "assistant");
    const lead = messages.slice(0, replied === -1 ? messages.length : replied);
    // A turn without an ask that begins with an assistant message contains no question.
    if (!lead.some(({ role }) => role === "user") && turn.asks.length === 0) return [];
    // Redacted content cannot be asked again.
    if (JSON.stringify(lead).includes(redactedText)) return [];
    const question = lead.filter(({ role }) => role === "user").map((message) => textOf(message));
    const system = systemDraft(systems.get(turn.number) ?? null);
    return [{ turn, asked: lead.flatMap(draftOf), question: question.join("\n"), system }];
  });
};

/** Returns the system message at the start of each turn, by number. */
const systemsOf = (entries: readonly Entry[]): ReadonlyMap<number, Message | null> => {
  const systems = new Map<number, Message | null>();
  const newestIn = ({ context: { open, conversation } }: State): number => open?.number ?? conversation.turns.length;
  foldVisiting(entries, (_, before, after) => {
    const newest = newestIn(after);
    if (newest > newestIn(before)) systems.set(newest, before.context.conversation.system);
  });
  return systems;
};

const systemDraft = (system: Message | null): SystemDraft | null =>
  system === null ? null : { role: system.role === "developer" ? "developer" : "system", ...contentOf(system) };

const draftOf = (message: Message): readonly MessageDraft[] => {
  const { role, metadata } = message;
  if (role === "tool") return [];
  return [{ role, ...contentOf(message), ...(metadata === undefined ? {} : { metadata }) }];
};

const contentOf = ({ parts, name, provider }: Message): Pick<MessageDraft, "content" | "name" | "provider"> => ({
  content: parts.filter(isContent),
  ...(name === undefined ? {} : { name }),
  ...(provider === undefined ? {} : { provider }),
});

const isContent = (part: Part): part is ContentPart =>
  part.type === "text" || part.type === "data" || part.type === "image" || part.type === "opaque";
