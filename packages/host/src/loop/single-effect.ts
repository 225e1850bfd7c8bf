import type {
  CallLlm,
  CallTool,
  CheckOutput,
  LlmCompleted,
  LlmFailed,
  OutputAccepted,
  OutputRefused,
  ReplyDraft,
  State,
  ToolCompleted,
  ToolFailed,
  ToolStarted,
  ToolWithheld,
} from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { AskPart } from "../ask/parts.ts";
import type { RunContext } from "../context/host-context.ts";
import type { Envelope, EventEnvelope } from "../mailbox/mailbox.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { begin } from "./perform.ts";
import { asksShown } from "./report.ts";

/** An effect that is being performed. */
export interface Performing {
  /** What the machine is to be told next: the answer of the effect, or that a tool that runs only once starts. Null when it was stopped before. Never rejects. */
  readonly told: Promise<AnswerEvent | ToolStarted | null>;
  /** Runs the tool, after `tool.started` was journalled. The answer, as `told`; where none had to be told, the same. Never rejects. */
  goOn(): Promise<AnswerEvent | null>;
  /** What had been shown of the reply so far, also when it was stopped. */
  readonly shown: ReplyDraft | undefined;
  /** Stops it: nothing more is shown, and nothing comes of it. @param reason for the signal that the model or the tool was given */
  stop(reason: Error | null): void;
}

/** What answers an effect. */
export type AnswerEvent =
  | LlmCompleted
  | LlmFailed
  | OutputAccepted
  | OutputRefused
  | ToolCompleted
  | ToolFailed
  | ToolWithheld;

/** What is performed: the effects that something is done for. */
export type PerformableEffect = CallLlm | CallTool | CheckOutput;

/** Stands in for the loop of a thread, for one effect: what comes of that is given to its performer, who has it journalled. */
export class SingleEffect implements LoopPort, Performing {
  readonly threadId: string;
  readonly host: RunContext;
  readonly asks: Asks;
  readonly running: Map<string, Running> = new Map();
  readonly reader = null;
  callsToModel = 0;
  responding: Responding | null = null;
  hasEnded = false;
  state: State;
  readonly #effect: PerformableEffect;
  readonly #told = Promise.withResolvers<AnswerEvent | ToolStarted | null>();
  readonly #answer = Promise.withResolvers<AnswerEvent | null>();
  readonly #reply: Responding | null;
  /** Has the tool go on. */
  #start = (): void => {};

  /** Begins it. @param show gets what is shown of it, in order */
  constructor(host: RunContext, effect: PerformableEffect, state: State, show: (turn: number, part: AskPart) => void) {
    this.threadId = effect.threadId;
    this.host = host;
    this.state = state;
    this.#effect = effect;
    this.asks = asksShown(show, () => null);
    begin(this, effect);
    this.#reply = this.responding;
    // As with a call that the caller answers.
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
    // What reads a damaged state anew is no event; nor is there a journal here to read it from.
    if (this.hasEnded || !("event" in envelope)) return;
    const { event, sender } = envelope;
    if (event.type === "tool.started") this.#tellStart(event, sender);
    else if (isAnswer(event)) this.#end(event);
  }

  mayCall(): boolean {
    return !this.hasEnded;
  }

  reportActivity(): void {
    this.host.active.report(this, this.callsToModel > 0 ? "works" : "rests");
  }

  makeRoom(): void {
    this.host.active.leave(this);
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
    this.host.active.leave(this);
  }
}

const isAnswer = (event: EventEnvelope["event"]): event is AnswerEvent => "effectId" in event && event.type in answers;

const answers: Readonly<Record<AnswerEvent["type"], true>> = {
  "llm.completed": true,
  "llm.failed": true,
  "output.accepted": true,
  "output.refused": true,
  "tool.completed": true,
  "tool.failed": true,
  "tool.withheld": true,
};
