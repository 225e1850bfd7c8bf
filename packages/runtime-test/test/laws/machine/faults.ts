import {
  type AnswerableEffect,
  type CallLlm,
  type CallTool,
  type ConversationData,
  conversationMachine,
  type DroppedAsk,
  type Effect,
  type Event,
  type Handled,
  type LaterEntry,
  type MachineOptions,
  type Message,
  outstanding,
  promptOf,
  type RequestApproval,
  type Signal,
  start,
  type State,
  toArray,
  transition,
} from "@colloquy/machine";
import { explain, type Explanation } from "@colloquy/machine/inspect";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { clearResults, compose, keepAll, lastTurns, summariseTurns, tokenWindow } from "@colloquy/machine/policies";
import { realSubject, type Subject } from "@colloquy/runtime-test/arbitraries";
import type { laws } from "@colloquy/runtime-test/laws";

/** A machine with one fault, and the law that must notice it. */
export interface Fault {
  readonly law: keyof typeof laws;
  readonly what: string;
  /** The options that reveal the fault, beside those of all faults. */
  readonly options?: MachineOptions;
  /** Makes a new subject for each run, since some faults have a memory. */
  readonly subject: () => Subject;
}

type Step = typeof transition;

const fault = (
  law: Fault["law"],
  what: string,
  wrong: () => Partial<Subject>,
  options: MachineOptions = {},
): Fault => ({ law, what, options, subject: () => ({ ...realSubject, ...wrong() }) });

const steps = (law: Fault["law"], what: string, wrong: Step, options?: MachineOptions): Fault =>
  fault(law, what, () => ({ transition: wrong }), options);

/** Makes a correct transition that changes handled results. */
export const altering =
  (change: (told: Handled, before: State, event: Event) => Handled): Step =>
  (machine, state, event, options) => {
    const told = transition(machine, state, event, options);
    return told.handled ? change(told, state, event) : told;
  };

const handled = (law: Fault["law"], what: string, change: Parameters<typeof altering>[0], options?: MachineOptions) =>
  steps(law, what, altering(change), options);

const refused = (
  law: Fault["law"],
  what: string,
  change: (told: ReturnType<Step>, ...given: Parameters<Step>) => ReturnType<Step>,
) =>
  steps(law, what, (...given) => {
    const told = transition(...given);
    return told.handled ? told : change(told, ...given);
  });

const out = (
  law: Fault["law"],
  what: string,
  change: (effects: readonly AnswerableEffect[]) => readonly AnswerableEffect[],
  options?: MachineOptions,
) => fault(law, what, () => ({ outstanding: (state) => change(outstanding(state)) }), options);

const prompts = (law: Fault["law"], what: string, change: (messages: readonly Message[]) => readonly Message[]) =>
  fault(law, what, () => ({
    promptOf: (machine, state) => withMessages(promptOf(machine, state), change),
  }));

const explains = (what: string, change: (units: Explanation["units"]) => Explanation["units"]) =>
  fault(
    "explain",
    what,
    () => ({
      explain: (machine, state) => {
        const explanation = explain(machine, state);
        return { ...explanation, units: change(explanation.units) };
      },
    }),
    { policy: compose(clearResults({ keep: 0 }), tokenWindow()), budget: { tokens: 80, reserve: 0 } },
  );

export const withContext = (told: Handled, change: (data: ConversationData) => Partial<ConversationData>): Handled => ({
  ...told,
  state: { ...told.state, context: { ...told.state.context, ...change(told.state.context) } },
});

const withEffects = (told: Handled, change: (effects: readonly Effect[]) => readonly Effect[]): Handled => ({
  ...told,
  effects: change(told.effects),
});

const withCalls = (told: Handled, change: (messages: readonly Message[]) => readonly Message[]): Handled =>
  withEffects(told, (effects) =>
    effects.map((effect): Effect => (effect.type === "callLlm" ? withMessages(effect, change) : effect)),
  );

const withMessages = <Holder extends { readonly messages: readonly Message[] }>(
  holder: Holder,
  change: (messages: readonly Message[]) => readonly Message[],
): Holder => ({ ...holder, messages: change(holder.messages) });

const without = (told: Handled, type: Signal["type"]): Handled =>
  withEffects(told, (effects) =>
    effects.filter((effect) => !(effect.type === "publish" && effect.signal.type === type)),
  );

