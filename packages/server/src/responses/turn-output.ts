import type { AskPart } from "@colloquy/host";
import { type Content, contentText, type RequestApproval } from "@colloquy/machine";
import type { Item, ItemPlace } from "../items/item.ts";
import type { Piece } from "../items/turn-items.ts";
import { type LegEvent, LegWriter } from "./leg-writer.ts";

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

export interface LegSink {
  begun(leg: number): void;
  event(leg: number, event: LegEvent): void;
  /** `waiting`: an outside answer is needed. Otherwise the turn ended. */
  ended(leg: number, because: "waiting" | "turn"): void;
}

/**
 * Divides the parts of a turn into legs, and each leg into its items and events. It reads nothing but the parts, so
 * live parts and journalled parts produce the same legs.
 */
export class TurnOutput {
  readonly #place: { readonly threadId: string; readonly turn: number };
  readonly #callerTools: ReadonlySet<string>;
  readonly #sink: LegSink;
  #leg = 0;
  #writer: LegWriter | null = null;
  #written: LegWriter | null = null;
  #step = 0;
  #attempt = 1;
  /** The numbers of messages and reasoning items in this step, used in their ids. */
  #pieces = { msg: 0, rs: 0 };
  readonly #calls = new Map<string, RoundCall>();
  /** Whether this leg requested an outside answer. */
  #asked = false;

  constructor(
    place: { readonly threadId: string; readonly turn: number },
    callerTools: ReadonlySet<string>,
    sink: LegSink,
  ) {
    this.#place = place;
    this.#callerTools = callerTools;
    this.#sink = sink;
    // A started turn has a leg, even if the model writes nothing for long.
    this.#begun();
  }

