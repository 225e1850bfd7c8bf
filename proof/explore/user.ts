import {
  AskRefusedError,
  type AskResult,
  type Receipt,
  StoreError,
  ThreadClosedError,
  ThreadHeldError,
  ThreadUnknownError,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/host";
import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import type { Event } from "@colloquy/machine";

import type { Act, Place, Scene } from "./scene.ts";
import type { Shelf } from "./shelf.ts";
import type { Process, World } from "./world.ts";

interface Question {
  readonly askId: string;
  readonly input: string;
  readonly at: Place;
  tries: number;
  end: AskResult | Error | null;
}

interface Sending {
  readonly at: Place;
  readonly event: Event;
  tries: number;
  receipt: Receipt | "unknown" | null;
}

/** The user of a world, who asks again whatever was not answered. */
export class User {
  readonly questions: Question[] = [];
  readonly sendings: Sending[] = [];
  readonly #world: World;
  readonly #acts: Scene["acts"];
  readonly #shelf: Shelf;
  readonly #at: (place: Place) => Process;
  #done = 0;

  constructor(world: World, { acts }: Scene, shelf: Shelf, at: (place: Place) => Process) {
    this.#world = world;
    this.#acts = acts;
    this.#shelf = shelf;
    this.#at = at;
  }

  /** The acts that were done, and their outcomes. */
  get text(): string {
    const ends = this.questions.map(({ end }) => (end instanceof Error ? end.name : String(end?.turn)));
    const told = this.sendings.map(({ receipt }) => JSON.stringify(receipt));
    return [this.#done, ...ends, ...told].join(" ");
  }

  /** Whether nothing is left to do or to wait for. */
  get isSettled(): boolean {
    return this.#done === this.#acts.length && this.#isAnswered && this.#isTold;
  }

  get #isAnswered(): boolean {
    return this.questions.every(({ end }) => end !== null);
  }

  get #isTold(): boolean {
    return this.sendings.every(({ receipt }) => receipt !== null);
  }

  /** Repeats what was asked of a process that died. */
  lost(place: Place): void {
    for (const question of this.questions) if (question.at === place && question.end === null) this.#ask(question);
    for (const sending of this.sendings) if (sending.at === place && sending.receipt === null) this.#sendAgain(sending);
  }

  /** Returns the next act, if it is possible now. */
  next(): Act | undefined {
    const act = this.#acts[this.#done];
    if (act === undefined || this.#at(act.at).standsUntil !== null || !this.#isPossible(act)) return undefined;
    return act;
  }

  #isPossible({ type, after }: Act): boolean {
    if (type === "approve")
      return this.#isAnswered || this.#shelf.outstanding.some((effect) => effect.type === "requestApproval");
    if (after === undefined) return true;
    const taken = this.#shelf.entries.filter(({ event }) => event.type === "ask.received").length;
    return after === "ended" ? this.#isAnswered && this.#isTold : taken === this.questions.length;
  }

  do(act: Act): void {
    this.#done++;
    if (act.type === "ask") {
      const question: Question = { ...act, askId: `ask-${this.questions.length + 1}`, tries: 0, end: null };
      this.questions.push(question);
      this.#ask(question);
      return;
    }
    const event = this.#eventOf(act);
    if (event === null) return;
    const sending: Sending = { at: act.at, event, tries: 0, receipt: null };
    this.sendings.push(sending);
    this.#send(sending);
  }

  #eventOf({ type }: Act): Event | null {
    const at = this.#world.now;
    const askId = this.questions.at(-1)?.askId ?? "";
    if (type === "undo") return { type: "head.moved", at, to: 0 };
    if (type === "cancel") return { type: "cancel.requested", at, askId };
    const request = this.#shelf.outstanding.find((effect) => effect.type === "requestApproval");
    // The turn is over if nothing is requested: then there is nothing to approve.
    if (request?.type !== "requestApproval") return null;
    return { type: "approval.answered", at, effectId: request.id, approved: true, digest: request.digest };
  }

  #ask(question: Question): void {
    const process = this.#at(question.at);
    const { askId, input } = question;
    if (++question.tries > triesMax) return this.#world.breaks(`settles: ${askId} was asked ${triesMax} times`);
    process.given(`ask ${askId}`);
    const over = (end: unknown): void => {
      if (!process.alive || question.end !== null) return;
      if (isPassing(end)) return this.#ask(question);
      if (!isEnd(end)) return this.#world.breaks(`settles: ${askId} ended with ${String(end)}`);
      question.end = end;
    };
    process.host.ask(input, { askId }).then(over, over);
  }

  #send(sending: Sending): void {
    const process = this.#at(sending.at);
    if (++sending.tries > triesMax)
      return this.#world.breaks(`settles: ${sending.event.type} was sent ${triesMax} times`);
    process.given(`send ${sending.event.type}`);
    process.host
      .thread()
      .send(sending.event)
      .then(
        (receipt) => void (sending.receipt = receipt),
        (error: unknown) => {
          if (!process.alive) return;
          if (isPassing(error) || error instanceof ThreadUnknownError) return this.#sendAgain(sending);
          this.#world.breaks(`settles: sending ${sending.event.type} was rejected with ${String(error)}`);
        },
      );
  }

  /** Sends an event again whose fate is unknown, unless it may not be done twice, or has become pointless. */
  #sendAgain(sending: Sending): void {
    const { event } = sending;
    const isWanted =
      event.type === "head.moved" ||
      (event.type === "approval.answered" && this.#shelf.outstanding.some(({ id }) => id === event.effectId));
    if (isWanted) this.#send(sending);
    else sending.receipt = "unknown";
  }
}

const triesMax = 30;

const passing = [ThreadHeldError, ThreadClosedError, LeaseLostError, SequenceConflictError, StoreError];

const isPassing = (error: unknown): boolean => passing.some((kind) => error instanceof kind);

const isEnd = (end: unknown): end is AskResult | Error =>
  end instanceof TurnFailedError ||
  end instanceof TurnCancelledError ||
  end instanceof AskRefusedError ||
  (typeof end === "object" && end !== null && "status" in end && end.status === "completed");
