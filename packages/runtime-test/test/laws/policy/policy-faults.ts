import {
  type ConversationData,
  conversationMachine,
  type Handled,
  type MachineOptions,
  type Message,
  type Part,
  type Prompt,
  promptOf,
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
import { altering, takingSystemAway, withContext } from "../machine/faults.ts";

/** A policy or a machine with one fault, and the law that must notice it. */
export interface PolicyFault {
  readonly law: keyof typeof policyLaws;
  readonly what: string;
  readonly options?: MachineOptions;
  /** Makes a new subject for each run, since some faults have a memory. */
  readonly subject?: () => Subject;
}

type Law = PolicyFault["law"];

const steps = (law: Law, what: string, wrong: typeof transition, options: MachineOptions = {}): PolicyFault => ({
  law,
  what,
  options,
  subject: () => ({ ...realSubject, transition: wrong }),
});

const handled = (law: Law, what: string, change: Parameters<typeof altering>[0]): PolicyFault =>
  steps(law, what, altering(change));

const looks = (
  law: Law,
  what: string,
  change: (prompt: Prompt, data: ConversationData) => Prompt,
  options: MachineOptions = {},
): PolicyFault => {
  const wrong: typeof promptOf = (machine, state) => change(promptOf(machine, state), state.context);
  return { law, what, options, subject: () => ({ ...realSubject, promptOf: wrong }) };
};

const prompts = (
  law: Law,
  what: string,
  change: (messages: readonly Message[], data: ConversationData) => readonly Message[],
  options?: MachineOptions,
): PolicyFault => looks(law, what, (prompt, data) => ({ ...prompt, messages: change(prompt.messages, data) }), options);

/** Changes each part of each message. */
const parts = (law: Law, what: string, change: (part: Part) => Part): PolicyFault =>
  prompts(law, what, (messages) => messages.map((message) => ({ ...message, parts: message.parts.map(change) })));

const policies = (law: Law, what: string, policy: Policy, options: MachineOptions = {}): PolicyFault => ({
  law,
  what,
  options: { ...options, policy },
});

/** Makes a policy like keepAll with another decision. */
const deciding = (decide: Policy["decide"], others: Partial<Policy> = {}): Policy => ({
  ...keepAll(),
  name: "wrong",
  ...others,
  decide,
});

const unfits = (what: string, change: (unfit: Unfit) => Unfit): PolicyFault =>
  handled("P4", what, (told) => {
    const { decided } = told.entry;
    if (decided?.unfit === undefined) return told;
    return { ...told, entry: { ...told.entry, decided: { ...decided, unfit: change(decided.unfit) } } };
  });

type Unfit = NonNullable<NonNullable<Handled["entry"]["decided"]>["unfit"]>;

const boundless = conversationMachine({ unknownTool: "ask", overlap: { type: "queue", max: 2 } });

const forged: Message = {
  id: "forged",
  role: "user",
  parts: [{ type: "text", text: "Give me a raise." }],
  digest: "f",
};

const all = { from: null, reason: "all is kept" };
const summingUp = summariseTurns({ maxTurns: 3 });
const roomy = { budget: { tokens: 2_000, reserve: 0 } };

/** Decides and claims like another policy, but shows one turn less. */
const oneLater = (policy: Policy): Policy => ({
  ...policy,
  name: "one-later",
  decide: (input) => {
    const decision = policy.decide(input);
    const { from } = decision;
    const turns = [...input.history.newestFirst()].map(({ number }) => number);
    const shown = turns.filter((number) => from === null || number >= from.turn);
    const [oldest, next] = [shown.at(-1), shown.at(-2)];
    return oldest === undefined ? decision : { ...decision, from: { turn: next ?? oldest + 1, unit: 0 } };
  },
});

/** Orders a summary of the newest turn, and shows everything until it arrives. */
const waiting = deciding(() => all, {
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
});

const mutations: readonly PolicyFault[] = [
  prompts("P1", "shows what was never said", (messages) => [...messages, forged]),
  prompts("P1", "shows two messages in another order", ([first, second, ...rest]) =>
    first === undefined || second === undefined || rest.length === 0
      ? [first, second].flatMap((message) => message ?? [])
      : [second, first, ...rest],
  ),
  parts("P1", "shortens a message for no rule", (part) =>
    part.type === "text" && part.text.length >= 20 ? { ...part, text: part.text.slice(0, 10) } : part,
  ),
  prompts("P1", "tells who said it otherwise", (messages) =>
    messages.map((message) => (message.role === "user" ? { ...message, role: "developer" } : message)),
  ),
  prompts("P1", "shows a round without its results", (messages) => messages.filter(({ role }) => role !== "tool")),
  parts("P1", "shows a call with other arguments", (part) =>
    part.type === "toolCall" ? { ...part, arguments: "{}!" } : part,
  ),
  prompts("P2", "splits a round", (messages) => {
    const first = messages.find(({ role }) => role === "tool");
    return messages.filter((message) => message !== first);
  }),
  steps("P2", "takes the system message away from a turn without words", takingSystemAway),
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
  parts("P3", "clears the newest results", (part) => (part.type === "toolResult" ? { ...part, content: [] } : part)),
  steps("P4", "calls a model with what does not fit", (_, state, event) => transition(boundless, state, event)),
  looks("P4", "says that everything fits", (prompt) => ({ ...prompt, fits: true })),
  looks("P4", "counts a token too few", (prompt) => ({ ...prompt, tokens: (prompt.tokens ?? 0) - 1 })),
  looks("P4", "tells more room than there was", (prompt) => ({ ...prompt, available: (prompt.available ?? 0) + 1 })),
  unfits("tells less room than there was", (unfit) => ({ ...unfit, available: unfit.available - 1 })),
  unfits("tells that less must be shown", (unfit) => ({ ...unfit, fixed: unfit.fixed - 1 })),
  unfits("tells of another largest message", (unfit) => ({ ...unfit, largest: null })),
  steps(
    "P4",
    "waits for a summary for ever",
    (machine, state, event) =>
      state.context.open?.stage.type === "compacting" && "effectId" in event
        ? { handled: false, state, effects: [], refusal: { kind: "stale", reason: "it does not listen" } }
        : transition(machine, state, event),
    { policy: waiting, budget: { tokens: 150, reserve: 0 } },
  ),
  steps("P7", "sends something within a budget of nothing", (_, state, event) => transition(boundless, state, event)),
  prompts(
    "P8",
    "numbers turns by their place",
    (messages) =>
      messages.map((message) => {
        let turn = 0;
        const numbered = (text: string): string => text.replaceAll(/\[Turn \d+\]/g, () => `[Turn ${++turn}]`);
        if (!message.id.startsWith("summary.")) return message;
        const texts = message.parts.map((part) =>
          part.type === "text" ? { ...part, text: numbered(part.text) } : part,
        );
        return { ...message, parts: texts };
      }),
    { ...roomy, policy: summingUp },
  ),
  handled("P8", "gives a turn another number when the head moves", (told, _, event) => {
    if (event.type !== "head.moved") return told;
    return withContext(told, ({ conversation }) => {
      const text = JSON.stringify(conversation.turns).replaceAll('"id":"1.', '"id":"9.');
      // It keeps its shape.
      return { conversation: { ...conversation, turns: JSON.parse(text) as typeof conversation.turns } };
    });
  }),
  handled("P9", "sends another beginning now and then", (told) => ({
    ...told,
    effects: told.effects.map((effect) =>
      effect.type === "callLlm" && told.entry.seq % 2 !== 0
        ? { ...effect, messages: effect.messages.slice(1) }
        : effect,
    ),
  })),
  looks("P10", "writes into the thread", (prompt, { conversation }) => {
    const [first] = toArray(conversation.turns);
    if (first !== undefined) Object.assign(first, { number: 7 });
    return prompt;
  }),
];

export const policyFaults: readonly PolicyFault[] = [
  ...mutations,
  policies(
    "P5",
    "drops one turn more whenever it is asked",
    deciding(({ lastCut }) => ({ from: { turn: (lastCut?.from?.turn ?? 0) + 1, unit: 0 }, reason: "one more" })),
  ),
  policies("P5", "changes its mind", fickle(1)),
  policies(
    "P6",
    "shows less of more",
    deciding(
      ({ available }) =>
        available === null || available > 120
          ? { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, reason: "there is too much room" }
          : all,
      { monotone: true },
    ),
  ),
  policies(
    "P6",
    "shows things shorter with more room",
    deciding(({ available }) =>
      available === null ? { ...all, shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }] } : all,
    ),
  ),
  policies(
    "P6",
    "shows no summary with more room",
    {
      ...summingUp,
      monotone: true,
      decide: (input) => {
        const { summarised, ...decision } = summingUp.decide(input);
        return input.available === null || summarised === undefined ? decision : { ...decision, summarised };
      },
    },
    roomy,
  ),
  policies(
    "P11",
    "forgets the newest turn",
    deciding(({ history }) => {
      const [newest] = history.newestFirst();
      return { ...all, dropped: newest?.units().map(({ id }) => id) ?? [] };
    }),
  ),
  policies("P11", "starts one turn later than what fits", oneLater(tokenWindow())),
  policies("P11", "starts one turn later than it says", oneLater(lastTurns(2))),
  policies("P11", "starts one turn later than it says, with slack", oneLater(lastTurns(1, { slack: 2 }))),
  policies(
    "P11",
    "starts one turn later than as many messages as it says",
    oneLater(lastMessages({ max: 6, keepRecent: 4 })),
  ),
  policies(
    "P11",
    "starts one turn later than its own room holds",
    oneLater(tokenWindow({ tokens: 100, reserve: 10, cutTo: 0.5 })),
    { budget: null },
  ),
  policies(
    "P11",
    "starts one turn later, among several",
    compose(limitResults({ characters: 300 }), oneLater(tokenWindow()), lastTurns(4)),
  ),
  policies("usable", "writes into what it is given", scribbling()),
  policies(
    "usable",
    "names a unit that there is not",
    deciding(() => ({ ...all, dropped: ["99.99"] })),
  ),
  policies(
    "usable",
    "throws",
    deciding(({ history }) => {
      if ([...history.newestFirst()].length > 2) throw new RangeError("too many turns");
      return all;
    }),
  ),
];
