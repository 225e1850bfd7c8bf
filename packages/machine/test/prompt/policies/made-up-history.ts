import {
  type Budget,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
} from "../../../src/index.ts";
import {
  type Counter,
  countPrompt,
  type Cut,
  type HistoryTurn,
  type PolicyDecision,
  type PolicyInput,
  type Unit,
  type UnitPosition,
  unitsOf,
} from "../../../src/policies.ts";
import { withFields } from "../../../src/prompt/cut.ts";
import { appliesAt, type Shrink, shrinkMessage } from "../../../src/prompt/shrink.ts";
import type { Summary } from "../../../src/thread/turn.ts";

/** A handmade conversation for a policy. Omitted members are empty, or as in a machine without options. */
export interface MadeUp {
  readonly system?: Message | null;
  readonly seed?: readonly Message[];
  /** Closed turns, oldest first. Their numbers ascend, with gaps where the head was moved. */
  readonly turns?: readonly MadeUpTurn[];
  /** The messages of the open turn, or those that wait for the next one. */
  readonly open?: readonly Message[];
  /** Default false. */
  readonly isOpen?: boolean;
  /** Ids of pinned messages. */
  readonly pins?: readonly string[];
  readonly budget?: Budget | null;
  readonly calibration?: number;
  readonly counter?: Counter;
  readonly lastCut?: Cut | null;
  readonly withoutSummary?: boolean;
}

export interface MadeUpTurn {
  readonly number: number;
  readonly messages: readonly Message[];
  readonly interrupted?: boolean;
  readonly summaries?: readonly Summary[];
  readonly summaryFailures?: number;
}

/** A budget without a reserve. */
export const budgeted = (tokens: number): Pick<MadeUp, "budget"> => ({ budget: { tokens, reserve: 0 } });

/** How much a policy read. */
export interface Looked {
  /** The closed turns that it got. */
  turns: number;
  /** The turns whose units it requested. */
  units: number;
  /** The whole prompts that it had measured. */
  measured: number;
}

/** Returns the input of a policy for a conversation. Counts everything again each time. */
export const inputOf = (made: MadeUp, looked: Looked = { turns: 0, units: 0, measured: 0 }): PolicyInput => {
  const { budget = null, calibration = 1, counter = characters, lastCut = null, withoutSummary = false } = made;
  const count = (message: Message): number => countAll(counter, [message]) - countAll(counter, []);
  return {
    history: {
      newestFirst: function* () {
        for (const turn of closedOf(made).reverse()) {
          looked.turns++;
          yield historyTurn(made, turn, count, looked);
        }
      },
      fixed: () => fixedOf(made),
      fixedTokens: () =>
        countAll(
          counter,
          fixedOf(made).flatMap(({ messages }) => messages),
        ),
      lead: (from, isShown) => {
        const start = closedUnits(made).filter((unit) => !isBefore(positionOf(unit), from));
        const shown = new Set([...closedUnits(made).filter(({ pinned }) => pinned === true), ...start]);
        // The seed has no question; one of its user messages leads it.
        const isOther = ({ turn }: Unit): boolean => turn !== from.turn || turn === 0;
        return (
          [...withQuestions(made, shown, from.turn, isShown)].find((unit) => !shown.has(unit) && isOther(unit)) ?? null
        );
      },
      summaryTokens: ({ from, to }) => {
        const lines = summaryLines(made, from, to);
        return lines.length === 0 ? 0 : count(summaryMessage(lines));
      },
    },
    available: budget === null ? null : Math.floor((budget.tokens - budget.reserve) / calibration),
    budget,
    calibration,
    counter,
    count,
    shrink: shrinkMessage,
    measure: (decision) => {
      looked.measured++;
      return countAll(counter, shownBy(made, decision));
    },
    lastCut,
    withoutSummary,
  };
};

