import {
  type CallLlm,
  type ConversationData,
  conversationMachine,
  type Effect,
  type Event,
  type Handled,
  type MachineOptions,
  type Message,
  type Prompt,
  promptOf,
  type State,
  toArray,
  transition,
} from "@colloquy/machine";
import {
  compose,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "@colloquy/machine/policies";
import { fickle, realSubject, scribbling, type Subject } from "@colloquy/runtime-test/arbitraries";
import type { policyLaws } from "@colloquy/runtime-test/laws";
import { takingSystemAway } from "../machine/wrong-functions.ts";

/** A policy, or a machine, that is wrong in one way, and the law that must notice. */
export interface PolicyFault {
  readonly law: keyof typeof policyLaws;
  readonly what: string;
  readonly options?: MachineOptions;
  /** Makes a new subject for each run, since some faults have a memory. */
  readonly subject?: () => Subject;
}

const boundless = conversationMachine({ unknownTool: "ask", overlap: { type: "queue", max: 2 } });

const forged: Message = {
  id: "forged",
  role: "user",
  parts: [{ type: "text", text: "Give me a raise." }],
  digest: "f",
};

export const policyFaults: readonly PolicyFault[] = [
  prompts("P1", "shows what was never said", (messages) => [...messages, forged]),
  prompts("P1", "shows two messages in another order", (messages) =>
    messages.length < 3 ? messages : [...messages.slice(1, 2), ...messages.slice(0, 1), ...messages.slice(2)],
  ),
  prompts("P1", "shortens a message for no rule", (messages) => messages.map(clipped)),
  prompts("P1", "tells who said it otherwise", (messages) =>
    messages.map((message) => (message.role === "user" ? { ...message, role: "developer" } : message)),
  ),
  prompts("P1", "shows a round without its results", (messages) => messages.filter(({ role }) => role !== "tool")),
  prompts("P1", "shows a call with other arguments", (messages) => messages.map(askingOtherwise)),
  prompts("P2", "splits a round", (messages) => messages.filter((message) => message !== firstResult(messages))),
  {
    law: "P2",
    what: "takes the system message away from a turn without words",
    subject: () => ({ ...realSubject, transition: takingSystemAway }),
  },
  prompts("P3", "leaves out the beginning of the open turn", (messages, { open, conversation }) => {
    const [first] = open === null ? conversation.appended : toArray(open.messages);
    return messages.filter(({ id }) => id !== first?.id);
  }),
  prompts("P3", "leaves out what is pinned", (messages, { conversation }) =>
    messages.filter(({ id, role }) => role !== "user" || !conversation.pins.some(({ message }) => message === id)),
  ),
  prompts("P3", "leaves out the system message", (messages, { conversation }) =>
    messages.filter(({ id }) => id !== conversation.system?.id),
  ),
  prompts("P3", "clears the newest results", (messages) => messages.map(cleared)),
  {
    law: "P4",
    what: "calls a model with what does not fit",
    subject: () => ({ ...realSubject, transition: (_, state, event) => transition(boundless, state, event) }),
  },
  looks("P4", "says that everything fits", (prompt) => ({ ...prompt, fits: true })),
  looks("P4", "counts a token too few", (prompt) => ({ ...prompt, tokens: (prompt.tokens ?? 0) - 1 })),
  {
    law: "P4",
    what: "tells less room than there was",
    subject: () => transitions((told) => withUnfit(told, (unfit) => ({ ...unfit, available: unfit.available - 1 }))),
  },
  looks("P4", "tells more room than there was", (prompt) => ({ ...prompt, available: (prompt.available ?? 0) + 1 })),
  {
    law: "P4",
    what: "tells that less must be shown",
    subject: () => transitions((told) => withUnfit(told, (unfit) => ({ ...unfit, fixed: unfit.fixed - 1 }))),
  },
  {
    law: "P4",
    what: "tells of another largest message",
    subject: () => transitions((told) => withUnfit(told, (unfit) => ({ ...unfit, largest: null }))),
  },
  { law: "P4", what: "waits for a summary for ever", options: waiting(), subject: () => deaf() },
  { law: "P5", what: "drops one turn more whenever it is asked", options: { policy: creeping() } },
  { law: "P5", what: "changes its mind", options: { policy: fickle(1) } },
  { law: "P6", what: "shows less of more", options: { policy: { ...contrary(), monotone: true } } },
  { law: "P6", what: "shows things shorter with more room", options: { policy: terse() } },
  { law: "P6", what: "shows no summary with more room", options: { ...summingUp(), policy: unsummed() } },
  {
    law: "P7",
    what: "sends something within a budget of nothing",
    subject: () => ({ ...realSubject, transition: (_, state, event) => transition(boundless, state, event) }),
  },
  { law: "P8", what: "numbers turns by their place", options: summingUp(), subject: () => renumbering() },
  {
    law: "P8",
    what: "gives a turn another number when the head moves",
    subject: () =>
      transitions((told, _, event) => (event.type === "head.moved" ? withContext(told, renumbered) : told)),
  },
  {
    law: "P9",
    what: "sends another beginning now and then",
    subject: () =>
      transitions((told) => ({ ...told, effects: told.effects.map((effect) => beheaded(effect, told.entry.seq)) })),
  },
  {
    law: "P10",
    what: "writes into the thread",
    subject: () => ({ ...realSubject, promptOf: writing }),
  },
  { law: "usable", what: "writes into what it is given", options: { policy: scribbling() } },
  { law: "P11", what: "forgets the newest turn", options: { policy: forgetful() } },
  { law: "P11", what: "starts one turn later than what fits", options: { policy: oneLater(tokenWindow()) } },
  { law: "P11", what: "starts one turn later than it says", options: { policy: oneLater(lastTurns(2)) } },
  {
    law: "P11",
    what: "starts one turn later than it says, with slack",
    options: { policy: oneLater(lastTurns(1, { slack: 2 })) },
  },
  {
    law: "P11",
    what: "starts one turn later than as many messages as it says",
    options: { policy: oneLater(lastMessages({ max: 6, keepRecent: 4 })) },
  },
  {
    law: "P11",
    what: "starts one turn later than its own room holds",
    options: { policy: oneLater(tokenWindow({ tokens: 100, reserve: 10, cutTo: 0.5 })), budget: null },
  },
  {
    law: "P11",
    what: "starts one turn later, among several",
    options: { policy: compose(limitResults({ characters: 300 }), oneLater(tokenWindow()), lastTurns(4)) },
  },
  { law: "usable", what: "names a unit that there is not", options: { policy: pointingNowhere() } },
  { law: "usable", what: "throws", options: { policy: throwing() } },
];

function looks(
  law: PolicyFault["law"],
  what: string,
  change: (prompt: Prompt, data: ConversationData) => Prompt,
): PolicyFault {
  const wrong: typeof promptOf = (machine, state) => change(promptOf(machine, state), state.context);
  return { law, what, subject: () => ({ ...realSubject, promptOf: wrong }) };
}

function prompts(
  law: PolicyFault["law"],
  what: string,
  change: (messages: readonly Message[], data: ConversationData) => readonly Message[],
): PolicyFault {
  return looks(law, what, (prompt, data) => ({ ...prompt, messages: change(prompt.messages, data) }));
}

function transitions(change: (told: Handled, before: State, event: Event) => Handled): Subject {
  const wrong: typeof transition = (machine, state, event) => {
    const told = transition(machine, state, event);
    return told.handled ? change(told, state, event) : told;
  };
  return { ...realSubject, transition: wrong };
}

function firstResult(messages: readonly Message[]): Message | undefined {
  return messages.find(({ role }) => role === "tool");
}

function clipped(message: Message): Message {
  const [first] = message.parts;
  if (first?.type !== "text" || first.text.length < 20) return message;
  return { ...message, parts: [{ ...first, text: first.text.slice(0, 10) }, ...message.parts.slice(1)] };
}

function cleared(message: Message): Message {
  const parts = message.parts.map((part) => (part.type === "toolResult" ? { ...part, content: [] } : part));
  return { ...message, parts };
}

function withUnfit(
  told: Handled,
  change: (unfit: NonNullable<NonNullable<Handled["entry"]["decided"]>["unfit"]>) => typeof unfit,
): Handled {
  const { decided } = told.entry;
  if (decided?.unfit === undefined) return told;
  return { ...told, entry: { ...told.entry, decided: { ...decided, unfit: change(decided.unfit) } } };
}

/** Wants a summary of the newest turn, and shows everything until it is there. */
function waiting(): MachineOptions {
  const policy: Policy = {
    ...keepAll(),
    name: "waits",
    summariser: {
      instruction: "Sum up.",
      model: {},
      maxTokens: 100,
      next: ({ history }) => {
        const [newest] = history.newestFirst();
        if (newest === undefined || newest.number === 0 || newest.summaries.length > 0) return null;
        return { covers: { from: newest.number, to: newest.number }, earlier: null };
      },
    },
  };
  return { policy, budget: { tokens: 150, reserve: 0 } };
}

/** Hears of no summary while a call waits for one. */
function deaf(): Subject {
  const wrong: typeof transition = (machine, state, event) =>
    state.context.open?.stage.type === "compacting" && "effectId" in event
      ? { handled: false, state, effects: [], refusal: { kind: "stale", reason: "it does not listen" } }
      : transition(machine, state, event);
  return { ...realSubject, transition: wrong };
}

function creeping(): Policy {
  const decide: Policy["decide"] = ({ lastCut }) => ({
    from: { turn: (lastCut?.from?.turn ?? 0) + 1, unit: 0 },
    reason: "one more",
  });
  return { ...keepAll(), name: "creeping", decide };
}

function contrary(): Policy {
  const decide: Policy["decide"] = ({ available }) =>
    available === null || available > 120
      ? { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, reason: "there is too much room" }
      : { from: null, reason: "there is little room" };
  return { ...keepAll(), name: "contrary", decide };
}

function terse(): Policy {
  const shrink = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
  const decide: Policy["decide"] = ({ available }) =>
    available === null ? { from: null, shrink, reason: "there is no hurry" } : { from: null, reason: "all is kept" };
  return { ...keepAll(), name: "terse", decide };
}

/** Leaves out the newest turn that has ended, and says that it shows what fits, newest first. */
function forgetful(): Policy {
  const decide: Policy["decide"] = ({ history }) => {
    const [newest] = history.newestFirst();
    return { from: null, dropped: newest?.units().map(({ id }) => id) ?? [], reason: "who was that again?" };
  };
  return { ...keepAll(), name: "forgetful", decide };
}

/** Decides as another one does, claims what that one claims, and shows a turn less. */
function oneLater(policy: Policy): Policy {
  const decide: Policy["decide"] = (input) => {
    const decision = policy.decide(input);
    const turns = [...input.history.newestFirst()].map(({ number }) => number);
    const { from } = decision;
    const shown = turns.filter((number) => from === null || number >= from.turn);
    const [oldest, next] = [shown.at(-1), shown.at(-2)];
    if (oldest === undefined) return decision;
    return { ...decision, from: next === undefined ? { turn: oldest + 1, unit: 0 } : { turn: next, unit: 0 } };
  };
  return { ...policy, name: "one-later", decide };
}

function pointingNowhere(): Policy {
  const decide: Policy["decide"] = () => ({ from: null, dropped: ["99.99"], reason: "it was dull" });
  return { ...keepAll(), name: "pointing-nowhere", decide };
}

function askingOtherwise(message: Message): Message {
  const parts = message.parts.map((part) => (part.type === "toolCall" ? { ...part, arguments: "{}!" } : part));
  return { ...message, parts };
}

function throwing(): Policy {
  const decide: Policy["decide"] = ({ history }) => {
    if ([...history.newestFirst()].length > 2) throw new RangeError("too many turns");
    return { from: null, reason: "few turns" };
  };
  return { ...keepAll(), name: "throwing", decide };
}

function summingUp(): MachineOptions {
  return { policy: summariseTurns({ maxTurns: 3 }), budget: { tokens: 2_000, reserve: 0 } };
}

/** Leaves the summary out where there is no limit. */
function unsummed(): Policy {
  const policy = summariseTurns({ maxTurns: 3 });
  const decide: Policy["decide"] = (input) => {
    const { summarised, ...decision } = policy.decide(input);
    return input.available === null || summarised === undefined ? decision : { ...decision, summarised };
  };
  return { ...policy, monotone: true, decide };
}

/** Counts the turns of a summary from its beginning. */
function renumbering(): Subject {
  const wrong: typeof promptOf = (machine, state) => {
    const prompt = promptOf(machine, state);
    return { ...prompt, messages: prompt.messages.map(renumberedLines) };
  };
  return { ...realSubject, promptOf: wrong };
}

function renumberedLines(message: Message): Message {
  if (!message.id.startsWith("summary.")) return message;
  let turn = 0;
  const parts = message.parts.map((part) =>
    part.type === "text" ? { ...part, text: part.text.replaceAll(/\[Turn \d+\]/g, () => `[Turn ${++turn}]`) } : part,
  );
  return { ...message, parts };
}

/** The first turn has the ids of a later one. */
function renumbered(data: ConversationData): Partial<ConversationData> {
  const { conversation } = data;
  const text = JSON.stringify(conversation.turns).replaceAll('"id":"1.', '"id":"9.');
  // Of the shape that it was read from.
  return { conversation: { ...conversation, turns: JSON.parse(text) as typeof conversation.turns } };
}

function withContext(told: Handled, change: (data: ConversationData) => Partial<ConversationData>): Handled {
  return { ...told, state: { ...told.state, context: { ...told.state.context, ...change(told.state.context) } } };
}

function beheaded(effect: Effect, seq: number): Effect {
  if (effect.type !== "callLlm" || seq % 2 === 0) return effect;
  const call: CallLlm = { ...effect, messages: effect.messages.slice(1) };
  return call;
}

function writing(...[machine, state]: Parameters<typeof promptOf>): Prompt {
  const [first] = toArray(state.context.conversation.turns);
  if (first !== undefined) Object.assign(first, { number: 7 });
  return promptOf(machine, state);
}
