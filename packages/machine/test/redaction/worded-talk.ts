import fc from "fast-check";
import {
  asksOf,
  type AskStatus,
  conversationMachine,
  type Entry,
  type Event,
  type JsonObject,
  outstanding,
  start,
  type State,
  toArray,
  transition,
  turnsOf,
} from "../../src/index.ts";
import { summariseTurns } from "../../src/policies.ts";

/** A move of a conversation, with unique words. A `pick` is taken modulo the number of choices. */
export interface WordedMove {
  readonly move:
    | "ask"
    | "reply"
    | "call"
    | "answer"
    | "fail"
    | "progress"
    | "cancel"
    | "append"
    | "add"
    | "annotate"
    | "fire"
    | "move"
    | "truncate";
  readonly overlap: "queue" | "merge" | "latest" | "interrupt" | "steer";
  readonly pick: number;
}

export const wordedMoves: fc.Arbitrary<readonly WordedMove[]> = fc.array(
  fc.record({
    move: fc.constantFrom(
      ...(["ask", "ask", "reply", "reply", "call", "answer", "answer", "fail", "progress"] as const),
      ...(["cancel", "append", "add", "annotate", "fire", "fire", "move", "truncate"] as const),
    ),
    overlap: fc.constantFrom("queue", "merge", "latest", "interrupt", "steer"),
    pick: fc.nat(),
  }),
  { minLength: 5, maxLength: 60 },
);

/** A word, and its turn. */
export interface Word {
  readonly word: string;
  readonly turn: number;
}

const machine = conversationMachine({
  tools: [
    { name: "lookup", recovery: "once" },
    { name: "pay", approval: "always" },
  ],
  policy: summariseTurns(),
  overlap: { type: "queue", max: 4 },
});

/** Returns the journal of some moves, and each accepted word once, without those of waiting or unanswered asks. */
export const wordedTalk = (
  moves: readonly WordedMove[],
): { readonly entries: readonly Entry[]; readonly words: readonly Word[] } => {
  const talk = new WordedTalk();
  for (const [index, move] of moves.entries()) talk.move(move, index + 1);
  return { entries: talk.entries, words: talk.words() };
};

class WordedTalk {
  readonly entries: Entry[];
  readonly #said: { readonly word: string; readonly in: number | { readonly askId: string } }[] = [];
  /** The turn that was open when an ask arrived. */
  readonly #during = new Map<string, number | null>();
  #state: State;
  #words = 0;

