import type { HostedThread } from "@colloquy/host";
import {
  type Entry,
  type Json,
  noUsage,
  type ReplyDraft,
  type State,
  type ToolResultPart,
  turnNumbered,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { callIdAt, placeIn, turnOfEffect } from "@colloquy/machine/hosting";
import { placeOfCall } from "../items/item.ts";
import { resultsOf } from "../items/pieces.ts";
import { type SaidTurn, saidIn } from "../items/turn-items.ts";
import type { Leg } from "./leg.ts";
import { echoIn } from "./turn-echo.ts";
import { TurnOutput, type TurnPart } from "./turn-output.ts";

export interface TurnRecord {
  readonly legs: readonly Leg[];
  /** The output after the newest entry, which a live reader continues. */
  readonly output: TurnOutput;
  readonly askId: string;
}

/** A turn as a thread's journal has it now, with the journal. */
export interface ReadTurn {
  readonly entries: readonly Entry[];
  readonly state: State;
  readonly record: TurnRecord;
}

/** Reads a turn; returns null if the thread or the turn does not exist. */
export const readTurn = async (thread: HostedThread, turn: number): Promise<ReadTurn | null> => {
  const state = await thread.state();
  if (state === null) return null;
  const entries = await thread.exportJournal();
  const record = turnRecord(entries, state, turn);
  return record === null ? null : { entries, state, record };
};

/**
 * Restores the legs of a turn from its journal, in order; returns null if the turn does not exist. Every process
 * restores the same legs. A host's own replay knows neither approvals nor the legs between them.
 */
export const turnRecord = (entries: readonly Entry[], state: State, number: number): TurnRecord | null => {
  // As the state has it, with later redactions.
  const said = saidIn(state, number);
  if (said === null || number === 0) return null;
  const { threadId, open, seq } = state.context;
  const closed = open?.number === number ? undefined : turnNumbered(state, number);
  const { startedAt = 0, asks = [] } = closed ?? open ?? {};
  const legs: Leg[] = [];
  const { callerTools } = said;
  const output = new TurnOutput({ threadId, turn: number, startedAt, callerTools, echo: echoIn(state, number) });
  output.watch({ begun: (leg) => legs.push(leg), ended: () => {} });
  const reader = new TurnReader(said);
  let usage = noUsage;
  const first = entries.findIndex(({ event }) => "effectId" in event && turnOfEffect(event.effectId) === number);
  // The journal was read after the state, so it may be newer.
  for (const entry of first < 0 ? [] : entries.slice(first, seq + 1)) {
    const { event } = entry;
    if (closed !== undefined && "effectId" in event && (turnOfEffect(event.effectId) ?? 0) > number) break;
    if ("usage" in event) usage = usageMonoid.concat(usage, usageOfCall(event.usage ?? null, null));
    const endsTurn = resultsDecided(entry).some(({ outcome }) => outcome === "interrupted");
    const outcome = endsTurn ? (closed?.outcome ?? null) : null;
    for (const part of reader.partsOf(entry)) output.apply(part, { at: event.at, usage, outcome });
  }
  if (closed !== undefined) {
    const { endedAt: at, outcome } = closed;
    const end = { type: "turn.ended", turn: number, status: outcome.status } as const;
    for (const part of [...reader.partial(), end]) output.apply(part, { at, usage, outcome });
  }
  return { legs, output, askId: asks[0]?.askId ?? "" };
};

interface EffectPlace {
  readonly step: number;
  readonly callId: string;
}

/** Reads the entries of a turn as parts without deltas, which produce the same legs as the live parts. */
class TurnReader {
  readonly #said: SaidTurn;
  readonly #results: ReadonlyMap<string, ToolResultPart>;
  readonly #given = new Set<string>();
  readonly #approvals = new Map<string, number>();
  readonly #names = new Map<string, string>();
  #step = 0;

  constructor(said: SaidTurn) {
    this.#said = said;
    this.#results = resultsOf(said.messages);
  }

  *partsOf(entry: Entry): Generator<TurnPart> {
    const { event } = entry;
    const place = "effectId" in event ? this.#placeOf(event.effectId) : null;
    if (place !== null) yield* this.#outcome(entry, event, place);
    for (const { position } of resultsDecided(entry))
      yield* this.#result(callIdAt(this.#said.number, this.#step, position));
  }

  *#outcome(entry: Entry, event: Entry["event"], { step, callId }: EffectPlace): Generator<TurnPart> {
    if (event.type === "llm.completed") {
      yield* this.#reply(step, event.reply);
      yield* this.#calls(step, event.reply, new Set(resultsDecided(entry).map(({ position }) => position)));
    } else if (event.type === "output.refused")
      yield { type: "replay.started", turn: this.#said.number, step: this.#step, synthesised: true };
    else if (event.type === "tool.withheld") yield this.#approval(callId, step, event.arguments);
    else if (event.type === "tool.completed" || event.type === "tool.failed") yield* this.#result(callId);
    else if (event.type === "approval.answered" && event.approved) yield { type: "answered" };
    else if (event.type === "approval.answered") yield* this.#result(callId);
  }

  /** Yields the kept part of a reply that broke off. */
  *partial(): Generator<TurnPart> {
    const { messages, answer, steps } = this.#said;
    const kept = messages.find(({ id, incomplete }) => id === answer && incomplete === true);
    const content = kept?.parts.filter((part) => part.type !== "toolCall" && part.type !== "toolResult");
    if (content !== undefined) yield* this.#reply(steps, { content });
  }

  /** Returns the step and call of an effect; null for an effect of another turn. */
  #placeOf(effectId: string): EffectPlace | null {
    if (turnOfEffect(effectId) !== this.#said.number) return null;
    const [callId = ""] = placeIn(effectId).split(/[#!]/u);
    return { step: Number(callId.split(".")[1]), callId };
  }

  *#reply(step: number, { content = [] }: ReplyDraft): Generator<TurnPart> {
    const turn = this.#said.number;
    yield { type: "step.started", turn, step };
    this.#step = step;
    for (const part of typeof content === "string" ? [{ type: "text", text: content } as const] : content)
      if (part.type === "text" || part.type === "reasoning" || part.type === "refusal")
        yield { type: `${part.type}.delta`, turn, step, attempt: 1, text: part.text };
  }

  *#calls(step: number, { toolCalls = [] }: ReplyDraft, settled: ReadonlySet<number>): Generator<TurnPart> {
    const turn = this.#said.number;
    const calls = toolCalls.map(({ name, arguments: written }, position) => {
      const callId = callIdAt(turn, step, position);
      this.#names.set(callId, name);
      return { turn, step, position, callId, name, arguments: written };
    });
    for (const call of calls) yield { type: "toolCall", ...call };
    // In the order of a host.
    for (const position of settled) yield* this.#result(callIdAt(turn, step, position));
    for (const call of calls)
      if (this.#said.callerTools.has(call.name) && !settled.has(call.position))
        yield { type: "result.requested", ...call };
  }

  #approval(callId: string, step: number, approved: Json): TurnPart {
    const number = (this.#approvals.get(callId) ?? 0) + 1;
    this.#approvals.set(callId, number);
    const position = Number(callId.split(".")[2]);
    const id = `${callId}!approval-${number}`;
    const request = { id, callId, position, name: this.#names.get(callId) ?? "", arguments: approved };
    return { type: "approval.requested", turn: this.#said.number, step, request };
  }

  /** Yields the result of a call once, as the thread has it. A call that was just approved has no result yet. */
  *#result(callId: string): Generator<TurnPart> {
    const result = this.#results.get(callId);
    if (result === undefined || this.#given.has(callId)) return;
    this.#given.add(callId);
    const { turn, step, index: position } = placeOfCall("", callId);
    const { name, outcome, content } = result;
    yield { type: "toolResult", turn, step, position, callId, name, outcome, content };
  }
}

const resultsDecided = (entry: Entry) => ("decided" in entry ? (entry.decided?.results ?? []) : []);
