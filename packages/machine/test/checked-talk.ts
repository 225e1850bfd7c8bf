import { unfrozenIn } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import {
  type AnswerableEffect,
  type CallLlm,
  type ConversationMachine,
  type Entry,
  type Event,
  type Handled,
  type LaterEntry,
  type MachineOptions,
  conversationMachine,
  type Refusal,
  type Signal,
  type State,
  textOf,
  type ThreadInput,
  toArray,
  transition,
  turnsOf,
} from "../src/index.ts";
import { callOut, configurationOfMachine } from "../src/hosting.ts";
import { replay } from "../src/inspect.ts";
import { decodeJournal, fold, foldEntry } from "../src/journal.ts";
import { checkPrompt } from "../src/policies.ts";
import { Talk } from "./talk.ts";

type Told = Parameters<Talk["tell"]>[0];

/**
 * A conversation with checks at every step: the state is the fold of the journal through JSON, outstanding effects
 * equal their requests, all values are deeply frozen, prompts are well-formed, the usage is at most that of the calls,
 * and figures are true.
 */
export class CheckedTalk extends Talk {
  entries: Entry[];
  #asked = new Map<string, AnswerableEffect>();
  #folded: State;

  constructor(options: MachineOptions | ConversationMachine = {}, input: Partial<ThreadInput> = {}) {
    super("states" in options ? options : conversationMachine(options), input);
    this.entries = [this.beginning];
    this.#folded = foldOf(this.entries);
  }