const others = { overlap: { type: "queue", max: 2 }, unknownTool: "ask" } as const;
const keeping = conversationMachine({ ...others, policy: keepAll() });
const forgetful = conversationMachine({ ...others, policy: lastTurns(0) });
const summing: MachineOptions = { policy: summariseTurns() };

/** Removes the system message from a turn without words. */
export const takingSystemAway: Step = (machine, state, event) => {
  const told = transition(machine, state, event);
  if (told.handled || told.refusal.kind !== "busy" || !event.type.startsWith("system.")) return told;
  const entry: LaterEntry = { seq: state.context.seq + 1, event };
  return { handled: true, state: foldEntry(state, entry), effects: [], entry };
};

const answersSummary = (state: State, event: Event): boolean =>
  (event.type === "llm.completed" || event.type === "llm.failed") &&
  outstanding(state).some(
    (effect) => effect.id === event.effectId && effect.type === "callLlm" && effect.purpose === "summary",
  );

const callBeside = ({ threadId, turn, step }: CallTool | RequestApproval): CallLlm => ({
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
});

const besides = (type: "callTool" | "requestApproval") => (effects: readonly AnswerableEffect[]) => {
  const effect = effects.find((each) => each.type === type);
  return effect?.type === type ? [...effects, callBeside(effect)] : effects;
};

const withoutCallers = (state: State): State => {
  const { open } = state.context;
  if (open?.stage.type !== "running") return state;
  const calls = open.stage.calls.map(({ by: _, ...call }) => call);
  return { ...state, context: { ...state.context, open: { ...open, stage: { type: "running", calls } } } };
};

const copying = (told: ReturnType<Step>) => ({ ...told, state: { ...told.state } });

const machineFaults: readonly Fault[] = [
  fault("M1", "counts in a variable of its own", () => {
    let count = 0;
    return {
      transition: altering((told) =>
        withContext(told, ({ metadata }) => ({ metadata: { ...metadata, count: count++ } })),
      ),
    };
  }),
  handled("M1", "reads a clock", (told) => withContext(told, () => ({ updatedAt: performance.now() }))),
  fault("M1", "shows another prompt at the second look", () => {
    let looks = 0;
    return { promptOf: (...given) => ({ ...promptOf(...given), reason: looks++ % 2 === 0 ? "a" : "b" }) };
  }),
  refused("M2", "throws for an answer that nobody waits for", (told) => {
    if (!told.handled && told.refusal.kind === "stale") throw new Error("nobody waits for this");
    return told;
  }),
  refused("M2", "copies the state when it refuses", copying),
  refused("M2", "refuses without a reason", (told) =>
    told.handled ? told : { ...told, refusal: { ...told.refusal, reason: "" } },
  ),
  handled("M2", "gives an entry the seq of the one before", (told) => ({
    ...told,
    entry: { ...told.entry, seq: told.entry.seq - 1 },
  })),
  handled("M3", "keeps a date in the state", (told) =>
    // The cast is the fault, since a date is not JSON.
    withContext(told, () => ({ metadata: { when: new Date(0) as unknown as string } })),
  ),
  handled("M3", "keeps an undefined member in an effect", (told) =>
    withEffects(told, (effects) => effects.map((effect) => Object.assign({}, effect, { note: undefined }))),
  ),
  fault("M3", "knows a state by its reference", () => {
    const known = new WeakSet<State>();
    return {
      transition: (machine, state, event) => {
        const told = transition(machine, state, event);
        known.add(told.state);
        return told.handled && state.context.seq > 0 && !known.has(state) ? { ...told, effects: [] } : told;
      },
    };
  }),
  steps("M4", "pushes onto the messages that were appended", (machine, state, event) => {
    const { appended } = state.context.conversation;
    if (event.type === "message.appended") Object.assign(appended, { 0: undefined });
    return transition(machine, state, event);
  }),
  steps("M4", "writes into the event", (machine, state, event) =>
    transition(machine, state, Object.assign(event, { at: 0 })),
  ),
  handled("M4", "hands out a state that can be written to", (told) => ({
    ...told,
    state: structuredClone(told.state),
  })),
  handled("M4", "keeps the event that it was handed", (told, _, event) => ({
    ...told,
    entry: { ...told.entry, event },
  })),
  fault("M5", "a fold that drops what was decided", () => ({
    fold: (entries) =>
      fold(entries.map((entry) => ("decided" in entry ? { seq: entry.seq, event: entry.event } : entry))),
  })),
  fault("M5", "a fold that drops the newest entry", () => ({
    fold: (entries) => fold(entries.length > 1 ? entries.slice(0, -1) : entries),
  })),
];

