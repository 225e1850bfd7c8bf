import {
  type ConversationMachine,
  conversationMachine,
  type Message,
  promptOf,
  type State,
  toArray,
  toolCallsOf,
  turnsOf,
} from "@colloquy/machine";

/** All that a thread could show at a step, found out without any policy, and plainly. */
export interface Seen {
  readonly state: State;
  /** Oldest first; the system message, where there is one, leads. */
  readonly whole: readonly Message[];
  readonly places: ReadonlyMap<string, number>;
  readonly system: Message | null;
  /** Closed units, oldest first. */
  readonly closed: readonly SeenUnit[];
  readonly open: readonly Message[];
  /** A model call is out, so the prompt is the one that was sent. */
  readonly calling: boolean;
}

export interface SeenUnit {
  /** 0 for what stood before the first turn. */
  readonly turn: number;
  readonly messages: readonly Message[];
  readonly pinned: boolean;
  /** Of a turn that was cancelled or failed. */
  readonly interrupted: boolean;
}

export const seenOf = (state: State): Seen => {
  const whole = promptOf(showingAll, state).messages;
  const { conversation, open } = state.context;
  const turns = new Map(turnsOf(state).flatMap((turn) => toArray(turn.messages).map(({ id }) => [id, turn] as const)));
  const seeded = new Set(conversation.seed.map(({ id }) => id));
  const pins = new Set(conversation.pins.map(({ message }) => message));
  const closed: SeenUnit[] = [];
  const opened: Message[] = [];
  for (const messages of roundsOf(whole.filter(({ id }) => id !== conversation.system?.id))) {
    const id = messages[0]?.id ?? "";
    const turn = turns.get(id);
    if (turn === undefined && !seeded.has(id)) {
      opened.push(...messages);
      continue;
    }
    const pinned = messages.some((message) => pins.has(message.id));
    const interrupted = turn !== undefined && turn.outcome.status !== "completed";
    closed.push({ turn: turn?.number ?? 0, messages, pinned, interrupted });
  }
  return {
    state,
    whole,
    places: new Map(whole.map(({ id }, place) => [id, place])),
    system: conversation.system,
    closed,
    open: opened,
    calling: open?.stage.type === "responding",
  };
};

/** Returns the messages that every decision must show. */
export const fixedOf = (seen: Seen, interrupted: "keep" | "omit"): readonly Message[] =>
  withQuestions(seen, ({ pinned }) => pinned, interrupted);

/** A prompt of some closed units, with the questions that go with them: so that it begins with a user message, if one was said. */
export const withQuestions = (
  { system, closed, open }: Seen,
  isShown: (unit: SeenUnit) => boolean,
  interrupted: "keep" | "omit",
): readonly Message[] => {
  const shown = new Set(closed.filter(isShown));
  for (const unit of closed.filter(isShown)) {
    const own = ownQuestion(closed, unit);
    const other = unit.pinned && isOfModel(unit.messages) ? questionBefore(closed, unit, interrupted) : undefined;
    const question = own ?? other;
    if (question !== undefined) shown.add(question);
  }
  const first = closed.find((unit) => shown.has(unit) && !isAside(unit.messages));
  const begins = first?.messages ?? open.filter((message) => !isAside([message]));
  const lead = isOfModel(begins) ? questionBefore(closed, first, interrupted) : undefined;
  const units = closed.filter((unit) => shown.has(unit) || unit === lead);
  return [...(system === null ? [] : [system]), ...units.flatMap(({ messages }) => messages), ...open];
};

/** The first user message of a unit's own turn, where that is before it. */
const ownQuestion = (closed: readonly SeenUnit[], unit: SeenUnit): SeenUnit | undefined =>
  closed
    .slice(0, closed.indexOf(unit))
    .find(({ turn, messages }) => turn > 0 && turn === unit.turn && messages[0]?.role === "user");

/** The nearest before a unit, or before all that is open: of an earlier turn its first user message, of the seed any. */
const questionBefore = (
  closed: readonly SeenUnit[],
  unit: SeenUnit | undefined,
  interrupted: "keep" | "omit",
): SeenUnit | undefined =>
  closed
    .slice(0, unit === undefined ? closed.length : closed.indexOf(unit))
    .findLast(
      (other) =>
        other.messages[0]?.role === "user" &&
        ownQuestion(closed, other) === undefined &&
        (interrupted === "keep" || !other.interrupted),
    );

const isOfModel = (messages: readonly Message[]): boolean =>
  messages[0]?.role === "assistant" || messages[0]?.role === "tool";

const isAside = (messages: readonly Message[]): boolean =>
  messages[0]?.role === "system" || messages[0]?.role === "developer";

const showingAll: ConversationMachine = conversationMachine({ unknownTool: "ask", interrupted: "keep" });

/** A message with calls and the results behind it belong together; any other stands alone. */
const roundsOf = (messages: readonly Message[]): readonly (readonly Message[])[] => {
  const rounds: Message[][] = [];
  let results = 0;
  for (const message of messages) {
    if (results > 0 && message.role === "tool") {
      rounds.at(-1)?.push(message);
      results--;
    } else {
      rounds.push([message]);
      results = toolCallsOf(message).length;
    }
  }
  return rounds;
};
