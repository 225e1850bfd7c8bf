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

/** What must be shown, whatever is decided. */
export const fixedOf = ({ system, closed, open }: Seen): readonly Message[] => [
  ...(system === null ? [] : [system]),
  ...closed.flatMap(({ pinned, messages }) => (pinned ? messages : [])),
  ...open,
];

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