/** Renders the prompt of a decision in the simplest way. */
export const shownBy = (made: MadeUp, decision: Omit<PolicyDecision, "reason">): readonly Message[] => {
  const { summarised, system } = decision;
  const shown = (unit: Unit): readonly Message[] =>
    unit.pinned === true
      ? unit.messages
      : withFieldsOf(unit, decision).map((message) => shrinkMessage(message, rulesAt(made, decision, unit)));
  const closed = shownByAll(made, [decision]);
  const lines = summarised === undefined ? [] : summaryLines(made, summarised.from, summarised.to);
  const open = openUnits(made).flatMap((unit) =>
    unit.pinned === true
      ? unit.messages
      : unit.messages.map((message) => shrinkMessage(message, rulesAt(made, decision, unit))),
  );
  return [
    ...(made.system === undefined || made.system === null || system === "omit" ? [] : [made.system]),
    ...(lines.length === 0 ? [] : [summaryMessage(lines)]),
    ...closed.flatMap(shown),
    ...open,
  ];
};

/** Returns the closed units that all decisions show, with their questions. */
export const shownByAll = (made: MadeUp, decisions: readonly Omit<PolicyDecision, "reason">[]): readonly Unit[] => {
  const hasWords = (unit: Unit): boolean =>
    unit.pinned === true || decisions.every((decision) => withFieldsOf(unit, decision).length > 0);
  const chosen = closedUnits(made).filter((unit) =>
    decisions.every(({ from, dropped = [] }) => {
      const isOld = from !== null && isBefore(positionOf(unit), from);
      return unit.pinned === true || (!isOld && !dropped.includes(unit.id));
    }),
  );
  const from = Math.max(0, ...decisions.map((decision) => decision.from?.turn ?? 0));
  const led = withQuestions(made, new Set(chosen.filter(hasWords)), from, hasWords);
  return closedUnits(made).filter((unit) => led.has(unit));
};

const withFieldsOf = ({ messages }: Unit, { fields }: Omit<PolicyDecision, "reason">): readonly Message[] =>
  fields === undefined ? messages : messages.flatMap((one) => withFields(one, fields) ?? []);

/** Returns the cut that a machine would keep of a decision. */
export const cutOf = (decision: PolicyDecision): Cut => {
  const { reason: _reason, reasons: _reasons, pressed: _pressed, summarised, ...shown } = decision;
  return {
    policy: "made-up@1",
    interrupted: "keep",
    ...shown,
    ...(summarised === undefined ? {} : { summarised: { ...summarised, upTo: Number.MAX_SAFE_INTEGER } }),
  };
};

/** Returns all closed units, oldest first. */
export const closedUnits = (made: MadeUp): readonly Unit[] => madeUnits(made);

/**
 * Returns one list for each conversation, so that its units keep their identity. The question of a pinned unit is
 * pinned too.
 */
const madeUnits = (made: MadeUp): readonly Unit[] => {
  const known = unitsOfMade.get(made);
  if (known !== undefined) return known;
  const units = closedOf(made).flatMap((turn) => unitsIn(made, turn));
  const pinned = new Set(
    units
      .filter((unit) => unit.pinned === true)
      .flatMap((unit) => [unit, questionFor(units, unit) ?? (isOfModel(unit) ? questionBefore(units, unit) : unit)]),
  );
  const all = units.map((unit) => (pinned.has(unit) ? { ...unit, pinned: true as const } : unit));
  unitsOfMade.set(made, all);
  return all;
};

const unitsOfMade = new WeakMap<MadeUp, readonly Unit[]>();

const roleOf = ({ messages }: Unit): string => messages[0]?.role ?? "";

const isOfModel = (unit: Unit): boolean => roleOf(unit) === "assistant";

/** Returns the first user message of a unit's turn, if it is before the unit. */
const questionFor = (units: readonly Unit[], { turn: number, position }: Unit): Unit | undefined =>
  units.find((one) => number > 0 && one.turn === number && roleOf(one) === "user" && one.position < position);

/** Returns the nearest question of an earlier turn, or in the seed the nearest user message. */
const questionBefore = (
  units: readonly Unit[],
  unit: Pick<Unit, "turn" | "position"> | null,
  isShown: (unit: Unit) => boolean = () => true,
): Unit | undefined =>
  units
    .filter(
      (one) =>
        unit === null || (isBefore(positionOf(one), positionOf(unit)) && (one.turn === 0 || one.turn < unit.turn)),
    )
    .filter((one) => roleOf(one) === "user" && questionFor(units, one) === undefined && isShown(one))
    .at(-1);

