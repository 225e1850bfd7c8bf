import { expect } from "vitest";
import {
  type ConversationMachine,
  conversationMachine,
  type Entry,
  type Event,
  lastTurnOf,
  type Message,
  outstanding,
  promptOf,
  start,
  type State,
  textOf,
  toolCallsOf,
  toolResultOf,
  transition,
} from "../../src/index.ts";
import { configurationOfMachine } from "../../src/hosting.ts";
import { type Counter, keepAll, lastTurns, type Policy, tokenWindow } from "../../src/policies.ts";
import { requestTokens, rolling } from "../hand-made.ts";
import type { Move } from "./model-moves.ts";
import { mostSummaryTokens, PlainConversation } from "./plain-model.ts";
import { interruptedTokens } from "./plain-open-turn.ts";
import type { Config, PlainPolicy, Said } from "./plain-prompt.ts";
import { availableIn, fitsInto, mostTurnsRead, perMessage, perPrompt, tokensOf } from "./plain-prompt.ts";

const counter: Counter = {
  name: "plain",
  version: 1,
  options: {},
  perMessage,
  perPrompt,
  countPart: (part) => {
    if (part.type === "text") return turnsReadIn(part.text) * perTurnRead || part.text.length;
    if (part.type === "toolCall") return part.name.length + part.arguments.length;
    if (part.type !== "toolResult") return 0;
    return part.outcome === "completed"
      ? part.content.reduce((sum, inner) => sum + (inner.type === "text" ? inner.text.length : 0), 0)
      : interruptedTokens;
  },
};

/** Of the request for a summary only the turns count, so that the model need not know its wording. */
const turnsReadIn = (text: string): number => text.split("\nTool use:\n").length - 1;

/** With half a turn for all else. */
const perTurnRead = Math.floor(requestTokens / (mostTurnsRead + 0.5));

const tools = [{ name: "search" }, { name: "sum" }];

const policyFor = (policy: PlainPolicy): Policy => {
  switch (policy.type) {
    case "all":
      return keepAll();
    case "turns":
      return lastTurns(policy.count);
    case "window":
      return tokenWindow();
    case "rolling":
      return rolling({ ...policy, maxTokens: mostSummaryTokens });
  }
};

const machineFor = ({ policy, budget, interrupted }: Config): ConversationMachine =>
  conversationMachine({ policy: policyFor(policy), budget, interrupted, counter, tools, retry: { baseDelayMs: 0 } });

/** A message in a line, what is derived left aside. */
const lineOf = (message: Message): string => {
  const result = toolResultOf(message);
  const calls = toolCallsOf(message).map(({ name }) => name);
  const said = calls.length > 0 ? calls.join(" ") : textOf(message);
  const text = result !== undefined && result.outcome !== "completed" ? "(interrupted)" : said;
  return `${message.id.startsWith("summary.") ? "summary" : message.id} ${message.role}: ${text}`;
};

const plainLine = ({ id, role, text }: Said): string => `${id} ${role}: ${text}`;

/** The machine and the model, told the same. */
export class Pair {
  machine: ConversationMachine;
  state: State;
  readonly entries: Entry[];
  readonly plain: PlainConversation;
  #now = 0;

  constructor(config: Config, seed: readonly string[]) {
    this.machine = machineFor(config);
    const drafts = seed.map((content) => ({ role: "user" as const, content }));
    const { state, entry } = start(this.machine, { threadId: "t", at: 0, seed: drafts });
    this.state = state;
    this.entries = [entry];
    this.plain = new PlainConversation(config, seed);
  }

  play(move: Move): void {
    const { plain } = this;
    switch (move.move) {
      case "ask":
        return this.#tell({ type: "ask.received", askId: `${this.#now}`, input: move.text }, plain.ask(move.text));
      case "append":
        plain.append(move.text);
        return this.#tell({ type: "message.appended", message: { role: "user", content: move.text } });
      case "add": {
        const messages = [
          { role: "user" as const, content: move.text },
          { role: "assistant" as const, content: `${move.text}!` },
        ];
        return this.#tell({ type: "turn.added", messages }, plain.add(move.text, `${move.text}!`));
      }
      case "answer":
        return this.#answer(move);
      case "fail": {
        const effectId = this.#callId("answer");
        if (effectId === undefined) return;
        plain.failCall(move.retryable);
        const failure = { kind: "overloaded", message: "too busy", retryable: move.retryable } as const;
        return this.#tell({ type: "llm.failed", effectId, failure });
      }
      case "cancel":
        return this.#tell({ type: "cancel.requested" }, plain.cancel());
      case "clear":
        return this.#move(0);
      case "undo":
        return this.#move(plain.turns[plain.head - 1]?.parent ?? 0);
      case "moveHead":
        return this.#move(move.pick % (plain.turns.length + 1));
      case "truncate": {
        const turn = move.pick % (plain.turns.length + 1);
        const { characters } = move;
        return this.#tell({ type: "answer.truncated", turn, characters }, plain.truncate(turn, characters));
      }
      case "system":
        plain.changeSystem(move.text);
        return this.#tell({ type: "system.changed", system: move.text });
      case "pin": {
        const message = pickFrom(plain.messages(), move.pick)?.id;
        if (message === undefined) return;
        plain.pin(message);
        return this.#tell({ type: "message.pinned", message, pinned: true });
      }
      case "unpin": {
        const message = pickFrom(plain.pins, move.pick);
        if (message === undefined) return;
        plain.unpin(message);
        return this.#tell({ type: "message.pinned", message, pinned: false });
      }
      case "summary":
        return this.#endSummary(move.text);
      case "wait":
        return this.#fire();
      case "configure": {
        this.machine = machineFor(move.config);
        plain.configure(move.config);
        return this.#tell({ type: "thread.configured", configuration: configurationOfMachine(this.machine) });
      }
    }
  }

