import { type Entry, type JsonObject, type State, turnNumbered } from "@colloquy/machine";
import { saidIn } from "../items/turn-items.ts";
import type { LegEvent } from "./leg-writer.ts";
import { recordedTurn } from "./recorded-turn.ts";
import { echoIn } from "./turn-echo.ts";
import { figuresOfReport, figuresSum, type LegFacts, type TokenFigures } from "./response-object.ts";
import { TurnOutput, type TurnPart } from "./turn-output.ts";

/** A leg as restored from the journal, with all events of its stream. */
export interface LegRecord {
  readonly facts: LegFacts;
  readonly events: readonly LegEvent[];
}

/** A turn as restored from the journal. */
export interface TurnRecord {
  readonly legs: readonly LegRecord[];
  /** The parts of the turn without deltas. A live reader continues after them. */
  readonly parts: readonly TurnPart[];
  readonly callerTools: ReadonlySet<string>;
  readonly echo: JsonObject;
  readonly startedAt: number;
  /** The id of one of its asks. */
  readonly askId: string;
  readonly isOpen: boolean;
}

/**
 * Restores the legs of a turn from its journal, in order; returns null if the turn does not exist. Every process restores
 * the same legs.
 */
export const turnRecord = (entries: readonly Entry[], state: State, number: number): TurnRecord | null => {
  const said = saidIn(state, number);
  if (said === null || number === 0) return null;
  const { threadId, open } = state.context;
  const closed = open?.number === number ? undefined : turnNumbered(state, number);
  const echo = echoIn(state, number);
  const legs: { facts: LegFacts; readonly events: LegEvent[]; isEnded: boolean }[] = [];
  const startedAt = closed?.startedAt ?? open?.startedAt ?? 0;
  let at = startedAt;
  const output = new TurnOutput({ threadId, turn: number }, said.callerTools, {
    begun: (leg) => {
      const place = { threadId, turn: number, leg };
      const facts = { place, echo, createdAt: at, endedAt: null, outcome: null, items: [], usage: null };
      legs.push({ facts, events: [], isEnded: false });
    },
    event: (leg, event) => legs[leg - 1]?.events.push(event),
    ended: (leg, because) => {
      const ended = legs[leg - 1];
      if (ended === undefined) return;
      const outcome = because === "turn" ? (closed?.outcome ?? null) : null;
      ended.facts = { ...ended.facts, endedAt: at, outcome };
      ended.isEnded = true;
    },
  });
  const parts: TurnPart[] = [];
  let used: TokenFigures | null = null;
  const ended = closed === undefined ? null : { at: closed.endedAt, status: closed.outcome.status };
  // The journal was read after the state, so it may be newer.
  for (const recorded of recordedTurn(entries.slice(0, state.context.seq + 1), said, ended)) {
    at = recorded.at;
    for (const part of recorded.parts) {
      parts.push(part);
      output.apply(part);
    }
    used = figuresSum(used, recorded.usage === null ? null : figuresOfReport(recorded.usage));
    const leg = legs.at(-1);
    if (leg === undefined) continue;
    leg.facts = { ...leg.facts, items: output.items };
    // A leg that has shown nothing yet also owns the attempts that failed before it.
    if (leg.isEnded && recorded.parts.length === 0) continue;
    leg.facts = { ...leg.facts, usage: figuresSum(leg.facts.usage, used) };
    used = null;
  }
  const askId = (closed?.asks ?? open?.asks)?.[0]?.askId ?? "";
  return { legs, parts, callerTools: said.callerTools, echo, startedAt, askId, isOpen: closed === undefined };
};
