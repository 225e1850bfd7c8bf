import {
  type Cut,
  type Fields,
  type Shrink,
  shrinkMessage,
  type Unit,
  type UnitPosition,
  unitsOf,
} from "@colloquy/machine/policies";
import { type Message, type Part, toolCallsOf } from "@colloquy/machine";
import { effectsOf } from "../../arbitraries/trace.ts";
import { differenceOf, LawBroken } from "../evidence/law-broken.ts";
import { brokenAt, type Look, looksOf, type PolicyLaw, type PolicyRun, type ShownPrompt } from "./policy-run.ts";
import { problemOfPrompt } from "../evidence/well-formed.ts";
import { isGap, messagesIn, withoutLeftOut } from "../evidence/said-units.ts";
import { withQuestions } from "../evidence/questions.ts";

/**
 * Checks P1: a prompt is a subsequence of the messages on the path; everything else in it is marked as synthesised.
 * Units are shown whole or left out. A shortened message keeps its id, its role, its calls, and all parts except texts,
 * data fields and tool results. A declared rule of the cut must have shortened it.
 */
export const shownIsSubsequence: PolicyLaw = (run) => looksOf(run).forEach(requireSubsequence);

/**
 * Checks P2: every prompt is well-formed, in every state, within every budget, and in every call. After the system
 * message and the summaries it begins with a user message, if an earlier one may be shown.
 */
export const shownIsWellFormed: PolicyLaw = (run) => {
  for (const { messages } of run.trace.steps.flatMap(({ transition }) => effectsOf(transition, "callLlm"))) {
    const problem = problemOfPrompt(messages);
    if (problem !== null) throw new LawBroken("P2", `the prompt of a call is not well-formed: ${problem}`);
  }
  for (const look of looksOf(run)) {
    const { messages } = look.prompt;
    // Between turns the prompt may be empty, because its question comes with the next ask.
    const problem = look.state.context.open === null && messages.length === 0 ? null : problemOfPrompt(messages);
    if (problem !== null) throw brokenAt("P2", look, ` is not well-formed: ${problem}`);
    // The cut decides, not the options: if a policy would show nothing, the machine shows interrupted turns too.
    requireQuestion({ ...look, said: withoutLeftOut(look.said, look.prompt.cut) });
  }
};

const requireQuestion = (look: Look): void => {
  const { messages, cut } = look.prompt;
  const first = messages.find(
    ({ id, role }) => role !== "system" && role !== "developer" && !id.startsWith("summary."),
  );
  // Between turns the question comes with the next ask.
  if (first?.role === "user" || (first === undefined && !look.said.isOpen)) return;
  const units = [...look.said.closed, ...look.said.open];
  const beginning =
    first === undefined ? units.length : units.findIndex((unit) => unit.messages.some(({ id }) => id === first.id));
  const question = units
    .slice(0, beginning)
    .flatMap((unit) => unit.messages)
    .find((message) => message.role === "user" && mayBeShown(message, cut.fields));
  if (question === undefined) return;
  const begins = first === undefined ? "says nothing" : `begins with ${first.role} message ${first.id}`;
  const words = ` ${begins}, and user message ${question.id} was said before`;
  throw brokenAt("P2", look, words);
};

/** Returns a function that tells whether the shown fields leave anything of a unit. */
export const hasWordsIn =
  ({ prompt: { cut } }: Look) =>
  ({ messages }: Unit): boolean =>
    messages.some((message) => mayBeShown(message, cut.fields));

const mayBeShown = (message: Message, fields: Fields | undefined): boolean =>
  message.parts.length === 0 ||
  message.parts.some((part) => part.type !== "data" || hasField(message, part.field, fields));

/**
 * Checks P3: the open turn and pinned units are whole. The open turn is at the end, with every unit in order. Only
 * declared rules of the cut shorten it, and none of them clears its newest round. Units with a pinned message are shown
 * unshortened, whatever the policy decides. So is the system message, unless it is omitted.
 */
export const openAndPinnedAreWhole: PolicyLaw = (run) => looksOf(run).forEach(requireWhole);

/** Checks P3 for one prompt. */
export const requireWhole = (look: ShownPrompt): void => {
  requireOpen(look);
  requirePinned(look);
};

