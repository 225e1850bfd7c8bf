import {
  type AnswerableEffect,
  type CallLlm,
  type ConversationData,
  conversationMachine,
  type Effect,
  type Event,
  type Handled,
  type LaterEntry,
  type Message,
  outstanding,
  promptOf,
  type State,
  start,
  transition,
  type Usage,
} from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { keepAll, lastTurns } from "@colloquy/machine/policies";
import { realSubject, type Subject } from "@colloquy/runtime-test/arbitraries";

// Each of these is one of the machine's functions, and wrong in one way.

export const counting = (): typeof transition => {
  let count = 0;
  return altering((told) => withContext(told, ({ metadata }) => ({ metadata: { ...metadata, count: count++ } })));
};

export const readingAClock = (): typeof transition =>
  altering((told) => withContext(told, () => ({ updatedAt: performance.now() })));

export const moody = (): typeof promptOf => {
  let looks = 0;
  return (machine, state) => ({ ...promptOf(machine, state), reason: looks++ % 2 === 0 ? "a" : "b" });
};

export const throwingWhenStale: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  if (!told.handled && told.refusal.kind === "stale") throw new Error("nobody waits for this");
  return told;
};

export const copyingWhenRefused: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  return told.handled ? told : { ...told, state: { ...state } };
};

export const takingSystemAway: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  if (told.handled || told.refusal.kind !== "busy" || !event.type.startsWith("system.")) return told;
  const entry: LaterEntry = { seq: state.context.seq + 1, event };
  return { handled: true, state: foldEntry(state, entry), effects: [], entry };
};

export const silent: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  return told.handled ? told : { ...told, refusal: { ...told.refusal, reason: "" } };
};

export const oneBehind: typeof transition = altering((told) => ({
  ...told,
  entry: { ...told.entry, seq: told.entry.seq - 1 },
}));

export const keepingADate: typeof transition = altering((told) =>
  // The cast is the fault: a date is not JSON.
  withContext(told, () => ({ metadata: { when: new Date(0) as unknown as string } })),
);

export const keepingUndefined: typeof transition = altering((told) => ({
  ...told,
  effects: told.effects.map((effect) => Object.assign({}, effect, { note: undefined })),
}));

export const knowingByReference = (): typeof transition => {
  const known = new WeakSet<State>();
  return (machine, state, event) => {
    const told = transition(machine, state, event);
    known.add(told.state);
    return told.handled && state.context.seq > 0 && !known.has(state) ? { ...told, effects: [] } : told;
  };
};

export const pushing: typeof transition = (machine, state, event) => {
  if (event.type === "message.appended") {
    // The cast is the fault: the list is read-only for a reason.
    (state.context.conversation.appended as Message[]).push();
    Object.assign(state.context.conversation.appended, { 0: undefined });
  }
  return transition(machine, state, event);
};

export const writingIntoEvent: typeof transition = (machine, state, event) =>
  transition(machine, state, Object.assign(event, { at: 0 }));

export const handingOutWhatIsLive: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  return told.handled ? { ...told, state: structuredClone(told.state) } : told;
};

export const keepingTheEvent: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  return told.handled ? { ...told, entry: { ...told.entry, event } } : told;
};

export const foldWithoutDecisions: typeof fold = (entries) =>
  fold(
    entries.map((entry) => {
      if (!("decided" in entry)) return entry;
      const { decided: _, ...bare } = entry;
      return bare;
    }),
  );

export const foldWithoutTheNewest: typeof fold = (entries) => fold(entries.length > 1 ? entries.slice(0, -1) : entries);

export const missingTheLast: typeof outstanding = (state) => outstanding(state).slice(0, -1);

export const neverStarted: typeof outstanding = (state) =>
  outstanding(state).map((effect) => (effect.type === "callTool" ? { ...effect, started: false } : effect));

export const answeringAgain: typeof transition = (machine, state, event) => {
  const told = transition(machine, state, event);
  if (told.handled || event.type !== "tool.completed") return told;
  return transition(machine, state, {
    type: "message.appended",
    at: event.at,
    message: { role: "user", content: "again" },
  });
};

export const askingTwice: typeof transition = altering((told) => ({
  ...told,
  effects: [...told.effects, ...told.effects.filter(({ type }) => type === "callTool")],
}));

export const callingBeside: typeof outstanding = (state) => {
  const effects: readonly AnswerableEffect[] = outstanding(state);
  const tool = effects.find((effect) => effect.type === "callTool");
  if (tool?.type !== "callTool") return effects;
  const { threadId, turn, step } = tool;
  const call: CallLlm = {
    type: "callLlm",
    id: "beside",
    threadId,
    turn,
    step,
    attempt: 1,
    purpose: "answer",
    messages: [],
    promptDigest: "",
    model: {},
  };
  return [...effects, call];
};

