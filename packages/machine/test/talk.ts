import {
  type AnswerableEffect,
  type CallLlm,
  type ConversationMachine,
  type Effect,
  type Event,
  type Failure,
  type FirstEntry,
  type Handled,
  outstanding,
  type Refusal,
  type ReplyDraft,
  start,
  type State,
  type ThreadInput,
  transition,
} from "../src/index.ts";

/** A conversation of a test. It sends events, one each millisecond, and keeps the results. */
export class Talk {
  readonly machine: ConversationMachine;
  /** The first entry of its journal. */
  readonly beginning: FirstEntry;
  state: State;
  /** The effects of the newest event. */
  effects: readonly Effect[] = [];
  /** The time of the newest event; the next comes one millisecond later. */
  now = 0;

  constructor(machine: ConversationMachine, input: Partial<ThreadInput> = {}) {
    this.machine = machine;
    const begun = start(machine, { threadId: "t", at: 0, ...input });
    this.beginning = begun.entry;
    this.state = begun.state;
  }

  /** Sends an event that must be handled. */
  tell(event: Untimed): Handled {
    const told = transition(this.machine, this.state, { at: ++this.now, ...event });
    if (!told.handled) throw new Error(`${event.type} was refused: ${told.refusal.kind}: ${told.refusal.reason}`);
    this.state = told.state;
    this.effects = told.effects.filter((effect) => !isOutcome(effect));
    return told;
  }

  /** Sends an event that must be refused without a change. */
  refused(event: Untimed): Refusal {
    const told = transition(this.machine, this.state, { at: ++this.now, ...event });
    if (told.handled) throw new Error(`${event.type} was handled`);
    if (told.state !== this.state) throw new Error(`${event.type} was refused, and gave another state`);
    return told.refusal;
  }

  ask(input: string, askId = `ask ${this.now}`): Handled {
    return this.tell({ type: "ask.received", askId, input });
  }

  /** Answers the outstanding model call. */
  reply(reply: string | ReplyDraft, more: Partial<Extract<Event, { type: "llm.completed" }>> = {}): Handled {
    const draft = typeof reply === "string" ? { content: reply } : reply;
    return this.tell({ type: "llm.completed", effectId: this.call().id, reply: draft, finishReason: "stop", ...more });
  }

  fail(failure: Partial<Failure> = {}, more: Partial<Extract<Event, { type: "llm.failed" }>> = {}): Handled {
    const whole: Failure = { kind: "overloaded", message: "too busy", retryable: false, ...failure };
    return this.tell({ type: "llm.failed", effectId: this.call().id, failure: whole, ...more });
  }

  /** Answers the tool call at a position of its round. */
  result(position: number, content: string | null): Handled {
    return this.tell({ type: "tool.completed", effectId: this.tools()[position]?.id ?? "none", content });
  }

  /** Fires the timer of a purpose, at its time. */
  fire(purpose: "retry" | "deadline" | "queue" | "summary"): Handled {
    const timer = this.out().find((effect) => effect.type === "startTimer" && effect.purpose === purpose);
    if (timer?.type !== "startTimer") throw new Error(`no ${purpose} timer is out`);
    this.now = Math.max(this.now, timer.dueAt - 1);
    return this.tell({ type: "timer.fired", effectId: timer.id });
  }

  out(): readonly AnswerableEffect[] {
    return outstanding(this.state);
  }

  /** Returns the outstanding model call. */
  call(): CallLlm {
    const call = this.out().find((effect) => effect.type === "callLlm");
    if (call?.type !== "callLlm") throw new Error("no model call is out");
    return call;
  }

  /** Returns the current round's tool calls by position, including answered ones. */
  tools(): readonly { readonly id: string }[] {
    const stage = this.state.context.open?.stage;
    if (stage?.type !== "running") throw new Error("no tools are out");
    return stage.calls.map(({ callId }) => ({ id: `${this.state.context.threadId}/${callId}#1` }));
  }
}

type Untimed = Event extends infer One
  ? One extends Event
    ? Omit<One, "at"> & { readonly at?: number }
    : never
  : never;

/** Returns a reply with calls of tools, as a model writes them. */
export const calling = (...names: readonly string[]): ReplyDraft => ({
  toolCalls: names.map((name, position) => ({ id: `call_${position}`, name, arguments: "{}" })),
});

/** Checks for a signal of a call's outcome, which only the vectors test. */
const isOutcome = (effect: Effect): boolean => effect.type === "publish" && /^(model|tool)\./.test(effect.signal.type);