  /** The items of the running leg, or of the last one. */
  get items(): readonly Item[] {
    return (this.#writer ?? this.#written)?.items ?? [];
  }

  /** The number of the running leg, or of the last one. */
  get leg(): number {
    return this.#leg;
  }

  get isUnderWay(): boolean {
    return this.#writer !== null;
  }

  /** The newest step whose reply is complete; 0 if there is none. Its parts may come again and change nothing. */
  get knownThrough(): number {
    return this.#calls.size > 0 || this.#writer === null ? this.#step : Math.max(this.#step - 1, 0);
  }

  apply(part: TurnPart): void {
    switch (part.type) {
      case "step.started":
        this.#beginStep(part.step);
        return;
      case "text.delta":
        this.#write("text", part);
        return;
      case "reasoning.delta":
        this.#write("reasoning", part);
        return;
      case "refusal.delta":
        this.#write("refusal", part);
        return;
      case "toolCall.delta":
        this.#attend(part.attempt);
        if (this.#callerTools.has(part.name)) this.#begun().writeCall(this.#at(part), part);
        return;
      case "toolCall":
        this.#calls.set(part.callId, { name: part.name, arguments: part.arguments, is: "open", approvals: 0 });
        if (this.#callerTools.has(part.name)) this.#begun().closeCall(this.#at(part), part);
        return;
      case "toolResult":
        this.#result(part);
        return;
      case "result.requested":
        this.#request(part.callId);
        return;
      case "approval.requested":
        this.#approval(part.request, part.step);
        return;
      case "answered":
        this.#begun();
        return;
      case "signal":
        if (part.signal.type === "retry.scheduled" || part.signal.type === "output.refused") this.#void(this.#step);
        return;
      case "thread.lost":
        this.#void(this.#step);
        return;
      case "replay.started":
        this.#void(part.step);
        return;
      case "turn.ended":
        this.#endTurn(part.status === "completed" ? "completed" : "incomplete");
        return;
      // A step that broke off ends too. The next part shows whether its text is complete.
      case "step.ended":
      case "turn.started":
      case "output.partial":
      case "wait.started":
      case "wait.ended":
      case "thread.forked":
      case "parts.dropped":
    }
  }

  #beginStep(step: number): void {
    this.#begun();
    if (step === this.#step) return;
    this.#writer?.closePiece("completed");
    this.#step = step;
    this.#attempt = 1;
    this.#pieces = { msg: 0, rs: 0 };
    this.#calls.clear();
  }

  #write(kind: Piece["kind"], { text, attempt }: { readonly text: string; readonly attempt: number }): void {
    this.#attend(attempt);
    if (text === "") return;
    const counted = kind === "reasoning" ? "rs" : "msg";
    this.#begun().write(kind, text, () => ({ ...this.#place, step: this.#step, index: this.#pieces[counted]++ }));
  }

  /** Voids the step when a later attempt starts. */
  #attend(attempt: number): void {
    if (attempt > this.#attempt) this.#void(this.#step);
    this.#attempt = attempt;
  }

  #result(part: TurnPart & { readonly type: "toolResult" }): void {
    const call = this.#calls.get(part.callId);
    if (call === undefined || call.is === "resolved") return;
    call.is = "resolved";
    // A call that was settled by a later ask was not answered.
    if (this.#writer === null && part.outcome === "interrupted") return;
    const writer = this.#begun();
    if (this.#callerTools.has(part.name)) return;
    const result = { text: textOfContent(part.content), failed: part.outcome !== "completed" };
    const { callId, name } = part;
    writer.addResult(this.#at(part), { callId, name, arguments: call.arguments }, result);
    this.#endIfAllWait();
  }

  #approval({ id, callId, position, name, arguments: approved }: ApprovalRequest, step: number): void {
    const call = this.#calls.get(callId);
    const number = Number(/approval-(\d+)$/u.exec(id)?.[1] ?? 1);
    if (call === undefined || call.is === "resolved" || number <= call.approvals) return;
    call.approvals = number;
    const asked = { name, arguments: JSON.stringify(approved), number };
    this.#begun().addApproval({ ...this.#place, step, index: position }, asked);
    this.#wait(call);
  }

  #request(callId: string): void {
    const call = this.#calls.get(callId);
    if (call?.is === "open") this.#wait(call);
  }

  #wait(call: RoundCall): void {
    call.is = "waiting";
    if (this.#writer !== null) this.#asked = true;
    this.#endIfAllWait();
  }

  /**
   * Ends the leg if no call is open and one waits. A leg that requested no answer continues while an earlier leg's
   * answers are missing.
   */
  #endIfAllWait(): void {
    if (!this.#asked || [...this.#calls.values()].some(({ is }) => is === "open")) return;
    if ([...this.#calls.values()].some(({ is }) => is === "waiting")) this.#end("completed", "waiting");
  }

  #endTurn(status: "completed" | "incomplete"): void {
    if (this.#writer !== null) this.#end(status, "turn");
  }

  #end(status: "completed" | "incomplete", because: "waiting" | "turn"): void {
    this.#writer?.close(status);
    this.#written = this.#writer;
    this.#writer = null;
    this.#asked = false;
    this.#sink.ended(this.#leg, because);
  }

  #void(step: number): void {
    this.#writer?.voidFrom(step);
    this.#step = Math.min(this.#step, step);
    this.#pieces = { msg: 0, rs: 0 };
  }

  #begun(): LegWriter {
    if (this.#writer !== null) return this.#writer;
    const leg = ++this.#leg;
    this.#writer = new LegWriter((event) => this.#sink.event(leg, event));
    this.#sink.begun(leg);
    return this.#writer;
  }

  #at({ step, position }: { readonly step: number; readonly position: number }): ItemPlace {
    return { ...this.#place, step, index: position };
  }
}

type ApprovalRequest = Extract<TurnPart, { readonly type: "approval.requested" }>["request"];

interface RoundCall {
  readonly name: string;
  readonly arguments: string;
  is: "open" | "waiting" | "resolved";
  /** The number of approval requests for this call. */
  approvals: number;
}

const textOfContent = (content: Content | null): string => {
  if (content === null) return "";
  return typeof content === "string" ? content : contentText(content);
};
