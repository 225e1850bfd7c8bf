import type { AskPart, TurnSummary } from "@colloquy/host";
import type { ToolResultPart } from "@colloquy/machine";
import type { UiFinishReason, UiMessageChunk, UiMetadata } from "./chunk.ts";
import { inputOf, messageIdOf, resultsOf, stepsOf } from "./steps.ts";
import { StepWriter } from "./step-writer.ts";

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

/**
 * Writes the parts of a turn as chunks of one UI message. At the end of the turn, it corrects the last shown step and
 * adds the steps that were not shown.
 */
export class MessageWriter {
  readonly #steps: StepWriter;
  #turn: number | null = null;
  #threadId: string | null = null;
  #step = 0;
  #attempt = 1;
  /** Parts of earlier steps come again after a replay; the client has them. */
  #skipBelow = 0;
  #chunks: UiMessageChunk[] = [];

  /** @param behind the client has the message up to this step; only answers to its calls may be missing. */
  constructor(behind: number) {
    this.#steps = new StepWriter((chunk, isAnswer = false) => {
      if (this.#step > behind || (isAnswer && this.#step === behind)) this.#chunks.push(chunk);
    });
  }

  /** The shown step that lacks only outside answers; null if there is none. */
  get waitsAt(): StepPlace | null {
    return this.#turn !== null && this.#steps.waits ? { turn: this.#turn, step: this.#step } : null;
  }

  /** Returns the chunks that a part adds to the message. */
  take(part: AskPart<unknown>): readonly UiMessageChunk[] {
    if (!("step" in part) || part.type === "replay.started" || part.step >= this.#skipBelow) this.#read(part);
    return this.#taken();
  }

  /**
   * Ends the stream while the turn waits for outside answers. @param results the step's results, whose parts may come
   * later
   */
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
      case "turn.started":
        return this.#start(part.turn);
      case "step.started":
        if (part.step <= this.#step) return;
        this.#steps.end();
        this.#step = part.step;
        this.#attempt = 1;
        return;
      case "replay.started":
        this.#start(part.turn);
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
        return this.#steps.showCall(part.callId, part.name, inputOf(part.arguments));
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