/** Returns the shown messages, with the questions that belong to them. */
const withQuestions = (
  made: MadeUp,
  shown: ReadonlySet<Unit>,
  from: number,
  isShown: (unit: Unit) => boolean = () => true,
): ReadonlySet<Unit> => {
  const units = closedUnits(made);
  const led = new Set(shown);
  for (const unit of shown) {
    const question = questionFor(units, unit);
    if (question !== undefined && isShown(question)) led.add(question);
  }
  const [first] = [...units.filter((unit) => led.has(unit)), ...openUnits(made)].filter((unit) => !isAside(unit));
  const isOpen = first !== undefined && first.turn === openNumber(made);
  const silent = silentTurn(made, led, from);
  const lead =
    first !== undefined && isOfModel(first)
      ? questionBefore(units, isOpen ? null : first, isShown)
      : silent === null || (first !== undefined && first.turn <= silent.turn)
        ? undefined
        : questionBefore(units, silent, isShown);
  if (lead !== undefined) led.add(lead);
  return led;
};

/** The beginning of the oldest shown turn, where nothing is said in it. */
const silentTurn = (made: MadeUp, led: ReadonlySet<Unit>, from: number): Pick<Unit, "turn" | "position"> | null => {
  for (const { number, messages } of closedOf(made)) {
    const [first, ...others] = closedUnits(made).filter((unit) => unit.turn === number && led.has(unit));
    if (number < from || (first === undefined && messages.length > 0)) continue;
    return [first, ...others].some((unit) => unit !== undefined && !isAside(unit))
      ? null
      : { turn: number, position: first?.position ?? 0 };
  }
  const isSilent = made.isOpen === true && openUnits(made).every(isAside);
  return isSilent ? { turn: openNumber(made), position: 0 } : null;
};

const isAside = (unit: Unit): boolean => ["system", "developer"].includes(roleOf(unit));

/** Counts UTF-16 units, so that sums are easy to check: one for each message, none for a prompt. */
export const characters: Counter = {
  name: "characters",
  version: 1,
  options: {},
  perMessage: 1,
  perPrompt: 0,
  countPart: (part) => {
    switch (part.type) {
      case "text":
      case "reasoning":
      case "refusal":
        return part.text.length;
      case "toolCall":
        return part.name.length + part.arguments.length;
      case "toolResult":
        return part.content.reduce((total, inner) => total + characters.countPart(inner), 0);
      case "data":
        return part.field.length + JSON.stringify(part.value).length;
      case "image":
      case "opaque":
        return 10;
    }
  },
};

/** Counts the whole prompt in steps of ten characters, so that the sum of its messages does not give its cost. */
export const inSteps: Counter = {
  ...characters,
  name: "in-steps",
  countPrompt: (messages) => Math.ceil(countPrompt(characters, messages) / 10),
};

/** Makes a text message; an empty text makes a message without parts. */
export const said = (id: string, role: "system" | "user" | "assistant", text: string): Message =>
  messageFromDraft(id, { role, content: text });

/** Makes a message with data fields. */
export const saidFields = (
  id: string,
  role: "user" | "assistant",
  fields: { readonly [field: string]: string },
): Message =>
  messageFromDraft(id, {
    role,
    content: Object.entries(fields).map(([field, value]) => ({ type: "data", field, value })),
  });

/** Makes an assistant message with a call for each result, and the results. */
export const round = (id: string, text: string, results: readonly string[]): readonly Message[] => {
  const reply = messageFromReply(id, id, {
    content: text,
    toolCalls: results.map((_, position) => ({ id: `call_${position}`, name: "look", arguments: "{}" })),
  });
  const calls = reply.parts.flatMap((part) => (part.type === "toolCall" ? [part] : []));
  return [reply, ...calls.map((call, position) => messageFromResult(call, "completed", results[position] ?? ""))];
};

