import type { Message } from "../thread/message.ts";
import { turnsOnPath } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";
import { counted, type Counts } from "./counts.ts";
import type { Cut } from "./cut.ts";
import type { CutDecision, Situation } from "./decide-cut.ts";
import {
  type Beginning,
  isCutOff,
  leadingQuestion,
  pinsOf,
  showing,
  type Showing,
  showUnit,
  showUnits,
} from "./render.ts";
import type { Shrink } from "./shrink.ts";
import { sectionOf, type SummarySection, summarySections } from "./summary-message.ts";
import { isLeftOut, type Unit, unitsOf } from "./unit.ts";

/** The part of one unit that a prompt shows, and the reason. */
export interface UnitExplanation {
  /** The number of its turn: 0 for the seed, null for the system message. */
  readonly turn: number | null;
  /** The id of its first message. */
  readonly id: string;
  readonly kind: "system" | Unit["kind"];
  /** Its messages in the thread. */
  readonly messages: readonly Message[];
  /** Its messages in the prompt; empty if the prompt shows nothing of it. */
  readonly sent: readonly Message[];
  readonly shown: UnitShown;
  readonly rule: ExplanationRule;
  /** A text for a person. */
  readonly why: string;
  /** The tokens of the whole unit; null if the counter fails. */
  readonly tokens: number | null;
  /** The tokens of the shown part. */
  readonly sentTokens: number | null;
}

/** `summary`: the message that stands for older turns covers it. `out`: nothing in the prompt covers it. */
export type UnitShown = "whole" | "shrunk" | "summary" | "out";

/**
 * The rule that decided how a unit is shown. `fixed`: no policy may leave it out. `pinned`: it is always shown whole.
 * `question`: it belongs to a shown answer, since a prompt begins with a user message. `interrupted`: its turn did not
 * complete, and such turns are left out. The other rules are the policy's: `kept`, `older` than the first shown unit,
 * `dropped`, covered by a `summary`, or partly shown by `fields` or `shrink`.
 */
export type ExplanationRule =
  | "fixed"
  | "pinned"
  | "question"
  | "interrupted"
  | "kept"
  | "older"
  | "dropped"
  | "summary"
  | "fields"
  | "shrink";

/** The part of a decision that explains it. */
type Decision = Omit<CutDecision, "pressed">;

/** Explains each unit of the path: the system message, the seed, the closed turns, the open turn. */
export const explainUnits = (situation: Situation, decision: Decision): readonly UnitExplanation[] => {
  const { thread, system, open } = situation;
  const { cut } = decision;
  const pins = pinsOf(thread, cut.interrupted);
  const sections = cut.summarised === undefined ? [] : summarySections(thread, cut.summarised, cut);
  const explaining: Explaining = { situation, decision, sections, how: showing(cut, situation.counts.shrink) };
  const next = thread.turns.length + 1;
  const openCut: Cut = { ...nothingLeftOut(cut), ...(cut.shrink === undefined ? {} : { shrink: cut.shrink }) };
  const openHow = showing(openCut, situation.counts.shrink);
  const said = [
    ...ofTurn(explaining, unitsOf(0, thread.seed, pins.get(0)), null),
    ...turnsOnPath(thread).flatMap((turn) =>
      ofTurn(explaining, unitsOf(turn.number, toArray(turn.messages), pins.get(turn.number)), turn),
    ),
    ...unitsOf(next, open(), pins.get(next)).map((unit) => ofOpen(explaining, unit, openHow)),
  ];
  return [...(system === null ? [] : [ofSystem(explaining, system)]), ...withLead(explaining, said)];
};

/** Marks the question of an earlier turn that leads the prompt as shown, whatever the cut says. */
const withLead = (explaining: Explaining, said: readonly UnitExplanation[]): readonly UnitExplanation[] => {
  const { situation, how } = explaining;
  const lead = leadingQuestion(
    situation.thread,
    said.map(({ sent }) => sent).toReversed(),
    how,
    beginningOf(explaining, said),
  );
  return lead === null
    ? said
    : said.map((unit) => (unit.id === lead.id ? explained(explaining, unit, ofQuestion(unit, lead.messages)) : unit));
};

/** Returns the oldest turn that the prompt shows, as the renderer does. */
const beginningOf = ({ situation, how }: Explaining, said: readonly UnitExplanation[]): Beginning | null => {
  const { thread, open, isOpen } = situation;
  const { cut } = how;
  const sent = Map.groupBy(said, ({ turn }) => turn);
  const sentOf = (turn: number): readonly Message[] => (sent.get(turn) ?? []).flatMap((unit) => unit.sent);
  const first = cut.from?.turn ?? 0;
  if (first === 0 && sentOf(0).length > 0) return { turn: 0, messages: sentOf(0) };
  for (const turn of turnsOnPath(thread)) {
    if (turn.number < first || isLeftOut(turn, cut)) continue;
    const messages = sentOf(turn.number);
    if (messages.length > 0 || turn.messages.length === 0) return { turn: turn.number, messages };
  }
  return isOpen() ? { turn: thread.turns.length + 1, messages: open() } : null;
};