  /** The machine is where the model is. */
  check(): void {
    const { plain, state } = this;
    const { open, summarising } = state.context;
    const { value } = state;
    expect(typeof value === "string" ? value : Object.values(value)[0]).toBe(plain.leaf);
    const call = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    const sent = plain.open?.stage.type === "responding" ? plain.open.stage.sent : undefined;
    expect(call?.type === "callLlm" ? call.messages.map(lineOf) : undefined).toEqual(sent?.map(plainLine));
    expect(open?.step).toBe(plain.open?.step);
    expect(summarising === null ? null : { number: summarising.number, ...summarising.covers }).toEqual(
      plain.summarising,
    );
    expect(state.context.summaries).toBe(plain.summaries);
    const prompt = promptOf(this.machine, state);
    const next = plain.nextPrompt();
    expect(prompt.failed).toBeUndefined();
    expect(prompt.messages.map(lineOf)).toEqual(next.map(plainLine));
    expect(prompt).toMatchObject({
      tokens: tokensOf(next),
      available: availableIn(plain),
      fits: fitsInto(plain, next),
    });
    const outcome = lastTurnOf(state)?.outcome;
    const isNewest = state.context.conversation.head === state.context.conversation.turns.length;
    if (isNewest) expect(outcome !== undefined && "unfit" in outcome ? outcome.unfit : null).toEqual(plain.unfit);
  }

  #answer({ text, reported, tools: names, pick }: Extract<Move, { move: "answer" }>): void {
    const { plain } = this;
    const { stage } = plain.open ?? {};
    if (stage?.type === "running") {
      const unanswered = stage.calls.flatMap(({ result }, index) => (result === null ? index : []));
      const position = pickFrom(unanswered, pick) ?? 0;
      const effectId = `t/${stage.calls[position]?.id ?? ""}#1`;
      plain.answerTool(position, text);
      return this.#tell({ type: "tool.completed", effectId, content: text });
    }
    const effectId = this.#callId("answer");
    if (effectId === undefined) return;
    if (names.length === 0) plain.reply(text, reported);
    else {
      plain.callTools(names, reported);
    }
    const toolCalls = names.map((name) => ({ id: "same", name, arguments: "{}" }));
    const usage = reported === null ? {} : { usage: { inputTokens: reported } };
    const reply = names.length === 0 ? { content: text } : { toolCalls };
    this.#tell({ type: "llm.completed", effectId, reply, finishReason: "stop", ...usage });
  }

  #endSummary(text: string | null): void {
    const effectId = this.#callId("summary");
    if (effectId === undefined) return;
    this.plain.endSummary(text);
    const failure = { kind: "overloaded", message: "too busy", retryable: true } as const;
    if (text === null) return this.#tell({ type: "llm.failed", effectId, failure });
    this.#tell({ type: "llm.completed", effectId, reply: { content: text }, finishReason: "stop" });
  }

  /** The timer that is out, of a retry or of the wait for a summary. */
  #fire(): void {
    const timer = outstanding(this.state).find(({ type }) => type === "startTimer");
    if (timer?.type !== "startTimer") return;
    if (timer.purpose === "retry") this.plain.retry();
    else this.plain.endSummary(null);
    this.#tell({ type: "timer.fired", effectId: timer.id });
  }

  #move(to: number): void {
    this.#tell({ type: "head.moved", to }, this.plain.move(to));
  }

  #callId(purpose: "answer" | "summary"): string | undefined {
    return outstanding(this.state).find((effect) => effect.type === "callLlm" && effect.purpose === purpose)?.id;
  }

  #tell(event: Untimed, isTaken = true): void {
    const told = transition(this.machine, this.state, { at: ++this.#now, ...event });
    expect(told.handled ? null : told.refusal).toEqual(isTaken ? null : expect.anything());
    this.state = told.state;
    if (told.handled) this.entries.push(told.entry);
  }
}

type Untimed = Event extends infer One ? (One extends Event ? Omit<One, "at"> : never) : never;

const pickFrom = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items.length === 0 ? undefined : items[pick % items.length];