/** Makes the messages of a turn: texts alternate between user and assistant, and lists are the results of a round. */
export const messagesOf = (number: number, said_: readonly (string | readonly string[])[]): readonly Message[] =>
  said_.flatMap((one, index) =>
    typeof one === "string"
      ? [said(`${number}.${index}`, index % 2 === 0 ? "user" : "assistant", one)]
      : round(`${number}.${index}`, "", one),
  );

/** Makes a closed turn. */
export const turn = (number: number, ...said_: readonly (string | readonly string[])[]): MadeUpTurn => ({
  number,
  messages: messagesOf(number, said_),
});

const closedOf = ({ seed = [], turns = [] }: MadeUp): MadeUpTurn[] => [
  ...(seed.length > 0 ? [{ number: 0, messages: seed }] : []),
  ...turns,
];

const historyTurn = (
  made: MadeUp,
  { number, messages, interrupted = false, summaries = [], summaryFailures = 0 }: MadeUpTurn,
  count: (message: Message) => number,
  looked: Looked,
): HistoryTurn => {
  const units = (): readonly Unit[] => closedUnits(made).filter((unit) => unit.turn === number);
  return {
    number,
    interrupted,
    length: messages.length,
    units: () => {
      looked.units++;
      return units();
    },
    tokens: () =>
      units()
        .filter(({ pinned }) => pinned !== true)
        .flatMap((unit) => unit.messages)
        .reduce((total, message) => total + count(message), 0),
    summaries,
    summaryFailures,
  };
};

/** Returns a machine's fixed units: the system message, pinned ones of closed turns, the open turn. */
const fixedOf = (made: MadeUp): readonly Unit[] => [
  ...(made.system === undefined || made.system === null ? [] : unitsOf(0, [made.system])),
  ...closedUnits(made).filter(({ pinned }) => pinned === true),
  ...openUnits(made),
];

const openUnits = (made: MadeUp): readonly Unit[] => unitsOf(openNumber(made), made.open ?? [], new Set(made.pins));

const openNumber = ({ turns = [] }: MadeUp): number => (turns.at(-1)?.number ?? 0) + 1;

const unitsIn = (made: MadeUp, { number, messages }: MadeUpTurn): readonly Unit[] =>
  unitsOf(number, messages, new Set(made.pins));

/** Returns the rules for a unit. `clear` never covers the open turn's newest round. */
const rulesAt = (made: MadeUp, { shrink = [] }: Pick<PolicyDecision, "shrink">, unit: Unit): readonly Shrink[] =>
  shrink.filter((rule) => {
    const newest = openUnits(made).findLast(({ kind }) => kind === "round")?.position ?? 0;
    const spared = rule.rule === "clear" && unit.turn === openNumber(made) && unit.position >= newest;
    return !spared && appliesAt(rule, positionOf(unit));
  });

const summaryMessage = (lines: readonly string[]): Message =>
  said("summaries", "user", `Earlier in this conversation:\n${lines.join("\n")}`);

/** Returns summaries, newest first, the furthest-reaching for each turn; its first message for a turn without one. */
const summaryLines = (made: MadeUp, from: number, to: number): readonly string[] => {
  const lines: string[] = [];
  let reached = to + 1;
  for (const { number, messages, summaries = [] } of closedOf(made).reverse()) {
    if (number >= reached || number < from) continue;
    const best = summaries
      .filter((summary) => summary.from >= from)
      .reduce<Summary | null>((most, next) => (most === null || next.from <= most.from ? next : most), null);
    const name = best === null || best.from === number ? `Turn ${number}` : `Turns ${best.from} to ${number}`;
    lines.unshift(`[${name}] ${best?.text ?? `Asked: ${messages[0]?.id ?? "nothing"}`}`);
    reached = best?.from ?? number;
  }
  return lines;
};

const countAll = (counter: Counter, messages: readonly Message[]): number => countPrompt(counter, messages);

const positionOf = ({ turn, position }: Pick<Unit, "turn" | "position">): UnitPosition => ({ turn, unit: position });

const isBefore = (left: UnitPosition, right: UnitPosition): boolean =>
  left.turn < right.turn || (left.turn === right.turn && left.unit < right.unit);