const ofQuestion = (unit: Explained, sent: readonly Message[]): Verdict => ({
  sent,
  shown: isSame(unit.messages, sent) ? "whole" : "shrunk",
  rule: "question",
  why: "the question of what is shown next",
});

/** Returns the tokens of messages, without the overhead of a prompt; null if the counter fails. */
export const tokensOfAll = (counts: Counts, messages: readonly Message[]): number | null =>
  counted(() => messages.reduce((total, message) => total + counts.message(message), 0));

/** Returns the tokens of a prompt; null if the counter fails. */
export const tokensOfPrompt = (counts: Counts, messages: readonly Message[]): number | null => {
  const { countPrompt, perPrompt } = counts.counter;
  if (countPrompt !== undefined) return counted(() => countPrompt(messages));
  const tokens = tokensOfAll(counts, messages);
  return tokens === null ? null : tokens + perPrompt;
};

interface Explaining {
  readonly situation: Situation;
  readonly decision: Decision;
  readonly sections: readonly SummarySection[];
  readonly how: Showing;
}

type Explained = Pick<UnitExplanation, "turn" | "id" | "kind" | "messages">;

type Verdict = Pick<UnitExplanation, "sent" | "shown" | "rule" | "why">;

const ofSystem = (explaining: Explaining, system: Message): UnitExplanation => {
  const messages = [system];
  const verdict: Verdict =
    explaining.decision.cut.system === "omit"
      ? { sent: [], shown: "out", rule: "dropped", why: reasonOf(explaining.decision, system.id) }
      : { sent: messages, shown: "whole", rule: "fixed", why: "the system message" };
  return explained(explaining, { turn: null, id: system.id, kind: "system", messages }, verdict);
};

const ofTurn = (explaining: Explaining, units: readonly Unit[], turn: Turn | null): readonly UnitExplanation[] => {
  const leftOut = turn !== null && isLeftOut(turn, explaining.decision.cut);
  const shown = showUnits(turn?.number ?? 0, units, explaining.how, leftOut);
  return units.map((unit, index) => ofClosed(explaining, unit, turn, shown[index] ?? []));
};

const ofClosed = (explaining: Explaining, unit: Unit, turn: Turn | null, sent: readonly Message[]): UnitExplanation => {
  const { situation, decision, how } = explaining;
  const leftOut = turn !== null && isLeftOut(turn, decision.cut);
  const isPinned = unit.messages.some(({ id }) => situation.thread.pins.some(({ message }) => message === id));
  const goesAlong = sent.length > 0 && (unit.pinned === true ? !isPinned : showUnit(unit, how, leftOut).length === 0);
  if (goesAlong) return explained(explaining, unit, ofQuestion(unit, sent));
  if (unit.pinned === true) return explained(explaining, unit, { sent, shown: "whole", rule: "pinned", why: "pinned" });
  return explained(
    explaining,
    unit,
    sent.length === 0 ? hidden(explaining, unit, turn, leftOut) : visible(unit, sent, decision),
  );
};

const ofOpen = (explaining: Explaining, unit: Unit, how: Showing): UnitExplanation => {
  const sent = showUnit(unit, how);
  if (unit.pinned === true) return explained(explaining, unit, { sent, shown: "whole", rule: "pinned", why: "pinned" });
  return explained(
    explaining,
    unit,
    isSame(unit.messages, sent)
      ? { sent, shown: "whole", rule: "fixed", why: "of the turn that is asked about" }
      : { sent, shown: "shrunk", rule: "shrink", why: shrinkWords(unit, how.cut) },
  );
};

const explained = ({ situation: { counts } }: Explaining, unit: Explained, verdict: Verdict): UnitExplanation => {
  const tokens = tokensOfAll(counts, unit.messages);
  return {
    turn: unit.turn,
    id: unit.id,
    kind: unit.kind,
    messages: unit.messages,
    ...verdict,
    tokens,
    sentTokens: verdict.shown === "whole" ? tokens : tokensOfAll(counts, verdict.sent),
  };
};