  constructor() {
    const begun = start(machine, { threadId: "t", at: 0, seed: [{ role: "user", content: this.#word(0) }] });
    this.entries = [begun.entry];
    this.#state = begun.state;
  }

  words(): readonly Word[] {
    const turns = toArray(this.#state.context.conversation.turns).map((turn) => JSON.stringify(turn));
    return this.#said.flatMap(({ word, in: where }) => {
      const turn = typeof where === "number" ? where : this.#turnOf(where.askId, turns);
      const isThere = turn !== null && turn <= this.#state.context.conversation.turns.length;
      return isThere ? [{ word, turn }] : [];
    });
  }

  /** Returns the turn of an ask: the one that took it, even if withdrawn, else the one during which it arrived. */
  #turnOf(askId: string, turns: readonly string[]): number | null {
    const said = turns.findIndex((turn) => turn.includes(`"${askId}:`) || turn.includes(`"${askId}"`));
    if (said >= 0) return said + 1;
    const { queue, open } = this.#state.context;
    const waits = [...queue, ...(open?.joining ?? [])].some((ask) => ask.askId === askId);
    const isOpen = open !== null && JSON.stringify(open).includes(`"${askId}`);
    return waits || isOpen ? null : (this.#during.get(askId) ?? null);
  }

  move({ move, overlap, pick }: WordedMove, at: number): void {
    const before = this.#said.length;
    const event = this.#eventOf(move, overlap, pick, at);
    const told = event === null ? null : transition(machine, this.#state, event);
    if (told?.handled !== true) {
      // The event was refused, so its words do not count.
      this.#said.length = before;
      return;
    }
    if (event?.type === "ask.received") this.#during.set(event.askId, this.#state.context.open?.number ?? null);
    this.#state = told.state;
    this.entries.push(told.entry);
  }

  #eventOf(move: WordedMove["move"], overlap: WordedMove["overlap"], pick: number, at: number): Event | null {
    const { open, conversation } = this.#state.context;
    const next = conversation.turns.length + 1;
    const here = open?.number ?? next;
    const said = (): string => this.#word(here);
    const out = outstanding(this.#state);
    const call = out.find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    switch (move) {
      case "ask": {
        const askId = `a${at}`;
        const input = [
          { role: "user", content: `${askId}: ${this.#word({ askId })}`, metadata: { of: this.#word({ askId }) } },
        ] as const;
        const partial =
          open?.stage.type === "responding" && (overlap === "interrupt" || pick % 3 === 0)
            ? { partial: { content: said() } }
            : {};
        return { type: "ask.received", at, askId, input, overlap, metadata: { by: this.#word({ askId }) }, ...partial };
      }
      case "reply":
      case "call":
        return call === undefined
          ? null
          : {
              type: "llm.completed",
              at,
              effectId: call.id,
              finishReason: "stop",
              reply: {
                content: [
                  { type: "reasoning", text: said() },
                  { type: "text", text: said() },
                ],
                ...(move === "call"
                  ? {
                      toolCalls: [
                        { id: "call_0", name: "lookup", arguments: said() },
                        { id: "call_0", name: pick % 2 === 0 ? "pay" : "unheard", arguments: said() },
                      ],
                    }
                  : {}),
              },
            };
      case "answer": {
        const effect = out.filter(({ type }) => type !== "startTimer")[pick % Math.max(out.length, 1)];
        if (effect === undefined || effect === call) return null;
        const { id: effectId } = effect;
        if (effect.type === "requestApproval")
          return { type: "approval.answered", at, effectId, approved: pick % 3 > 0, reason: said() };
        if (effect.type === "callTool")
          return effect.approval === "required"
            ? { type: "tool.withheld", at, effectId, because: "declared", arguments: { of: said() } }
            : { type: "tool.completed", at, effectId, content: said() };
        // A summary repeats the words of earlier turns.
        return { type: "llm.completed", at, effectId, finishReason: "stop", reply: { content: this.#toldAgain() } };
      }
      case "fail":
        return call === undefined
          ? null
          : {
              type: "llm.failed",
              at,
              effectId: call.id,
              failure: { kind: "overloaded", message: said(), retryable: pick % 2 === 0 },
              partial: { content: said() },
            };
      case "progress":
        return call === undefined
          ? null
          : { type: "llm.progressed", at, effectId: call.id, partial: { content: said() } };
      case "cancel": {
        const ids = asksOf(this.#state).flatMap(({ askId, status }) => (isPending(status) ? askId : []));
        const askId = pick % 2 === 0 ? ids[pick % Math.max(ids.length, 1)] : undefined;
        const partial = open === null ? {} : { partial: { content: said() } };
        const reason = open === null && askId !== undefined ? this.#word({ askId }) : said();
        return { type: "cancel.requested", at, reason, ...partial, ...(askId === undefined ? {} : { askId }) };
      }
      default:
        return this.#editOf(move, pick, at);
    }
  }

  #editOf(move: WordedMove["move"], pick: number, at: number): Event | null {
    const { open, conversation } = this.#state.context;
    const next = conversation.turns.length + 1;
    const said = (): string => this.#word(open?.number ?? next);
    switch (move) {
      case "append":
        return { type: "message.appended", at, message: { role: "user", content: said() } };
      case "add": {
        const metadata: JsonObject = { of: said() };
        return { type: "turn.added", at, messages: [{ role: "user", content: said() }], metadata };
      }
      case "annotate": {
        const turn = 1 + (pick % Math.max(next - 1, 1));
        return { type: "turn.annotated", at, turn, name: "note", value: this.#word(turn) };
      }
      case "fire": {
        const timer = outstanding(this.#state).find(({ type }) => type === "startTimer");
        return timer === undefined ? null : { type: "timer.fired", at, effectId: timer.id };
      }
      case "move":
        return { type: "head.moved", at, to: pick % next };
      case "truncate":
        return { type: "answer.truncated", at, turn: 1 + (pick % Math.max(next - 1, 1)), characters: 2 };
      default:
        return null;
    }
  }

  /** Returns the text of a summary: the words of all turns that it covers, and those of an older summary. */
  #toldAgain(): string {
    const { summarising } = this.#state.context;
    if (summarising === null) return "nothing";
    const from = Math.min(summarising.covers.from, summarising.earlier?.from ?? summarising.covers.from);
    const path = new Set(turnsOf(this.#state).map(({ number }) => number)).add(0);
    return this.words()
      .filter(({ turn }) => turn >= from && turn <= summarising.covers.to && path.has(turn))
      .map(({ word }) => word)
      .join(" ");
  }

  #word(where: number | { readonly askId: string }): string {
    const word = `-${++this.#words}-`;
    this.#said.push({ word, in: where });
    return word;
  }
}

const isPending = (status: AskStatus): boolean => status === "queued" || status === "joining" || status === "open";
