import type { Content, Json, ToolOutcome } from "@colloquy/machine";
import type { UiMessageChunk } from "./chunk.ts";
import { addSaid, endedBy, inputOf, metadataOf, type resultsOf, type SaidText, type Step } from "./steps.ts";

/**
 * Writes the steps of a message one after the other. A client can only append to a message, or void the content of the
 * running step (`reset-step`), though not the step itself. So a step starts when it has content to show.
 */
export class StepWriter {
  /** Sends a chunk. `isAnswer` marks a chunk about a call that the client may have from before. */
  readonly #send: (chunk: UiMessageChunk, isAnswer?: boolean) => void;
  /** The number of steps. */
  #steps = 0;
  #isOpen = false;
  #hasContent = false;
  #said: SaidText[] = [];
  #textsShown = 0;
  #text: { readonly kind: SaidText["kind"]; readonly id: string } | null = null;
  /** Whether text followed a call; a thread stores the calls last. */
  #isMixed = false;
  #calls = new Map<string, ShownCall>();

  constructor(send: (chunk: UiMessageChunk, isAnswer?: boolean) => void) {
    this.#send = send;
  }

  /** Whether only outside answers are missing. */
  get waits(): boolean {
    const left = [...this.#calls.values()].filter(({ hasEnded }) => !hasEnded);
    return left.length > 0 && left.every(({ waits }) => waits);
  }

  write(kind: SaidText["kind"], text: string): void {
    if (text === "") return;
    this.#begin();
    this.#isMixed ||= this.#calls.size > 0;
    addSaid(this.#said, kind, text);
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

  showCall(toolCallId: string, toolName: string, input: Json): void {
    if (this.#calls.get(toolCallId)?.shown === "whole") return;
    if (this.#isMixed) {
      const said = this.#said;
      this.reset();
      this.#showSaid(said);
    }
    this.#callOf(toolCallId).shown = "whole";
    this.#send({ type: "tool-input-available", toolCallId, toolName, input });
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

  /**
   * Shows the missing content of all steps; a last step that differs is written again. `next` is called between steps.
   */
  complete(steps: readonly Step[], results: ReturnType<typeof resultsOf>, next: () => void): void {
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
        this.showCall(callId, name, inputOf(written));
        const result = results.get(callId);
        if (result !== undefined) this.answer(callId, result.outcome, result.content);
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
    const call = this.#calls.get(callId) ?? { unsent: "", shown: "not", isAsked: false, waits: false, hasEnded: false };
    this.#calls.set(callId, call);
    return call;
  }

  #showSaid(said: readonly SaidText[]): void {
    this.#begin();
    this.#said = said.map((text) => ({ ...text }));
    for (const { kind, text } of said) this.#show(kind, text);
  }

  #show(kind: SaidText["kind"], delta: string): void {
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
  /** Whether the client was asked to approve it. */
  isAsked: boolean;
  waits: boolean;
  hasEnded: boolean;
}
