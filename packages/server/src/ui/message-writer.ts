import type { AskPart, TurnSummary } from "@colloquy/host";
import type { Content, Json, ToolOutcome, ToolResultPart } from "@colloquy/machine";
import { addPiece, type Piece, resultsOf } from "../items/pieces.ts";
import type { UiFinishReason, UiMessageChunk, UiMetadata } from "./chunk.ts";
import { endedBy, inputOf, messageIdOf, metadataOf, type Step, stepsOf } from "./steps.ts";

export interface StepPlace {
  readonly turn: number;
  readonly step: number;
}

/** How a turn ended. `chunks` announce it before the stream finishes. */
export interface UiEnding {
  readonly turn: number;
  readonly status: NonNullable<UiMetadata["status"]>;
  readonly summary: Pick<TurnSummary, "messages" | "usage">;
  readonly chunks: readonly UiMessageChunk[];
  readonly finishReason: UiFinishReason;
}

/** Writes a turn as chunks of one UI message. Its end corrects the last step, and adds those not shown. */
export class MessageWriter {
  readonly #steps: StepWriter;
  #turn: number | null = null;
  #threadId: string | null = null;
  #step = 0;
  #attempt = 1;
  /** Parts of earlier steps come again after a replay; the client has them. */
  #skipBelow = 0;
  #chunks: UiMessageChunk[] = [];

  /**
   * @param behind the client has the message up to this step; only answers to its calls may be missing.
   * @param pageTools the names of tools that the client runs when it is shown their calls.
   */
  constructor(behind: number, pageTools: ReadonlySet<string>) {
    this.#steps = new StepWriter((chunk, isAnswer = false) => {
      // Before its first step starts, an ask that joined a turn is shown the rest of a step that the client lacks.
      if (this.#step > behind || (isAnswer && this.#step > 0 && this.#step === behind)) this.#chunks.push(chunk);
    }, pageTools);
  }

  /** The shown step that lacks only outside answers; null if there is none. */
  get waitsAt(): StepPlace | null {
    return this.#turn !== null && this.#steps.waits ? { turn: this.#turn, step: this.#step } : null;
  }

  /** Returns the chunks that a part adds to the message. */
  take(part: AskPart<unknown>): readonly UiMessageChunk[] {
    if ("turn" in part && part.type !== "thread.forked") this.#start(part.turn);
    if (!("step" in part) || part.type === "replay.started" || part.step >= this.#skipBelow) this.#read(part);
    return this.#taken();
  }

  /** Ends the stream while the turn waits for answers. @param results the step's, whose parts may come later */
  endOfLeg(results: readonly ToolResultPart[]): readonly UiMessageChunk[] {
    for (const { callId, outcome, content } of results) this.#steps.answer(callId, outcome, content);
    this.#steps.end();
    this.#chunks.push({ type: "finish", finishReason: "tool-calls" });
    return this.#taken();
  }

  end({ turn, status, summary: { messages, usage }, chunks, finishReason }: UiEnding): readonly UiMessageChunk[] {
    this.#start(turn);
    // The steps of a turn that another process answered are known only at its end.
    this.#step = Math.max(this.#step, 1);
    this.#steps.complete(stepsOf(messages), resultsOf(messages), () => void (this.#step += 1));
    this.#steps.end();
    this.#chunks.push({ type: "message-metadata", messageMetadata: { ...this.#metadata(turn), status, usage } });
    this.#chunks.push(...chunks, { type: "finish", finishReason });
    return this.#taken();
  }

  #read(part: AskPart<unknown>): void {
    switch (part.type) {
      case "thread.forked":
        this.#threadId = part.threadId;
        return;
      case "step.started":
        if (part.step <= this.#step) return;
        this.#steps.end();
        this.#step = part.step;
        this.#attempt = 1;
        return;
      case "replay.started":
        if (part.step > this.#step) return;
        this.#skipBelow = this.#step;
        return this.#steps.reset();
      case "thread.lost":
        return this.#steps.reset();
      case "signal":
        if (part.signal.type === "retry.scheduled" || part.signal.type === "output.refused") this.#steps.reset();
        return;
      default:
        this.#readOfStep(part);
    }
  }

  #readOfStep(part: AskPart<unknown>): void {
    if ("attempt" in part && part.type !== "output.partial" && part.attempt !== this.#attempt) {
      this.#steps.reset();
      this.#attempt = part.attempt;
    }
    switch (part.type) {
      case "text.delta":
        return this.#steps.write("text", part.text);
      case "reasoning.delta":
        return this.#steps.write("reasoning", part.text);
      case "refusal.delta":
        return this.#steps.write("refusal", part.text);
      case "toolCall.delta":
        return this.#steps.writeCall(part.callId, part.name, part.arguments);
      case "toolCall":
        return this.#steps.offerCall(part.callId, part.name, inputOf(part.arguments));
      case "approval.requested": {
        const { callId, name, arguments: input, digest } = part.request;
        this.#steps.showCall(callId, name, input);
        return this.#steps.await(callId, digest);
      }
      case "result.requested":
        this.#steps.showCall(part.callId, part.name, inputOf(part.arguments));
        return this.#steps.await(part.callId);
      case "toolResult":
        return this.#steps.answer(part.callId, part.outcome, part.content);
      default:
    }
  }

  #start(turn: number): void {
    if (this.#turn !== null) return;
    this.#turn = turn;
    this.#chunks.push({ type: "start", messageId: messageIdOf(turn), messageMetadata: this.#metadata(turn) });
  }

  #metadata(turn: number): UiMetadata {
    return this.#threadId === null ? { turn } : { turn, threadId: this.#threadId };
  }

  #taken(): readonly UiMessageChunk[] {
    return this.#chunks.splice(0);
  }
}