  override tell(told: Told): Handled {
    const before = this.state;
    const handled = super.tell(told);
    this.entries.push(handled.entry);
    const again = transition(this.machine, throughJson(before), handled.entry.event);
    expect(again).toEqual(handled);
    this.#follow(handled);
    expect(this.out()).toEqual(expect.arrayContaining([...this.#asked.values()]));
    expect(this.out()).toHaveLength(this.#asked.size);
    this.#folded = this.#foldOfNow(handled.entry);
    expect(this.#folded).toEqual(this.state);
    for (const effect of this.out())
      expect(callOut(this.state, effect.id)).toEqual(effect.type === "callTool" ? effect : undefined);
    expect(unfrozenIn(handled)).toBeNull();
    checkUsage(this.state);
    checkFigures(this.signals(), this.state);
    return handled;
  }

  /** Returns the same conversation under other options. */
  under(options: MachineOptions): CheckedTalk {
    const machine = conversationMachine(options);
    const next = new CheckedTalk(machine);
    next.state = this.state;
    next.now = this.now;
    next.entries = [...this.entries];
    next.#asked = new Map(this.#asked);
    next.#folded = this.#folded;
    next.tell({ type: "thread.configured", configuration: configurationOfMachine(machine) });
    return next;
  }

  /** Returns the outstanding model call for an answer. */
  override call(): CallLlm {
    const call = this.#callFor("answer");
    if (call === undefined) throw new Error("no answering call is out");
    return call;
  }

  isCalling(): boolean {
    return this.#callFor("answer") !== undefined;
  }

  /** Returns the prompt of the outstanding answering call. */
  sent(): readonly string[] {
    return this.call().messages.map(textOf);
  }

  /** Returns the outstanding call for a summary. */
  summary(): CallLlm {
    const call = this.#callFor("summary");
    if (call === undefined) throw new Error("no summary is out");
    return call;
  }

  isSummarising(): boolean {
    return this.#callFor("summary") !== undefined;
  }

  summarise(content: string, more: Partial<Extract<Event, { type: "llm.completed" }>> = {}): Handled {
    const { id, promptDigest } = this.summary();
    const reply = { content };
    return this.tell({ type: "llm.completed", effectId: id, reply, finishReason: "stop", promptDigest, ...more });
  }

  failSummary(message = "too busy"): Handled {
    const failure = { kind: "overloaded", message, retryable: true } as const;
    return this.tell({ type: "llm.failed", effectId: this.summary().id, failure });
  }

  /** Asks, and gets the answer. */
  say(input: string, answer: string): void {
    this.ask(input);
    this.reply(answer);
  }

  signals(): readonly Signal[] {
    return this.effects.flatMap((effect) => (effect.type === "publish" ? effect.signal : []));
  }

  /** Returns the types of the newest event's effects, and of signals the signals' types. */
  told(): readonly string[] {
    return this.effects.map((effect) => (effect.type === "publish" ? effect.signal.type : effect.type));
  }

  /** Returns the refusal of an event, or null, without sending it. */
  refusalOf(told: Told): Refusal | null {
    const answer = transition(this.machine, this.state, { at: this.now, ...told });
    return answer.handled ? null : answer.refusal;
  }

  /** Checks that the machine decides as the journal says. */
  replays(): void {
    const replayed = replay(this.machine, throughJson(this.entries));
    expect(replayed).toEqual(Either.right(this.state));
  }

  #callFor(purpose: CallLlm["purpose"]): CallLlm | undefined {
    return this.out().find((effect): effect is CallLlm => effect.type === "callLlm" && effect.purpose === purpose);
  }

  /** Decodes and folds the whole journal while it is short, and later after each eighth entry. */
  #foldOfNow(newest: LaterEntry): State {
    const { length } = this.entries;
    return length < 16 || length % 8 === 0
      ? foldOf(throughJson(this.entries))
      : foldEntry(this.#folded, throughJson(newest));
  }

  #follow({ entry: { event }, effects }: Handled): void {
    if ("effectId" in event && !["llm.progressed", "tool.started"].includes(event.type))
      this.#asked.delete(event.effectId);
    for (const effect of effects) {
      if ("id" in effect) this.#asked.set(effect.id, effect);
      if ("effectId" in effect) this.#asked.delete(effect.effectId);
      if (effect.type === "callLlm") expect(checkPrompt(effect.messages)).toBeNull();
    }
    if (event.type === "tool.started") this.#start(event.effectId);
  }

  /** Marks a call as started, as `outstanding` does. */
  #start(effectId: string): void {
    const call = this.#asked.get(effectId);
    if (call?.type === "callTool") this.#asked.set(effectId, { ...call, started: true });
  }
}

const throughJson = <Value>(value: Value): Value => {
  // Plain JSON keeps its type.
  const read = JSON.parse(JSON.stringify(value)) as Value;
  expect(read).toEqual(value);
  return read;
};

const foldOf = (entries: readonly Entry[]): State => {
  const decoded = decodeJournal(entries);
  if (Either.isLeft(decoded)) throw new Error(JSON.stringify(decoded.left));
  const folded = fold(decoded.right);
  if (Either.isLeft(folded)) throw new Error(folded.left.reason);
  return folded.right;
};

const checkUsage = ({ context: { usage, conversation, open } }: State): void => {
  const turns = toArray(conversation.turns).map((turn) => turn.usage);
  const all = [...turns, usage.betweenTurns, ...(open === null ? [] : [open.usage])];
  expect(all.reduce((sum, { calls }) => sum + calls, 0)).toBe(usage.total.calls);
  expect(all.reduce((sum, { totalTokens }) => sum + totalTokens.sum, 0)).toBe(usage.total.totalTokens.sum);
};

/** Checks the figures of `thread.updated` by a full count. */
const checkFigures = (signals: readonly Signal[], state: State): void => {
  const { conversation } = state.context;
  const turns = turnsOf(state);
  const messages = [...conversation.seed, ...turns.flatMap((turn) => toArray(turn.messages)), ...conversation.appended];
  const characters = messages.reduce((sum, message) => sum + textOf(message).length, 0);
  for (const signal of signals) {
    if (signal.type !== "thread.updated") continue;
    const usage = state.context.usage.total;
    expect(signal).toEqual({
      type: "thread.updated",
      turns: turns.length,
      messages: messages.length,
      characters,
      usage,
    });
  }
};
