import {
  type ConversationMachine,
  fingerprintOf,
  type Message,
  outstanding,
  partText,
  type State,
} from "@colloquy/machine";
import {
  explain,
  explainCall,
  type Explanation,
  type UnitExplanation,
  type UnitShown,
} from "@colloquy/machine/inspect";
import type { PromptChange, PromptView, Segment, SegmentKind, UnitItem } from "../wire/wire.ts";
import { beginning } from "./timeline-row.ts";

/** The prompt of a call, with all of its units. */
export interface WholePrompt {
  readonly view: PromptView;
  readonly units: readonly UnitItem[];
  readonly explained: readonly UnitExplanation[];
}

export interface PromptQuestion {
  /** Its counter, budget and policy explain the prompt. */
  readonly machine: ConversationMachine;
  /** `sent`: the sent prompt, from the journal. `now`: the prompt that this machine would send instead. */
  readonly as: "sent" | "now";
  /** The entry that requested the call. */
  readonly seq: number;
  /** Input tokens as reported by the provider. */
  readonly reported: number | null;
}

/** Returns the prompt of the outstanding call in a state. Pure. @throws Error if there is none */
export const promptView = (state: State, { machine, as, seq, reported }: PromptQuestion): WholePrompt => {
  const call = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
  const sent = explainCall(machine, state);
  if (call?.type !== "callLlm" || sent === null) throw new Error("no model call is outstanding");
  const explanation = as === "sent" ? sent : explain(machine, state);
  const { units: _, summary: __, share: ___, ...figures } = explanation;
  const units = unitsOf(explanation);
  const kinds = units.map(kindOf);
  return {
    explained: units,
    units: units.map(itemOf),
    view: {
      call: {
        seq,
        turn: call.turn,
        step: call.step,
        attempt: call.attempt,
        digest: call.promptDigest,
        model: call.model,
        tools: (call.tools ?? []).map(({ name }) => name),
        reported,
      },
      configured: state.context.configuration.fingerprint === fingerprintOf(machine),
      ...figures,
      counts: countsOf(units),
      sent: segments(units, kinds, ({ sentTokens }) => sentTokens ?? 0).filter(
        ({ kind }) => kind !== "out" && kind !== "summarised",
      ),
      whole: segments(units, kinds, ({ tokens }) => tokens ?? 0),
    },
  };
};

/** Returns how the messages of a prompt differ from those of another one. Pure. */
export const promptChange = (one: WholePrompt, other: WholePrompt): PromptChange => {
  const [before, after] = [sentIn(one), sentIn(other)];
  const earlier = new Map(before.map((message) => [keyOf(message), message]));
  const later = new Set(after.map(keyOf));
  const kept = after.flatMap((message) => {
    const same = earlier.get(keyOf(message));
    return same === undefined ? [] : [{ before: same, after: message }];
  });
  const changed = kept.filter((pair) => JSON.stringify(pair.before) !== JSON.stringify(pair.after));
  return {
    before: one.view.call,
    after: other.view.call,
    alike: kept.length - changed.length,
    added: after.filter((message) => !earlier.has(keyOf(message))).slice(0, changesMax),
    removed: before.filter((message) => !later.has(keyOf(message))).slice(0, changesMax),
    changed: changed.slice(0, changesMax),
  };
};

const sentIn = ({ explained }: WholePrompt): readonly Message[] => explained.flatMap(({ sent }) => sent);

const keyOf = ({ role, id }: Message): string => `${role} ${id}`;

const changesMax = 100;

/** Returns the units, with the summary of older turns in the prompt's place for it: after the system message. */
const unitsOf = ({ units, summary }: Explanation): readonly UnitExplanation[] => {
  if (summary === null) return units;
  const { message, tokens, turns } = summary;
  const unit: UnitExplanation = {
    turn: null,
    id: message.id,
    kind: "message",
    messages: [message],
    sent: [message],
    shown: "whole",
    rule: "summary",
    why: `stands for turns ${turns.from} to ${turns.to}`,
    tokens,
    sentTokens: tokens,
  };
  return units.toSpliced(units[0]?.kind === "system" ? 1 : 0, 0, unit);
};

const countsOf = (units: readonly UnitExplanation[]): Record<UnitShown, number> => {
  const counts = { whole: 0, shrunk: 0, summary: 0, out: 0 };
  for (const { shown } of units) counts[shown] += 1;
  return counts;
};

const kindOf = ({ kind, shown, rule }: UnitExplanation): SegmentKind => {
  if (shown === "out") return "out";
  if (shown === "summary") return "summarised";
  if (kind === "system") return "system";
  if (rule === "summary") return "summary";
  if (shown === "shrunk") return "shrunk";
  if (rule === "fixed") return "open";
  return rule === "pinned" ? "pinned" : "whole";
};

/** Groups neighbouring units of one turn; if there are many, of one kind; if there are too many, of any. */
const segments = (
  units: readonly UnitExplanation[],
  kinds: readonly SegmentKind[],
  tokensOf: (unit: UnitExplanation) => number,
): readonly Segment[] => {
  const runs: Segment[] = [];
  const least = Math.ceil(units.length / segmentsMax);
  for (const [from, unit] of units.entries()) {
    const kind = kinds[from] ?? "whole";
    const last = runs.at(-1);
    const joins = last?.kind === kind && (units.length <= segmentsMax ? units[from - 1]?.turn === unit.turn : true);
    if (last !== undefined && (joins || last.units < least))
      runs[runs.length - 1] = { ...last, tokens: last.tokens + tokensOf(unit), units: last.units + 1 };
    else runs.push({ kind, tokens: tokensOf(unit), units: 1, from });
  }
  return runs;
};

const segmentsMax = 200;

const itemOf = (unit: UnitExplanation, index: number): UnitItem => {
  const { turn, kind, messages, shown, rule, why, tokens, sentTokens } = unit;
  return {
    index,
    turn: turn === null ? "" : String(turn),
    name: rule === "summary" && shown === "whole" ? "summary" : kind === "message" ? (messages[0]?.role ?? kind) : kind,
    shown,
    rule,
    why: beginning(why),
    tokens,
    sentTokens,
    words: beginning(messages.map(wordsOf).join(" ")),
  };
};

const wordsOf = ({ parts }: Message): string => parts.map(partText).join(" ");