/** Checks P1 for one prompt. */
export const requireSubsequence = (look: ShownPrompt): void => {
  const { system, closed, open } = look.said;
  const units = [...(system === null ? [] : unitsOf(0, [system])), ...closed, ...open];
  const said = units.flatMap((unit) => unit.messages.map((message) => ({ message, unit })));
  // A pinned unit brings its question along, as whole as it is itself.
  const pinned = { units: new Set(closed.filter((unit) => unit.pinned === true)), from: Number.POSITIVE_INFINITY };
  const whole = withQuestions({ ...look.said, open: [], isOpen: false }, pinned);
  const places = new Map(said.map((place, index) => [place.message.id, { ...place, index }]));
  const broken = (words: string): LawBroken => brokenAt("P1", look, `: ${words}`);
  let last = -1;
  for (const shown of look.prompt.messages) {
    const place = places.get(shown.id);
    if (place === undefined) {
      if (shown.synthesised !== true)
        throw broken(`message ${shown.id} was never said, and is not marked as synthesised`);
      continue;
    }
    if (place.index <= last) throw broken(`message ${shown.id} stands behind one that was said later, or twice`);
    last = place.index;
    const unit = whole.has(place.unit) ? { ...place.unit, pinned: true as const } : place.unit;
    const problem = problemOfShown(place.message, shown, closed.includes(place.unit) ? unit : null, look.prompt.cut);
    if (problem !== null) throw broken(`message ${shown.id} is shown ${problem}`);
  }
  const ids = new Set(look.prompt.messages.map(({ id }) => id));
  for (const { id, messages } of [...closed, ...open]) {
    const shown = messages.filter((message) => ids.has(message.id)).length;
    // A message is left out if all its fields are; the messages of rounds have no fields.
    if (shown > 0 && shown < messages.length)
      throw broken(`of unit ${id} only ${shown} of ${messages.length} messages are shown`);
  }
};

/** Describes a difference that is not allowed; null if there is none. `unit` is null if its turn is not closed. */
const problemOfShown = (said: Message, shown: Message, unit: Unit | null, cut: Cut): string | null => {
  if (said.role !== shown.role) return `under the role ${shown.role}`;
  if (differenceOf(toolCallsOf(said), toolCallsOf(shown)) !== null) return "with other calls";
  if (differenceOf(said.parts.filter(isFirm), shown.parts.filter(isFirm)) !== null) return "with other parts";
  // A running call has no result yet; P3 compares the open turn.
  if (isGap(said) || unit === null) return null;
  const difference = differenceOf(asDeclared(said, unit, cut).parts, shown.parts);
  return difference === null ? null : `otherwise than the cut declares: ${difference}`;
};

/** Returns a message of a closed turn with its shown fields, shortened by the declared rules. */
const asDeclared = (message: Message, unit: Unit, { shrink = [], fields }: Cut): Message => {
  if (unit.pinned === true) return message;
  const at = { turn: unit.turn, unit: unit.position };
  const parts = message.parts.filter((part) => part.type !== "data" || hasField(message, part.field, fields));
  return shrinkMessage(
    { ...message, parts },
    shrink.filter((rule) => isBefore(at, rule)),
  );
};

const hasField = ({ role }: Message, field: string, { omit = [], inputs }: Fields = {}): boolean =>
  !omit.includes(field) && (role !== "user" || inputs === undefined || inputs.includes(field));

/** Returns whether a part may neither be shortened nor left out. */
const isFirm = ({ type }: Part): boolean => type !== "text" && type !== "data" && type !== "toolResult";

const requireOpen = (look: ShownPrompt): void => {
  const { open } = look.said;
  const { messages, cut } = look.prompt;
  const newest = open.findLast(({ kind }) => kind === "round");
  const expected = open.flatMap((unit) => expectedOf(unit, cut, unit === newest));
  const end = expected.length === 0 ? [] : messages.slice(-expected.length);
  for (const [index, message] of expected.entries()) {
    const shown = end[index];
    if (shown?.id !== message.id)
      throw brokenAt("P3", look, `: ${shown?.id ?? "nothing"} stands where ${message.id} of the open turn should`);
    const difference = isGap(message) ? null : differenceOf(message.parts, shown.parts);
    if (difference !== null)
      throw brokenAt("P3", look, `: message ${message.id} of the open turn is not as its rules make it: ${difference}`);
  }
};

/** Returns the messages of a unit of the open turn, shortened by the declared rules. */
const expectedOf = (unit: Unit, { shrink = [] }: Cut, isNewest: boolean): readonly Message[] => {
  if (unit.pinned === true) return unit.messages;
  const at = { turn: unit.turn, unit: unit.position };
  const rules = shrink.filter((rule) => isBefore(at, rule) && !(isNewest && rule.rule === "clear"));
  return unit.messages.map((message) => shrinkMessage(message, rules));
};

const isBefore = (at: UnitPosition, { before }: Shrink): boolean =>
  before === undefined || at.turn < before.turn || (at.turn === before.turn && at.unit < before.unit);

const requirePinned = (look: ShownPrompt): void => {
  const { system, closed } = look.said;
  const { messages, cut } = look.prompt;
  const shown = new Map(messages.map((message) => [message.id, message]));
  const kept = system === null || cut.system === "omit" ? [] : [system];
  for (const message of [...kept, ...messagesIn(closed.filter(({ pinned }) => pinned === true))]) {
    const difference = differenceOf(message, shown.get(message.id));
    if (difference !== null)
      throw brokenAt("P3", look, `: message ${message.id} must be shown as it is: ${difference}`);
  }
};

export const looksWithSystem = ({ views }: PolicyRun): readonly Look[] =>
  views.flatMap(({ looks, said: { system } }) =>
    system === null ? [] : looks.filter(({ prompt }) => prompt.failed === undefined),
  );

export const showsSystem = ({ said: { system }, prompt }: Look): boolean =>
  prompt.messages.some(({ id }) => id === system?.id);
