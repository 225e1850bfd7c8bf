import {
  type AnswerableEffect,
  type CallLlm,
  type DroppedAsk,
  type Effect,
  outstanding,
  type Signal,
  type State,
  transition,
} from "@colloquy/machine";
import { altering, withContext, withMessages } from "./wrong-functions.ts";

// Each of these is wrong in one way about asks that come while a turn is open, or about approvals.

export const neverAsking: typeof outstanding = (state) =>
  outstanding(state).filter(({ type }) => type !== "requestApproval");

export const runningOtherwise: typeof transition = altering((told) => ({
  ...told,
  effects: told.effects.map((effect): Effect =>
    effect.type === "callTool" && effect.approval !== null && effect.approval !== "required"
      ? { ...effect, approval: { ...effect.approval, arguments: { other: true } } }
      : effect,
  ),
}));

export const takingAnyDigest: typeof transition = (machine, state, event) => {
  if (event.type !== "approval.answered") return transition(machine, state, event);
  const { digest: _, ...bare } = event;
  const told = transition(machine, state, bare);
  return told.handled ? { ...told, entry: { ...told.entry, event } } : transition(machine, state, event);
};

export const callingBesideQuestion: typeof outstanding = (state) => {
  const effects: readonly AnswerableEffect[] = outstanding(state);
  const question = effects.find((effect) => effect.type === "requestApproval");
  if (question === undefined) return effects;
  const { threadId, turn, step } = question;
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

export const forgettingTheQueue: typeof transition = altering((told) =>
  told.entry.decided?.interrupts === true ? withContext(told, () => ({ queue: [] })) : told,
);

export const answeringTwice: typeof transition = altering((told, before, event) =>
  event.type === "timer.fired" && before.context.open === null
    ? withContext(told, () => ({ queue: before.context.queue }))
    : told,
);

export const supersedingInSilence: typeof transition = altering((told) => silencing(told, "ask.superseded"));

export const deliveringUnseen: typeof transition = altering((told) =>
  told.effects.some((effect) => isSignal(effect, "ask.delivered"))
    ? {
        ...told,
        effects: told.effects.map((effect): Effect =>
          effect.type === "callLlm" ? withMessages(effect, (messages) => messages.slice(0, -1)) : effect,
        ),
      }
    : told,
);

export const deliveringInSilence: typeof transition = altering((told) => silencing(told, "ask.delivered"));

export const withdrawingReturned: typeof transition = altering((told) =>
  withContext(told, ({ dropped }) => ({
    dropped: dropped.map((ask): DroppedAsk => (ask.because === "returned" ? { ...ask, because: "withdrawn" } : ask)),
  })),
);

const silencing = <Told extends { readonly effects: readonly Effect[] }>(told: Told, type: Signal["type"]): Told => ({
  ...told,
  effects: told.effects.filter((effect) => !isSignal(effect, type)),
});

const isSignal = (effect: Effect, type: Signal["type"]): boolean =>
  effect.type === "publish" && effect.signal.type === type;

/** Takes the start of a call that no host runs. */
export const startingCallers: typeof transition = (machine, state, event, options) => {
  const told = transition(machine, state, event, options);
  return told.handled || (event.type !== "tool.started" && event.type !== "tool.withheld")
    ? told
    : transition(machine, withoutCallers(state), event, options);
};

const withoutCallers = (state: State): State => {
  const { open } = state.context;
  if (open?.stage.type !== "running") return state;
  const calls = open.stage.calls.map(({ by: _, ...call }) => call);
  return { ...state, context: { ...state.context, open: { ...open, stage: { type: "running", calls } } } };
};
