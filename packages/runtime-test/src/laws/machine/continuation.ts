import {
  type CallLlm,
  conversationMachine,
  type Event,
  type MachineOptions,
  type Message,
  type State,
} from "@colloquy/machine";
import { type InterruptedTurns, keepAll } from "@colloquy/machine/policies";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { statesOf } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { saidUnits, wholeOf, withoutLeftOut } from "../evidence/said-units.ts";
import { type MachineLaw, onceFor, traceFor } from "./machine-law.ts";

/**
 * Checks M9: a conversation can continue after any end. Under keep-all, the prompt of the next ask is the system
 * message, the path so far, and the ask. If interrupted turns are omitted, exactly those are missing, except for pinned
 * messages in them and the questions that those answer.
 */
export const continuation: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  for (const interrupted of ["keep", "omit"] as const) {
    const machine = machinesKeepingAll(options)[interrupted];
    for (const state of statesOf(trace)) {
      if (state.context.open !== null) continue;
      const name = `the prompt of the next ask after entry ${state.context.seq}, interrupted turns ${interrupted}`;
      const call = callFor(subject, machine, state, name);
      const before = wholeOf(withoutLeftOut(saidUnits(state), { interrupted }));
      const expected = [...before.map(seen), { role: "user", text: newText }];
      // A queued ask opened first; its messages follow the same beginning.
      const beginning = state.context.waking === null ? expected : expected.slice(0, -1);
      const got = call.messages.map(seen);
      requireSame("M9", name, beginning, state.context.waking === null ? got : got.slice(0, beginning.length));
    }
  }
};

const newText = "And what follows from that?";

const machinesKeepingAll = onceFor((options) => ({
  keep: conversationMachine(keepingAll(options, "keep")),
  omit: conversationMachine(keepingAll(options, "omit")),
}));

/** Returns options without anything that could prevent the next call. */
const keepingAll = (options: MachineOptions, interrupted: InterruptedTurns): MachineOptions => {
  const { limits: _, budget: __, ...others } = options;
  return { ...others, policy: keepAll(), interrupted };
};

const callFor = (
  subject: Subject,
  machine: ReturnType<typeof conversationMachine>,
  state: State,
  name: string,
): CallLlm => {
  const { waking, queue, updatedAt: at } = state.context;
  const timer = subject.outstanding(state).find(({ type }) => type === "startTimer");
  const event: Event =
    waking === null || timer === undefined
      ? { type: "ask.received", at, askId: `after ${state.context.seq}`, input: newText }
      : { type: "timer.fired", at, effectId: timer.id };
  const unlimited = { ...state, context: { ...state.context, queue: queue.map(({ limits: _, ...ask }) => ask) } };
  const next = subject.transition(machine, unlimited, event);
  if (!next.handled) throw new LawBroken("M9", `${name}: the ask was refused: ${next.refusal.reason}`);
  const effects: readonly { readonly type: string }[] = next.effects;
  // The policy keep-all requests no summaries.
  const call = effects.find((effect): effect is CallLlm => effect.type === "callLlm");
  if (call === undefined) throw new LawBroken("M9", `${name}: no model is called`);
  return call;
};

/** Returns a message without the members that the thread adds; a message of the new ask is reduced to its text. */
const seen = (message: Message): object => {
  const { role, parts } = message;
  const [only] = parts;
  return role === "user" && parts.length === 1 && only?.type === "text" ? { role, text: only.text } : { role, parts };
};
