import { EventRefusedError, type HostedThread, ThreadExistsError } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import {
  ConfigurationError,
  type Message,
  messagesOf,
  type State,
  textOf,
  toArray,
  toolCallsOf,
  turnsOf,
} from "@colloquy/machine";
import type { Formatted, PromptFormat } from "@colloquy/interchange/templates";
import * as Either from "fp-ts/lib/Either.js";
import { interrupt } from "./interrupt.ts";
import { checkPlace, type SpokenTo } from "./spoken.ts";

/** One utterance of the user or the agent. */
export interface Utterance {
  readonly speaker: "user" | "agent";
  readonly text: string;
}

/** An utterance in the history, or its system prompt, which comes first. */
export interface RecordedUtterance {
  /** Utterances are numbered from 1; the system prompt has -1. */
  readonly turnId: number;
  readonly speaker: "system_prompt" | "user" | "agent";
  readonly text: string;
  /** True if it was interrupted; `text` is then the spoken part. */
  readonly interrupted?: true;
}

/** The options of a dialogue history. */
export interface DialogueHistoryOptions {
  /** The format of its prompts, made by `promptFormat` of `@colloquy/interchange/templates`. */
  readonly format: PromptFormat;
  /** The system prompt of a new thread; an existing thread keeps its own. Default: empty. */
  readonly initialSystemPrompt?: string;
  /** The largest prompt, in tokens of the given tokenizer. Default 2,000. */
  readonly contextSize?: number;
  /** The part of it that is kept free for the answer, in tokens. Default 0. */
  readonly reserve?: number;
}

/**
 * The history of a spoken dialogue with retico's interface, over a thread. Utterances are the user's and the model's
 * messages on the thread's path, whatever their origin, numbered from 1; rounds of tools do not count. It holds no
 * state: another process, and `ask`, can continue the same thread.
 */
export class DialogueHistory {
  readonly #thread: HostedThread;
  readonly #format: PromptFormat;
  readonly #initial: string;
  readonly #tokensMax: number;

  /** @throws ConfigurationError for invalid options. */
  constructor(thread: HostedThread, options: DialogueHistoryOptions) {
    checkOptions("DialogueHistory", options, optionKinds);
    const { format, initialSystemPrompt = "", contextSize = 2_000, reserve = 0 } = options;
    if (!(isCount(contextSize) && isCount(reserve) && reserve <= contextSize))
      throw new ConfigurationError(
        `contextSize is ${contextSize}, reserve ${reserve}; they must be whole numbers of 0 or more, the reserve within the size`,
      );
    this.#thread = thread;
    this.#format = format;
    this.#initial = initialSystemPrompt;
    this.#tokensMax = contextSize - reserve;
  }