export const writingTwice: typeof outstanding = (state) => {
  const effects = outstanding(state);
  return [...effects, ...effects.filter((effect) => effect.type === "callLlm" && effect.purpose === "summary")];
};

export const chargingNobody: typeof transition = (machine, state, event) => {
  const { summarising } = state.context;
  if (summarising === null || !answersSummary(state, event)) return transition(machine, state, event);
  const context = { ...state.context, summarising: { ...summarising, turn: null } };
  return transition(machine, { ...state, context }, event);
};

export const sayingSummaries: typeof transition = altering((told, before, event) => {
  if (event.type !== "llm.completed" || !answersSummary(before, event)) return told;
  const said = { type: "message.appended", at: event.at, message: { role: "user", content: "Summed up." } } as const;
  const again = transition(keeping, told.state, said);
  return again.handled ? { ...told, state: again.state } : told;
});

export const forgettingCancelled: typeof transition = altering((told, before, event) =>
  event.type === "cancel.requested" ? withContext(told, () => ({ usage: before.context.usage })) : told,
);

export const unknownAsZero: typeof transition = altering((told) =>
  withContext(told, ({ usage }) => ({ usage: { ...usage, total: allKnown(usage.total) } })),
);

export const forgettingPartials: typeof transition = (machine, state, event) => {
  if (event.type !== "cancel.requested" && event.type !== "llm.failed") return transition(machine, state, event);
  const { partial: _, ...bare } = event;
  return transition(machine, state, bare);
};

export const forgettingThePast: typeof transition = (machine, state, event) => {
  if (event.type !== "ask.received") return transition(machine, state, event);
  const conversation = { ...state.context.conversation, head: 0 };
  return transition(machine, { ...state, context: { ...state.context, conversation } }, event);
};

export const showingInterrupted: typeof transition = (_, state, event) => transition(keeping, state, event);

export const appendingTwice: typeof transition = altering((told, _, event) => {
  if (event.type !== "message.appended") return told;
  const again = transition(keeping, told.state, event);
  return again.handled ? again : told;
});

export const splitting: typeof promptOf = (machine, state) =>
  withMessages(promptOf(machine, state), (messages) => messages.filter((message) => message !== firstResult(messages)));

export const withoutTheEnd: typeof promptOf = (machine, state) =>
  withMessages(promptOf(machine, state), (messages) => messages.slice(0, -1));

export const swappingResults: typeof transition = withPrompts((messages) => {
  const first = messages.findIndex((message, index) => message.role === "tool" && messages[index + 1]?.role === "tool");
  return first < 0 ? messages : messages.toSpliced(first, 2, ...messages.slice(first, first + 2).reverse());
});

export const withoutSystem: typeof transition = withPrompts((messages) =>
  messages.filter(({ id }) => !id.startsWith("s")),
);

export const otherOnReplay = (): Subject => {
  let begun = 0;
  return {
    ...realSubject,
    start: (machine, input) => {
      begun++;
      return start(machine, input);
    },
    transition: (machine, state, event) => transition(begun > 1 ? forgetful : machine, state, event),
  };
};

const forgetful = conversationMachine({ policy: lastTurns(0), overlap: { type: "queue", max: 2 }, unknownTool: "ask" });
const keeping = conversationMachine({ policy: keepAll(), overlap: { type: "queue", max: 2 }, unknownTool: "ask" });

export function altering(change: (told: Handled, before: State, event: Event) => Handled): typeof transition {
  return (machine, state, event) => {
    const told = transition(machine, state, event);
    return told.handled ? change(told, state, event) : told;
  };
}

function answersSummary(state: State, event: Event): boolean {
  if (event.type !== "llm.completed" && event.type !== "llm.failed") return false;
  return outstanding(state).some(
    (effect) => effect.id === event.effectId && effect.type === "callLlm" && effect.purpose === "summary",
  );
}

function withPrompts(change: (messages: readonly Message[]) => readonly Message[]): typeof transition {
  return altering((told) => ({
    ...told,
    effects: told.effects.map((effect): Effect => (effect.type === "callLlm" ? withMessages(effect, change) : effect)),
  }));
}

export const withMessages = <Holder extends { readonly messages: readonly Message[] }>(
  holder: Holder,
  change: (messages: readonly Message[]) => readonly Message[],
): Holder => ({ ...holder, messages: change(holder.messages) });

const firstResult = (messages: readonly Message[]): Message | undefined => messages.find(({ role }) => role === "tool");

export const withContext = (told: Handled, change: (data: ConversationData) => Partial<ConversationData>): Handled => ({
  ...told,
  state: { ...told.state, context: { ...told.state.context, ...change(told.state.context) } },
});

const allKnown = (usage: Usage): Usage => ({
  ...usage,
  inputTokens: { ...usage.inputTokens, reported: usage.calls, unreported: 0 },
});
