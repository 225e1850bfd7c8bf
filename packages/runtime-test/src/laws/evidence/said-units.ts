import { type Counter, type Unit, unitsOf } from "@colloquy/machine/policies";
import {
  type MachineOptions,
  type Message,
  messageFromDraft,
  type OpenTurn,
  type State,
  toArray,
  type Turn,
} from "@colloquy/machine";
import { LawBroken } from "./law-broken.ts";
import { type HasWords, ownQuestion, withQuestions } from "./questions.ts";
import { draftsOfAsk } from "./utterance.ts";

/** What was said, as it stands in the thread and before any policy. Read by the slowest way there is. */
export interface SaidUnits {
  readonly system: Message | null;
  /** Units of the seed and of the closed turns on the path, oldest first; those that are pinned say so. */
  readonly closed: readonly Unit[];
  /** Units of the turn that is open, with a result for each call that is out, and with what asks say that join it; or of what waits for the next one. */
  readonly open: readonly Unit[];
  /** Closed turns on the path, by number. */
  readonly turns: ReadonlyMap<number, Turn>;
}

/** The units of a thread on its path. */
export const saidUnits = (state: State): SaidUnits => {
  const { conversation } = state.context;
  const all = toArray(conversation.turns);
  const pins = new Set(conversation.pins.map(({ message }) => message));
  const turns = new Map<number, Turn>();
  for (let number = conversation.head; number !== 0;) {
    const turn = all.find((candidate) => candidate.number === number);
    if (turn === undefined) throw new LawBroken("P8", `turn ${number} is on the path and not in the thread`);
    turns.set(number, turn);
    number = turn.parent;
  }
  const path = [...turns.values()].reverse();
  return {
    system: conversation.system,
    closed: [
      ...unitsOf(0, conversation.seed, pins),
      ...path.flatMap((turn) => unitsOf(turn.number, toArray(turn.messages), pins)),
    ],
    open: unitsOf(all.length + 1, openMessages(state), pins),
    turns,
  };
};

/** The messages of units, in order. */
export const messagesIn = (units: readonly Unit[]): readonly Message[] => units.flatMap(({ messages }) => messages);

/** The messages that take room whatever is decided: the system message, what is pinned, the open turn, and their questions. */
export const fixedIn = (said: SaidUnits, hasWords?: HasWords): readonly Message[] =>
  wholeWith(said, ({ pinned }) => pinned === true, hasWords);

/** The messages of a prompt that shows some of the closed units, and the questions that go with them. */
export const wholeWith = (
  said: SaidUnits,
  isShown: (unit: Unit, index: number) => boolean,
  hasWords?: HasWords,
): readonly Message[] => {
  const led = withQuestions(said.closed, said.open, new Set(said.closed.filter(isShown)), hasWords);
  return wholeOf({ ...said, closed: said.closed.filter((unit) => led.has(unit)) });
};

/** All messages of a prompt that leaves nothing out. */
export const wholeOf = ({ system, closed, open }: SaidUnits): readonly Message[] => [
  ...(system === null ? [] : [system]),
  ...messagesIn(closed),
  ...messagesIn(open),
];

/** Whether a message stands for the unknown result of a call that still runs. */
export const isGap = ({ synthesised, digest }: Message): boolean => synthesised === true && digest === "";

/** What was said, with what a prompt shows in place of results that are still unknown. */
export const withGapsFilled = (said: SaidUnits, shown: readonly Message[]): SaidUnits => {
  const byId = new Map(shown.map((message) => [message.id, message]));
  const filled = (message: Message): Message => (isGap(message) ? (byId.get(message.id) ?? message) : message);
  return { ...said, open: said.open.map((unit) => ({ ...unit, messages: unit.messages.map(filled) })) };
};

/** What was said, without the turns that are left out because they were interrupted, but for what is pinned in them and its question. */
export const withoutLeftOut = (said: SaidUnits, { interrupted }: Pick<MachineOptions, "interrupted">): SaidUnits => {
  if (interrupted !== "omit") return said;
  const turns = new Map([...said.turns].filter(([, { outcome }]) => outcome.status === "completed"));
  const along = new Set(
    said.closed.flatMap((unit) => (unit.pinned === true ? (ownQuestion(said.closed, unit) ?? []) : [])),
  );
  const closed = said.closed.filter(
    (unit) => unit.turn === 0 || turns.has(unit.turn) || unit.pinned === true || along.has(unit),
  );
  return { ...said, turns, closed };
};

/** Tokens of a prompt, counted part by part; null where the counter can't. */
export const tokensOf = (counter: Counter, messages: readonly Message[]): number | null => {
  try {
    const tokens = counter.countPrompt?.(messages) ?? sumOfTokens(counter, messages);
    return Number.isFinite(tokens) ? tokens : null;
  } catch {
    return null;
  }
};

/** Tokens of messages one by one, and what each prompt costs beside them. */
export const sumOfTokens = (counter: Counter, messages: readonly Message[]): number => {
  let tokens = counter.perPrompt;
  for (const { parts } of messages) {
    tokens += counter.perMessage;
    for (const part of parts) tokens += counter.countPart(part);
  }
  return tokens;
};

/** A call that still runs stands with a message of its id, whose content is still unknown. */
const openMessages = ({ context: { open, conversation } }: State): readonly Message[] => {
  if (open === null) return conversation.appended;
  const { stage } = open;
  const results =
    stage.type === "running"
      ? stage.calls.map(({ callId, providerCallId, name, result }): Message => {
          if (result !== null) return result;
          const part = {
            type: "toolResult",
            callId,
            providerCallId,
            name,
            outcome: "interrupted",
            content: [],
          } as const;
          return { id: callId, role: "tool", parts: [part], digest: "", synthesised: true };
        })
      : [];
  return [...toArray(open.messages), ...results, ...open.waiting, ...joiningMessages(open)];
};

/** What asks say that join a turn, as its next prompt shows it. */
export const joiningMessages = (open: OpenTurn | null): readonly Message[] =>
  (open?.joining ?? [])
    .flatMap(draftsOfAsk)
    .map((draft, index) => messageFromDraft(`${open?.number}.${(open?.made ?? 0) + index}`, draft));

/** What was set aside of a turn when it ended: answers that were refused as its output, and what was said of them. */
export const refusedMessages = ({ refusedOutputs = [] }: Pick<Turn, "refusedOutputs">): readonly Message[] =>
  refusedOutputs.flatMap(({ reply, request }) => [reply, ...(request === undefined ? [] : [request])]);
