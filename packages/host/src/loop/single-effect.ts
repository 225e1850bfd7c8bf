import {
  type CallLlm,
  type CallTool,
  type CheckOutput,
  type Event,
  type ReplyDraft,
  type State,
  type ToolStarted,
  transition,
} from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { AskPart } from "../turn-log/parts.ts";
import type { RunContext } from "../context/host-context.ts";
import type { Envelope, EventEnvelope } from "../mailbox/mailbox.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { perform } from "./perform.ts";
import { recordingAsks } from "./report.ts";

/** An effect that is being performed. */
export interface Performing {
  /** The next event: the answer, or the start of a tool that runs once. Null if it was stopped. Never rejects. */
  readonly told: Promise<AnswerEvent | ToolStarted | null>;
  /** Runs the tool after `tool.started` was journalled. Resolves to the answer. Never rejects. */
  goOn(): Promise<AnswerEvent | null>;
  /** The part of the reply that has been shown, also after a stop. */
  readonly shown: ReplyDraft | undefined;
  /** Stops it: nothing more is shown. @param reason of the abort signal that the model or the tool has */
  stop(reason: Error | null): void;
}

const answers = [
  "llm.completed",
  "llm.failed",
  "output.accepted",
  "output.refused",
  "tool.completed",
  "tool.failed",
  "tool.withheld",
] as const;

/** An event that answers an effect. */
export type AnswerEvent = Extract<Event, { readonly type: (typeof answers)[number] }>;

/** An effect that causes work. */
export type PerformableEffect = CallLlm | CallTool | CheckOutput;

/** Stands in for the loop of a thread, for one effect. Its events are given to the caller, who has them journalled. */
export class SingleEffect implements LoopPort, Performing {
  readonly threadId: string;
  readonly host: RunContext;
  readonly asks: Asks;
  readonly running: Map<string, Running> = new Map();
  readonly reader = null;
  responding: Responding | null = null;
  hasEnded = false;
  state: State;
  readonly #effect: PerformableEffect;
  readonly #told = Promise.withResolvers<AnswerEvent | ToolStarted | null>();
  readonly #answer = Promise.withResolvers<AnswerEvent | null>();
  readonly #reply: Responding | null;
  #start = (): void => {};

  /** Starts the effect. @param show is called with each part that is shown of it, in order */
  constructor(host: RunContext, effect: PerformableEffect, state: State, show: (turn: number, part: AskPart) => void) {
    this.threadId = effect.threadId;
    this.host = host;
    this.state = state;
    this.#effect = effect;
    this.asks = recordingAsks(show, () => null);
    perform(this, effect);
    this.#reply = this.responding;
    // A call that the caller answers starts nothing.
    if (this.running.size === 0 && !this.hasEnded) this.#end(null);
  }

  get told(): Promise<AnswerEvent | ToolStarted | null> {
    return this.#told.promise;
  }

  get shown(): ReplyDraft | undefined {
    return this.#reply?.shown;
  }

  goOn(): Promise<AnswerEvent | null> {
    if (!this.hasEnded) this.#start();
    return this.#answer.promise;
  }

  stop(reason: Error | null): void {
    this.running.get(this.#effect.id)?.stop(reason);
    this.#end(null);
  }

  post(envelope: Envelope): void {
    // The task that reads a damaged state again is not an event, and this class has no journal to read.
    if (this.hasEnded || !("event" in envelope)) return;
    const { event, sender } = envelope;
    if (event.type === "tool.started") this.#tellStart(event, sender);
    else if (isAnswer(event)) this.#end(event);
  }

  mayCall(): boolean {
    return !this.hasEnded;
  }

  #tellStart(event: ToolStarted, sender: EventEnvelope["sender"]): void {
    const step = transition(this.host.machine, this.state, event);
    if (!step.handled) {
      sender?.refused(step.refusal, this.state);
      this.#end(null);
      return;
    }
    this.#start = () => {
      this.state = step.state;
      sender?.accepted(step.entry);
    };
    this.#told.resolve(event);
  }

  #end(answer: AnswerEvent | null): void {
    this.hasEnded = true;
    this.#told.resolve(answer);
    this.#answer.resolve(answer);
  }
}

const isAnswer = (event: EventEnvelope["event"]): event is AnswerEvent => answers.some((type) => type === event.type);