  /** Appends an utterance to the history, as a separate turn. Returns its number. */
  async appendUtterance(utterance: Utterance): Promise<number> {
    return (await this.#append(utterance)).turnId;
  }

  /** Changes the system prompt. Returns the previous one. */
  async changeSystemPrompt(systemPrompt: string): Promise<string> {
    const before = systemPromptOf(await this.#state());
    await this.#thread.changeSystem(systemPrompt);
    return before;
  }

  /** Restores the system prompt that the thread began with. */
  async resetSystemPrompt(): Promise<void> {
    await this.#state();
    await this.#thread.resetSystem();
  }

  /**
   * Returns the prompt with as many of the newest utterances as fit into the context; `start` is the first of them. It
   * is computed each time, so that it grows again when there is more room.
   *
   * @throws RangeError if the prompt does not fit even without utterances.
   */
  async prepareDialogueHistory(
    tokenize: Tokenize,
  ): Promise<{ readonly prompt: string; readonly tokens: number; readonly start: number }> {
    const state = await this.#state();
    const utterances = utterancesOf(state);
    const promptFrom = (start: number): string => this.#render(utterances.slice(start), systemPromptOf(state));
    const { start, prompt, tokens } = await largestWindow(utterances.length, promptFrom, tokenize, this.#tokensMax);
    return { prompt, tokens, start: start + 1 };
  }

  /**
   * Returns the prompt with the utterances from `start` to before `end`. `systemPrompt` replaces the thread's.
   *
   * @throws RangeError for an invalid range.
   */
  async getPrompt(start = 1, end?: number, systemPrompt?: string): Promise<string> {
    if (!(isCount(start) && start > 0) || (end !== undefined && !(isCount(end) && end >= start)))
      throw new RangeError(`start is ${start}, end ${end}; they must be whole numbers, 1 <= start <= end`);
    const state = await this.#state();
    const utterances = utterancesOf(state).slice(start - 1, end === undefined ? undefined : end - 1);
    return this.#render(utterances, systemPrompt ?? systemPromptOf(state));
  }

  /** Returns the texts that announce an utterance, and so end the one before, of the user and of the agent. */
  async getStopPatterns(): Promise<readonly [user: readonly string[], agent: readonly string[]]> {
    return [this.#format.stopPatterns.user, this.#format.stopPatterns.agent];
  }

  /**
   * Appends an interrupted utterance of the agent, up to the place where it was interrupted. Returns the spoken part.
   */
  async interruptionAlignmentNewAgentSentence(utterance: Utterance, place: SpokenTo): Promise<RecordedUtterance> {
    if (utterance.speaker !== "agent")
      throw new ConfigurationError(
        `the speaker is ${JSON.stringify(utterance.speaker)}; only an agent's sentence is aligned`,
      );
    checkPlace(place);
    const { turn, turnId } = await this.#append(utterance);
    const { spoken } = await interrupt(this.#thread, { ...place, turn });
    return { turnId, speaker: "agent", text: spoken, interrupted: true };
  }

  async formatRole(of: Formatted): Promise<string> {
    return this.#format.formatRole(of);
  }

  async format(of: Formatted, text: string): Promise<string> {
    return this.#format.format(of, text);
  }

  async formatSentence({ speaker, text }: Pick<RecordedUtterance, "speaker" | "text">): Promise<string> {
    return this.#format.format(speaker, text);
  }

  /** Returns a copy of all utterances, after the system prompt. */
  async getDialogueHistory(): Promise<readonly RecordedUtterance[]> {
    const state = await this.#state();
    const first: RecordedUtterance = { turnId: -1, speaker: "system_prompt", text: systemPromptOf(state) };
    return [first, ...utterancesOf(state).map(recorded)];
  }

  /** Appends a turn. Returns the numbers of the turn and of the utterance. */
  async #append({ speaker, text }: Utterance): Promise<{ readonly turn: number; readonly turnId: number }> {
    const role = roles.get(speaker);
    if (role === undefined || typeof text !== "string")
      throw new ConfigurationError(
        `an utterance has a speaker, "user" or "agent", and a text; this one has ${JSON.stringify(speaker)} and a ${typeof text}`,
      );
    const before = newestOf(await this.#state());
    await this.#thread.addTurn([{ role, content: text }]);
    const state = await this.#state();
    // Other callers may have added turns in the meantime. Of two turns with the same text, either may be returned.
    for (const { number, messages } of turnsOf(state)) {
      const [first] = toArray(messages);
      if (number <= before || first?.role !== role || textOf(first) !== text) continue;
      return { turn: number, turnId: utterancesOf(state).findIndex(({ id }) => id === first.id) + 1 };
    }
    throw new Error("the turn that was added is not there");
  }

  /** Returns the current state of the thread, and starts the thread if necessary. */
  async #state(): Promise<State> {
    const state = await this.#thread.state();
    if (state !== null) return state;
    try {
      await this.#thread.start({ system: this.#initial });
    } catch (thrown) {
      // Another caller may have started it at the same time.
      if (!(thrown instanceof ThreadExistsError)) throw thrown;
    }
    const begun = await this.#thread.state();
    if (begun === null) throw new EventRefusedError(this.#thread.id, { kind: "unknown", reason: "it was deleted" });
    return begun;
  }

  /** @throws ConfigurationError for an utterance that is not text. */
  #render(utterances: readonly Message[], system: string): string {
    const rendered = this.#format.render(utterances, { system });
    if (Either.isRight(rendered)) return rendered.right;
    throw new ConfigurationError(rendered.left);
  }
}

const optionKinds: OptionKinds<DialogueHistoryOptions> = {
  format: kinds.needed(kinds.anything),
  initialSystemPrompt: kinds.anything,
  contextSize: kinds.anything,
  reserve: kinds.anything,
};

const roles: ReadonlyMap<string, "user" | "assistant"> = new Map([
  ["user", "user"] as const,
  ["agent", "assistant"] as const,
]);

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const newestOf = (state: State): number => turnsOf(state).at(-1)?.number ?? 0;

const utterancesOf = (state: State): readonly Message[] =>
  messagesOf(state).filter(
    (message) => message.role === "user" || (message.role === "assistant" && toolCallsOf(message).length === 0),
  );

const systemPromptOf = ({ context: { conversation } }: State): string =>
  conversation.system === null ? "" : textOf(conversation.system);

const recorded = (message: Message, index: number): RecordedUtterance => ({
  turnId: index + 1,
  speaker: message.role === "user" ? "user" : "agent",
  text: textOf(message),
  ...(message.truncated === undefined ? {} : { interrupted: true }),
});

/** Counts a text for a model: returns the number of tokens, or the tokens. */
export type Tokenize = (text: string) => Tokens | Promise<Tokens>;

type Tokens = number | { readonly length: number };

/**
 * Returns the longest prompt that fits, among those that begin at one of the utterances or after the last. It searches
 * by bisection, so that a long history is counted only a few times.
 *
 * @throws RangeError if the prompt without utterances does not fit.
 */
const largestWindow = async (
  utterances: number,
  promptFrom: (start: number) => string,
  tokenize: Tokenize,
  tokensMax: number,
): Promise<{ readonly start: number; readonly prompt: string; readonly tokens: number }> => {
  const windowFrom = async (start: number) => {
    const prompt = promptFrom(start);
    const counted = await tokenize(prompt);
    return { start, prompt, tokens: typeof counted === "number" ? counted : counted.length };
  };
  let fitting = await windowFrom(utterances);
  if (fitting.tokens > tokensMax)
    throw new RangeError(
      `the prompt has ${fitting.tokens} tokens without any utterance, and there is room for ${tokensMax}; shorten the system prompt, or raise contextSize`,
    );
  let first = 0;
  while (first < fitting.start) {
    const window = await windowFrom(Math.floor((first + fitting.start) / 2));
    if (window.tokens <= tokensMax) fitting = window;
    else first = window.start + 1;
  }
  return fitting;
};