/**
 * Writes the steps of a message one after the other. A client can only append to a message, or void the content of the
 * running step (`reset-step`), though not the step itself. So a step starts when it has content to show.
 */
class StepWriter {
  /** Sends a chunk. `isAnswer` marks a chunk about a call that the client may have from before. */
  readonly #send: (chunk: UiMessageChunk, isAnswer?: boolean) => void;
  readonly #pageTools: ReadonlySet<string>;
  /** The number of steps. */
  #steps = 0;
  #isOpen = false;
  #hasContent = false;
  #said: Piece[] = [];
  #textsShown = 0;
  #text: { readonly kind: Piece["kind"]; readonly id: string } | null = null;
  /** Whether text followed a call; a thread stores the calls last. */
  #isMixed = false;
  #calls = new Map<string, ShownCall>();

  constructor(send: (chunk: UiMessageChunk, isAnswer?: boolean) => void, pageTools: ReadonlySet<string>) {
    this.#send = send;
    this.#pageTools = pageTools;
  }

  /** Whether only outside answers are missing. */
  get waits(): boolean {
    const left = [...this.#calls.values()].filter(({ hasEnded }) => !hasEnded);
    return left.length > 0 && left.every(({ waits }) => waits);
  }

  write(kind: Piece["kind"], text: string): void {
    if (text === "") return;
    this.#begin();
    this.#isMixed ||= this.#calls.size > 0;
    addPiece(this.#said, kind, text);
    this.#show(kind, text);
  }

  writeCall(toolCallId: string, toolName: string, written: string): void {
    const call = this.#callOf(toolCallId);
    call.unsent += written;
    // The name may come after the first pieces.
    if (toolName === "") return;
    if (call.shown === "not") this.#send({ type: "tool-input-start", toolCallId, toolName });
    if (call.unsent !== "") this.#send({ type: "tool-input-delta", toolCallId, inputTextDelta: call.unsent });
    call.shown = "begun";
    call.unsent = "";
  }

  /** Shows a call, unless the page would run it: one that was refused, as of a reply that was cut, must not run. */
  offerCall(toolCallId: string, toolName: string, input: Json): void {
    if (!this.#pageTools.has(toolName)) return this.showCall(toolCallId, toolName, input);
    this.#putTextFirst();
    this.#callOf(toolCallId).held = { toolName, input };
  }

  showCall(toolCallId: string, toolName: string, input: Json): void {
    if (this.#calls.get(toolCallId)?.shown === "whole") return;
    this.#putTextFirst();
    this.#callOf(toolCallId).shown = "whole";
    this.#send({ type: "tool-input-available", toolCallId, toolName, input });
  }

  #putTextFirst(): void {
    if (!this.#isMixed) return;
    const said = this.#said;
    this.reset();
    this.#showSaid(said);
  }

  /** Marks a call that waits for an outside answer. A signature means that it waits for approval. */
  await(toolCallId: string, signature?: string): void {
    const call = this.#callOf(toolCallId);
    call.waits = true;
    if (signature === undefined) return;
    // A client that has the request is not asked again, unless the thread repeats it.
    this.#send({ type: "tool-approval-request", approvalId: toolCallId, toolCallId, signature }, call.isAsked);
    call.isAsked = true;
  }

  /** Shows the result of a call. */
  answer(toolCallId: string, outcome: ToolOutcome, content: Content | null): void {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || call.hasEnded) return;
    call.hasEnded = true;
    this.#endText();
    const ended = endedBy(outcome, content);
    const approvalId = toolCallId;
    if (call.held !== null && call.shown !== "whole") {
      if (ended.state !== "output-error") this.showCall(toolCallId, call.held.toolName, call.held.input);
      else {
        call.shown = "whole";
        const { errorText } = ended;
        return this.#send({ type: "tool-input-error", toolCallId, ...call.held, errorText }, true);
      }
    }
    if (ended.state !== "output-denied") {
      if (call.isAsked && outcome !== "interrupted")
        this.#send({ type: "tool-approval-response", approvalId, approved: true }, true);
      const { state, ...result } = ended;
      // Each state's chunk type has exactly the members of that state.
      this.#send({ type: `tool-${state}`, toolCallId, ...result } as UiMessageChunk, true);
      return;
    }
    if (!call.isAsked) this.#send({ type: "tool-approval-request", approvalId, toolCallId }, true);
    const { reason } = ended;
    const why = reason === undefined ? {} : { reason };
    this.#send({ type: "tool-approval-response", approvalId, approved: false, ...why }, true);
    this.#send({ type: "tool-output-denied", toolCallId }, true);
  }

  end(): void {
    this.#endText();
    if (this.#hasContent) this.#send({ type: "finish-step" });
    // A step that was reset has no content, so the next step reuses it.
    if (this.#hasContent) this.#isOpen = false;
    this.#forget();
  }

  /** Voids the shown content of the step. */
  reset(): void {
    if (this.#hasContent) this.#send({ type: "reset-step" });
    this.#forget();
  }

  /** Shows the missing content of all steps, the last one again if it differs. Calls `next` between steps. */
  complete(steps: readonly Step[], results: ReadonlyMap<string, ToolResultPart>, next: () => void): void {
    const from = this.#isOpen ? this.#steps - 1 : this.#steps;
    const shown = this.#hasContent ? steps[from] : undefined;
    if (shown === undefined || !this.#shows(shown)) this.reset();
    for (const step of steps.slice(from)) {
      if (step !== shown && this.#hasContent) {
        this.end();
        next();
      }
      if (!this.#hasContent) this.#showSaid(step.said);
      for (const { callId, name, arguments: written } of step.calls) {
        const result = results.get(callId);
        if (result === undefined) this.showCall(callId, name, inputOf(written));
        else {
          this.offerCall(callId, name, inputOf(written));
          this.answer(callId, result.outcome, result.content);
        }
      }
    }
  }

  #shows({ said, calls }: Step): boolean {
    const areShown =
      calls.length === this.#calls.size && calls.every(({ callId }) => this.#calls.get(callId)?.shown === "whole");
    return areShown && JSON.stringify(said) === JSON.stringify(this.#said);
  }

  #begin(): void {
    if (!this.#isOpen) {
      this.#steps += 1;
      this.#send({ type: "start-step" });
    }
    this.#isOpen = true;
    this.#hasContent = true;
  }

  #forget(): void {
    this.#hasContent = false;
    this.#said = [];
    this.#text = null;
    this.#textsShown = 0;
    this.#isMixed = false;
    this.#calls = new Map();
  }

  #callOf(callId: string): ShownCall {
    this.#begin();
    this.#endText();
    const call = this.#calls.get(callId) ?? {
      unsent: "",
      shown: "not",
      held: null,
      isAsked: false,
      waits: false,
      hasEnded: false,
    };
    this.#calls.set(callId, call);
    return call;
  }

  #showSaid(said: readonly Piece[]): void {
    this.#begin();
    this.#said = said.map((text) => ({ ...text }));
    for (const { kind, text } of said) this.#show(kind, text);
  }

  #show(kind: Piece["kind"], delta: string): void {
    const type = kind === "reasoning" ? "reasoning" : "text";
    if (this.#text?.kind !== kind) {
      this.#endText();
      this.#text = { kind, id: `${this.#steps}.${this.#textsShown++}` };
      this.#send({ type: `${type}-start`, id: this.#text.id, ...metadataOf(kind) });
    }
    this.#send({ type: `${type}-delta`, id: this.#text.id, delta });
  }

  #endText(): void {
    if (this.#text === null) return;
    const { kind, id } = this.#text;
    this.#text = null;
    this.#send({ type: kind === "reasoning" ? "reasoning-end" : "text-end", id });
  }
}

/** The part of a tool call that the client was shown. */
interface ShownCall {
  /** Pieces of the arguments that could not be shown yet. */
  unsent: string;
  shown: "not" | "begun" | "whole";
  /** The whole call, if it is not shown before it is known whether it is refused. */
  held: { readonly toolName: string; readonly input: Json } | null;
  /** Whether the client was asked to approve it. */
  isAsked: boolean;
  waits: boolean;
  hasEnded: boolean;
}