/** Returns why nothing is shown of a unit. It checks the same conditions as the renderer, in the same order. */
const hidden = ({ decision, sections, how }: Explaining, unit: Unit, turn: Turn | null, leftOut: boolean): Verdict => {
  const { cut, reason } = decision;
  const section = sectionOf(sections, unit.turn);
  if (section !== undefined) return { sent: [], shown: "summary", rule: "summary", why: sectionWords(section) };
  const out = { sent: [], shown: "out" } as const;
  if (leftOut && turn !== null)
    return { ...out, rule: "interrupted", why: `turn ${turn.number} ${endWords(turn)}, and such turns are left out` };
  if (isCutOff({ turn: unit.turn, unit: unit.position }, cut)) return { ...out, rule: "older", why: reason };
  return how.dropped?.has(unit.id) === true
    ? { ...out, rule: "dropped", why: reasonOf(decision, unit.id) }
    : { ...out, rule: "fields", why: fieldWords(unit, []) };
};

const visible = (unit: Unit, sent: readonly Message[], decision: Decision): Verdict => {
  const { cut } = decision;
  if (isSame(unit.messages, sent)) return { sent, shown: "whole", rule: "kept", why: keptWords(decision) };
  const fields = fieldWords(unit, sent);
  const shrink = shrinkWords(unit, cut);
  const why = [fields, shrink].filter((words) => words !== "").join("; ");
  return { sent, shown: "shrunk", rule: shrink === "" ? "fields" : "shrink", why };
};

const isSame = (whole: readonly Message[], sent: readonly Message[]): boolean =>
  whole.length === sent.length && whole.every((message, index) => message === sent[index]);

const nothingLeftOut = ({ policy, interrupted }: Cut): Cut => ({ policy, from: null, interrupted });

/** Returns a policy's reason. Never throws: reasons are foreign and unchecked. */
const reasonOf = ({ reason, reasons }: Decision, id: string): string => {
  try {
    const own: unknown = reasons?.[id];
    return typeof own === "string" ? own : reason;
  } catch {
    return reason;
  }
};

const endWords = ({ outcome: { status } }: Turn): string => (status === "failed" ? "failed" : `was ${status}`);

/** If the policy leaves out something else, its reason does not apply to this unit. */
const keptWords = ({ cut, reason }: Decision): string => {
  if (cut.from !== null) return `not older than ${positionWords(cut.from)}`;
  const { dropped, shrink, fields, system } = cut;
  return [dropped, shrink, fields, system].every((part) => part === undefined) ? reason : "nothing leaves it out";
};

const positionWords = ({ turn, unit }: { readonly turn: number; readonly unit: number }): string =>
  unit === 0 ? turnWords(turn) : `unit ${unit} of ${turnWords(turn)}`;

const turnWords = (turn: number): string => (turn === 0 ? "the seed" : `turn ${turn}`);

const sectionWords = ({ from, to, number }: SummarySection): string => {
  if (number === null) return "shown as a line made by rule";
  return from === to
    ? `shown as summary ${number}`
    : `shown as summary ${number}, of ${turnWords(from)} to ${turnWords(to)}`;
};

/** Returns a text that lists the hidden data fields; empty if all are shown. */
const fieldWords = (unit: Unit, sent: readonly Message[]): string => {
  const missing = unit.messages.flatMap((message) => {
    const shown = fieldsOf(sent.find(({ id }) => id === message.id));
    return fieldsOf(message).filter((field) => !shown.includes(field));
  });
  const names = [...new Set(missing)].map((field) => `"${field}"`);
  return names.length === 0 ? "" : `without ${names.join(", ")}`;
};

const fieldsOf = (message: Message | undefined): readonly string[] =>
  message?.parts.flatMap((part) => (part.type === "data" ? [part.field] : [])) ?? [];

/** Returns a text that lists the rules that change a unit; empty if there is none. */
const shrinkWords = (unit: Unit, cut: Cut): string => {
  const words: string[] = [];
  const { fields } = cut;
  let before = showUnit(unit, showing({ ...nothingLeftOut(cut), ...(fields === undefined ? {} : { fields }) }));
  for (const rule of cut.shrink ?? []) {
    const after = showUnit({ ...unit, messages: before }, showing({ ...nothingLeftOut(cut), shrink: [rule] }));
    if (!isSame(before, after)) words.push(ruleWords(rule));
    before = after;
  }
  return words.join("; ");
};

const ruleWords = ({ rule, of, characters }: Shrink): string => {
  const what = of === "toolResults" ? "results" : "messages";
  const how = {
    clear: `${what} of more than ${characters} characters are cleared`,
    headAndTail: `${what} are shown by head and tail, in ${characters} characters`,
    reference: `${what} are shown by their beginning, in ${characters} characters`,
  };
  return how[rule];
};