const effectFaults: readonly Fault[] = [
  out("M6", "misses one of the effects that are out", (effects) => effects.slice(0, -1)),
  out("M6", "forgets that a tool started", (effects) =>
    effects.map((effect) => (effect.type === "callTool" ? { ...effect, started: false } : effect)),
  ),
  refused("M6", "lets a tool answer twice", (told, machine, state, { type, at }) =>
    type === "tool.completed"
      ? transition(machine, state, { type: "message.appended", at, message: { role: "user", content: "again" } })
      : told,
  ),
  handled("M6", "asks for an effect twice", (told) =>
    withEffects(told, (effects) => [...effects, ...effects.filter(({ type }) => type === "callTool")]),
  ),
  refused("M6", "gives another state for a stale answer", copying),
  refused("M6", "starts a call that is the caller's", (told, machine, state, event, options) =>
    event.type === "tool.started" || event.type === "tool.withheld"
      ? transition(machine, withoutCallers(state), event, options)
      : told,
  ),
  out("M6", "forgets what somebody is asked", (effects) => effects.filter(({ type }) => type !== "requestApproval")),
  handled("M6", "runs other arguments than were approved", (told) =>
    withEffects(told, (effects) =>
      effects.map((effect): Effect =>
        effect.type === "callTool" && effect.approval !== null && effect.approval !== "required"
          ? { ...effect, approval: { ...effect.approval, arguments: { other: true } } }
          : effect,
      ),
    ),
  ),
  steps("M6", "takes an answer about something else", (machine, state, event) => {
    if (event.type !== "approval.answered") return transition(machine, state, event);
    const { digest: _, ...bare } = event;
    const told = transition(machine, state, bare);
    return told.handled ? { ...told, entry: { ...told.entry, event } } : transition(machine, state, event);
  }),
  out("M7", "has a model call beside a question about a tool", besides("requestApproval")),
  out("M7", "has a model call out beside tool calls", besides("callTool")),
  out(
    "M7",
    "has the same summary written twice at once",
    (effects) => [...effects, ...effects.filter((effect) => effect.type === "callLlm" && effect.purpose === "summary")],
    summing,
  ),
  steps(
    "M8",
    "charges summaries to nobody's turn",
    (machine, state, event) => {
      const { summarising } = state.context;
      if (summarising === null || !answersSummary(state, event)) return transition(machine, state, event);
      const context = { ...state.context, summarising: { ...summarising, turn: null } };
      return transition(machine, { ...state, context }, event);
    },
    summing,
  ),
  handled("M8", "forgets the calls that were cancelled", (told, before, { type }) =>
    type === "cancel.requested" ? withContext(told, () => ({ usage: before.context.usage })) : told,
  ),
  handled("M8", "counts unknown tokens as none", (told) =>
    withContext(told, ({ usage: { total, ...usage } }) => {
      const inputTokens = { ...total.inputTokens, reported: total.calls, unreported: 0 };
      return { usage: { ...usage, total: { ...total, inputTokens } } };
    }),
  ),
];

