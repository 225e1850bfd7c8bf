import type { AskPart } from "@colloquy/host";
import {
  contentText,
  type JsonObject,
  noUsage,
  type RequestApproval,
  type TurnOutcome,
  type Usage,
} from "@colloquy/machine";
import { cutBy } from "../items/finish-reason.ts";
import type { Item, ItemPlace } from "../items/item.ts";
import type { Piece } from "../items/pieces.ts";
import { Leg } from "./leg.ts";
import { LegWriter } from "./leg-writer.ts";
import { usageBetween } from "./response-object.ts";

/** A part of a turn, reduced to what is read here, so that a journal can supply it as well as a host. */
export type TurnPart =
  | Exclude<AskPart, { readonly type: "approval.requested" }>
  /** An outside answer was given. The next leg starts at once, even if its first part takes long. */
  | { readonly type: "answered" }
  | {
      readonly type: "approval.requested";
      readonly turn: number;
      readonly step: number;
      readonly request: Pick<RequestApproval, "id" | "callId" | "position" | "name" | "arguments">;
    };

/** The facts of a turn that its responses repeat. */
export interface TurnFacts {
  readonly threadId: string;
  readonly turn: number;
  readonly startedAt: number;
  readonly callerTools: ReadonlySet<string>;
  readonly echo: JsonObject;
}

/** The facts of a turn when a part of it was shown. Only a leg that ends there needs the usage and the outcome. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The usage of the turn up to here. */
  readonly usage: Usage;
  /** Null if the turn continues. */
  readonly outcome: TurnOutcome | null;
}

/** A reader of legs that start and end, each with its number. */
export interface LegWatcher {
  begun(leg: Leg, number: number): void;
  ended(number: number): void;
}

/** Divides the parts of a turn into legs, items and events. Live and journalled parts produce the same legs. */
export class TurnOutput {
  readonly turn: TurnFacts;
  #watcher: LegWatcher | null = null;
  #moment: Moment;
  /** The usage before the running leg. */
  #usedBefore: Usage = noUsage;
  #leg: { readonly number: number; readonly leg: Leg; readonly writer: LegWriter };
  #isUnderWay = true;
  #step = 0;
  #attempt = 1;
  /** The numbers of messages and reasoning items in this step, used in their ids. */
  #pieces = { msg: 0, rs: 0 };
  readonly #calls = new Map<string, RoundCall>();
  /** Whether this leg requested an outside answer. */
  #asked = false;

  constructor(turn: TurnFacts) {
    this.turn = turn;
    this.#moment = { at: turn.startedAt, usage: noUsage, outcome: null };
    // A started turn has a leg, even if the model writes nothing for long.
    this.#leg = this.#legNumbered(1);
  }

  /** Reports legs from here on, the running one first. */
  watch(watcher: LegWatcher): void {
    this.#watcher = watcher;
    if (this.#isUnderWay) watcher.begun(this.#leg.leg, this.#leg.number);
  }

  /** The items of the running leg, or of the last one. */
  get items(): readonly Item[] {
    return this.#leg.writer.items;
  }

  /** The number of the running leg, or of the last one. */
  get leg(): number {
    return this.#leg.number;
  }

  /** The running leg; null if an outside answer is needed, or the turn ended. */
  get running(): Leg | null {
    return this.#isUnderWay ? this.#leg.leg : null;
  }

  /** The newest step whose reply is complete; 0 if there is none. Its parts may come again and change nothing. */
  get knownThrough(): number {
    return this.#calls.size > 0 || !this.#isUnderWay ? this.#step : Math.max(this.#step - 1, 0);
  }

  apply(part: TurnPart, moment: Moment): void {
    this.#moment = moment;
    switch (part.type) {
      case "step.started":
        return this.#beginStep(part.step);
      case "text.delta":
        return this.#write("text", part);
      case "reasoning.delta":
        return this.#write("reasoning", part);
      case "refusal.delta":
        return this.#write("refusal", part);
      case "toolCall.delta":
        this.#attend(part.attempt);
        if (this.turn.callerTools.has(part.name)) this.#begun().writeCall(this.#at(part), part);
        return;
      case "toolCall":
        this.#begun();
        return void this.#calls.set(part.callId, { ...part, is: "open", approvals: 0 });
      case "toolResult":
        return this.#result(part);
      case "result.requested":
        return this.#request(part.callId);
      case "approval.requested":
        return this.#approval(part.request, part.step);
      case "answered":
        return void this.#begun();
      case "signal":
        if (part.signal.type === "retry.scheduled" || part.signal.type === "output.refused") this.#void(this.#step);
        return;
      case "thread.lost":
        return this.#void(this.#step);
      case "replay.started":
        return this.#void(part.step);
      case "turn.ended":
        if (this.#isUnderWay)
          this.#end(
            part.status === "completed" && cutBy(moment.outcome) === null ? "completed" : "incomplete",
            moment.outcome,
          );
        return;
      // A step that broke off ends too. The next part shows whether its text is complete.
      default:
    }
  }

  #beginStep(step: number): void {
    this.#begun();
    if (step === this.#step) return;
    this.#leg.writer.closePiece("completed");
    this.#step = step;
    this.#attempt = 1;
    this.#pieces = { msg: 0, rs: 0 };
    this.#calls.clear();
  }

  #write(kind: Piece["kind"], { text, attempt }: { readonly text: string; readonly attempt: number }): void {
    this.#attend(attempt);
    if (text === "") return;
    this.#begun().write(kind, text, () => this.#at({ step: this.#step, position: this.#pieces[counters[kind]]++ }));
  }

