import type { Content, Json, ToolOutcome } from "@colloquy/machine";
import type { UiMessageChunk } from "./chunk.ts";
import { addSaid, endedBy, inputOf, metadataOf, type resultsOf, type SaidText, type Step } from "./steps.ts";

/**
 * Writes one step after the other into a message. A client adds to a message, and takes back no more than all of the step that
 * is under way (`reset-step`), not even that it began: so a step begins where it has something to show.
 */
export class StepWriter {
  /** Shows a chunk; `isAnswer` of one about a call that the client may have from before. */
  readonly #send: (chunk: UiMessageChunk, isAnswer?: boolean) => void;
  /** How many there are. */
  #steps = 0;
  #isOpen = false;
  #hasContent = false;
  #said: SaidText[] = [];
  #textsShown = 0;
  #text: { readonly kind: SaidText["kind"]; readonly id: string } | null = null;
  /** A text came behind a call, and a thread keeps the calls last. */
  #isMixed = false;
  #calls = new Map<string, ShownCall>();

  constructor(send: (chunk: UiMessageChunk, isAnswer?: boolean) => void) {
    this.#send = send;
  }

  /** Whether nothing but answers from outside is missing. */
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
    // It may come behind the first pieces.
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

  /** A call waits for an answer from outside; for one about its approval, where it has a signature. */
  await(toolCallId: string, signature?: string): void {
    const call = this.#callOf(toolCallId);
    call.waits = true;
    if (signature === undefined) return;
    // A client that has the question is asked no other time, unless the thread does so.
    this.#send({ type: "tool-approval-request", approvalId: toolCallId, toolCallId, signature }, call.isAsked);
    call.isAsked = true;
  }

  /** What a call came to. */
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
      // A chunk of each state has its fields.
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
    // One that was reset is empty, and is the next one.
    if (this.#hasContent) this.#isOpen = false;
    this.#forget();
  }

  /** What was shown of the step is void. */
  reset(): void {
    if (this.#hasContent) this.#send({ type: "reset-step" });
    this.#forget();
  }

  /** Shows what is missing of all steps; where the last one differs it is written again. `next` is called between steps. */
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

/** What the client was shown of a tool call. */
interface ShownCall {
  /** Pieces of its arguments that could not be shown yet. */
  unsent: string;
  shown: "not" | "begun" | "whole";
  /** Whether it may run. */
  isAsked: boolean;
  waits: boolean;
  hasEnded: boolean;
}