const threadFaults: readonly Fault[] = [
  handled(
    "M9",
    "takes a summary for something that was said",
    (told, before, event) => {
      if (event.type !== "llm.completed" || !answersSummary(before, event)) return told;
      const message = { role: "user", content: "Summed up." } as const;
      const again = transition(keeping, told.state, { type: "message.appended", at: event.at, message });
      return again.handled ? { ...told, state: again.state } : told;
    },
    summing,
  ),
  steps("M9", "forgets what a reply had shown when it was stopped", (machine, state, event) => {
    if (event.type !== "cancel.requested" && event.type !== "llm.failed") return transition(machine, state, event);
    const { partial: _, ...bare } = event;
    return transition(machine, state, bare);
  }),
  steps("M9", "goes on without what was said before", (machine, state, event) => {
    if (event.type !== "ask.received") return transition(machine, state, event);
    const conversation = { ...state.context.conversation, head: 0 };
    return transition(machine, { ...state, context: { ...state.context, conversation } }, event);
  }),
  steps("M9", "shows interrupted turns that should be left out", (_, state, event) =>
    transition(keeping, state, event),
  ),
  handled("M9", "says twice what was appended", (told, _, event) => {
    const again = event.type === "message.appended" ? transition(keeping, told.state, event) : told;
    return again.handled ? again : told;
  }),
  prompts("M10", "a renderer that splits a round", (messages) => {
    const first = messages.find(({ role }) => role === "tool");
    return messages.filter((message) => message !== first);
  }),
  prompts("M10", "a prompt without the end of the open turn", (messages) => messages.slice(0, -1)),
  handled("M10", "results in another order than their calls", (told) =>
    withCalls(told, (messages) => {
      const first = messages.findIndex(({ role }, index) => role === "tool" && messages[index + 1]?.role === "tool");
      return first < 0 ? messages : messages.toSpliced(first, 2, ...messages.slice(first, first + 2).reverse());
    }),
  ),
  handled("M10", "a prompt without the system message", (told) =>
    withCalls(told, (messages) => messages.filter(({ id }) => !id.startsWith("s"))),
  ),
  steps("M10", "takes the system message away from a turn without words", takingSystemAway),
  handled("M11", "forgets what waited when a turn is interrupted", (told) =>
    told.entry.decided?.interrupts === true ? withContext(told, () => ({ queue: [] })) : told,
  ),
  handled("M11", "answers an ask that waited, and lets it wait on", (told, { context }, { type }) =>
    type === "timer.fired" && context.open === null ? withContext(told, () => ({ queue: context.queue })) : told,
  ),
  handled("M11", "tells nobody that an ask was superseded", (told) => without(told, "ask.superseded")),
  handled("M12", "delivers what the prompt does not show", (told) => {
    const delivers = without(told, "ask.delivered").effects.length < told.effects.length;
    return delivers ? withCalls(told, (messages) => messages.slice(0, -1)) : told;
  }),
  handled("M12", "does not tell what is delivered", (told) => without(told, "ask.delivered")),
  handled("M12", "says that an ask is withdrawn that should be given back", (told) =>
    withContext(told, ({ dropped }) => ({
      dropped: dropped.map((ask): DroppedAsk => (ask.because === "returned" ? { ...ask, because: "withdrawn" } : ask)),
    })),
  ),
  steps("M13", "takes any answer for an output", (machine, state, event, options) => {
    const { effectId } = { effectId: "", ...event };
    const accepted: Event = { type: "output.accepted", at: event.at, effectId, value: "anything" };
    return transition(machine, state, event.type === "output.refused" ? accepted : event, options);
  }),
  steps("M13", "has an answer mended for ever", (machine, state, event, options) => {
    const { open } = state.context;
    const output =
      event.type === "output.refused" && open?.output !== undefined ? { ...open.output, repairs: 99 } : null;
    if (output === null || open === null) return transition(machine, state, event, options);
    return transition(machine, { ...state, context: { ...state.context, open: { ...open, output } } }, event, options);
  }),
  handled("M13", "shows later turns what was refused", (told) => {
    const turns = toArray(told.state.context.conversation.turns);
    const replies = turns.flatMap(({ refusedOutputs = [] }) => refusedOutputs.map(({ reply }) => reply));
    return withCalls(told, (messages) => [...replies, ...messages]);
  }),
  fault("R5", "cuts otherwise when it is replayed", () => {
    let begun = 0;
    return {
      start: (machine, input) => {
        begun++;
        return start(machine, input);
      },
      transition: (machine, state, event) => transition(begun > 1 ? forgetful : machine, state, event),
    };
  }),
];

export const faults: readonly Fault[] = [
  ...machineFaults,
  ...effectFaults,
  ...threadFaults,
  explains("calls whole what is shown shorter", (units) => units.map((unit) => ({ ...unit, shown: "whole" }))),
  explains("leaves out a unit that is not shown", (units) => units.filter(({ sent }) => sent.length > 0)),
  explains("shows what is not sent", (units) => units.map((unit) => ({ ...unit, sent: unit.messages }))),
  explains("counts a token too few", (units) =>
    units.map((unit, index) => (index === 0 && unit.sentTokens ? { ...unit, sentTokens: unit.sentTokens - 1 } : unit)),
  ),
  explains("says nothing of why", (units) => units.map((unit) => ({ ...unit, why: "" }))),
];