  /** Voids the step when a later attempt starts. */
  #attend(attempt: number): void {
    if (attempt > this.#attempt) this.#void(this.#step);
    this.#attempt = attempt;
  }

  #result(part: TurnPart & { readonly type: "toolResult" }): void {
    const call = this.#calls.get(part.callId);
    if (call === undefined || call.is === "resolved") return;
    const isOfCaller = this.turn.callerTools.has(part.name);
    // Only the caller completes or fails its calls. A follower of another host may read the result without the request.
    if (isOfCaller && (part.outcome === "completed" || part.outcome === "failed")) this.#request(part.callId);
    call.is = "resolved";
    // A call that was settled by a later ask was not answered.
    if (!this.#isUnderWay && part.outcome === "interrupted") return;
    const writer = this.#begun();
    // A call of the caller's that the machine has refused (of a reply that was cut, or with arguments that do not fit) gets no
    // end: clients run a call that has one, whatever its status.
    if (isOfCaller) return this.#endIfAllWait();
    const result = { text: contentText(part.content), failed: part.outcome !== "completed" };
    const { callId, name } = part;
    writer.addResult(this.#at(part), { callId, name, arguments: call.arguments }, result);
    // The end of a turn interrupts its calls one by one, and ends the leg itself.
    if (part.outcome !== "interrupted" || this.#moment.outcome === null) this.#endIfAllWait();
  }

  #approval({ id, callId, position, name, arguments: approved }: ApprovalRequest, step: number): void {
    const call = this.#calls.get(callId);
    const number = Number(/approval-(\d+)$/u.exec(id)?.[1] ?? 1);
    if (call === undefined || call.is === "resolved" || number <= call.approvals) return;
    call.approvals = number;
    const asked = { name, arguments: JSON.stringify(approved), number };
    this.#begun().addApproval(this.#at({ step, position }), asked);
    this.#wait(call);
  }

  #request(callId: string): void {
    const call = this.#calls.get(callId);
    if (call?.is !== "open") return;
    // Only now is it known that the caller is to run it.
    this.#begun().closeCall(this.#at(call), call);
    this.#wait(call);
  }

  #wait(call: RoundCall): void {
    call.is = "waiting";
    this.#asked = true;
    this.#endIfAllWait();
  }

  /** Ends the leg if no call is open and one waits, unless the leg requested no answer. */
  #endIfAllWait(): void {
    if (!this.#asked || [...this.#calls.values()].some(({ is }) => is === "open")) return;
    if ([...this.#calls.values()].some(({ is }) => is === "waiting")) this.#end("completed", null);
  }

  #end(status: "completed" | "incomplete", outcome: TurnOutcome | null): void {
    const { number, leg, writer } = this.#leg;
    const { at, usage } = this.#moment;
    writer.closePiece(status);
    leg.seal({ endedAt: at, outcome, items: writer.items, usage: usageBetween(this.#usedBefore, usage) });
    this.#isUnderWay = false;
    this.#asked = false;
    this.#usedBefore = usage;
    this.#watcher?.ended(number);
  }

  #void(step: number): void {
    if (this.#isUnderWay) this.#leg.writer.voidFrom(step);
    this.#step = Math.min(this.#step, step);
    this.#pieces = { msg: 0, rs: 0 };
  }

  /** Returns the writer of the running leg, which starts if none is running. */
  #begun(): LegWriter {
    if (this.#isUnderWay) return this.#leg.writer;
    this.#leg = this.#legNumbered(this.#leg.number + 1);
    this.#isUnderWay = true;
    this.#watcher?.begun(this.#leg.leg, this.#leg.number);
    return this.#leg.writer;
  }

  #legNumbered(number: number) {
    const { threadId, turn, echo } = this.turn;
    const leg = new Leg({ place: { threadId, turn, leg: number }, echo, createdAt: this.#moment.at });
    return { number, leg, writer: new LegWriter((event) => leg.log.add(event)) };
  }

  #at({ step, position }: { readonly step: number; readonly position: number }): ItemPlace {
    const { threadId, turn } = this.turn;
    return { threadId, turn, step, index: position };
  }
}

/** The counter of each kind of piece, named by the prefix of its item ids. */
const counters = { text: "msg", refusal: "msg", reasoning: "rs" } as const;

type ApprovalRequest = Extract<TurnPart, { readonly type: "approval.requested" }>["request"];

interface RoundCall {
  readonly step: number;
  readonly position: number;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  is: "open" | "waiting" | "resolved";
  /** The number of approval requests for this call. */
  approvals: number;
}
