import type { ServerResponse } from "node:http";
import type { LlmDelta } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import {
  type AnswerHead,
  type AnswerStream,
  argumentPieces,
  endFailed,
  headOf,
  shownSoFar,
  startEvents,
} from "./answer.ts";
import { wireToolCall, wireUsage } from "./chat-completion.ts";
import { bodyOfError, errorOfFailure } from "./wire-error.ts";

/**
 * Streams chat completion chunks on a response, with usage if requested, and `[DONE]`. Each piece costs one small
 * string, so that a long answer is cheap.
 */
export const chatStream = (response: ServerResponse, head: AnswerHead, includeUsage: boolean): AnswerStream => {
  const events = eventsOf(head, includeUsage);
  const calls = new Set<number>();
  const shown = shownSoFar();
  let started = false;

  const start = (): void => {
    if (started) return;
    started = true;
    startEvents(response);
    response.write(events.delta(`{"role":"assistant","content":"","refusal":null}`));
  };

  const send = (delta: LlmDelta): void => {
    start();
    shown.note(delta);
    if (delta.type !== "toolCall") {
      response.write(events.delta(`{"${fields[delta.type]}":${JSON.stringify(delta.text)}}`));
      return;
    }
    const { index, arguments: written } = delta;
    if (!calls.has(index)) {
      calls.add(index);
      const opening = { index, ...wireToolCall({ ...delta, arguments: "" }) };
      response.write(events.delta(JSON.stringify({ tool_calls: [opening] })));
    }
    for (const piece of argumentPieces(written)) {
      response.write(events.delta(JSON.stringify({ tool_calls: [{ index, function: { arguments: piece } }] })));
    }
  };

  return {
    started: () => started,
    send,
    complete: (outcome) => {
      start();
      for (const delta of shown.missing(outcome)) send(delta);
      const last = eventsOf(headOf(head, outcome), includeUsage);
      if (outcome.finishReason !== null) response.write(last.delta("{}", outcome.finishReason));
      if (includeUsage && outcome.usage !== undefined) response.write(last.usage(wireUsage(outcome.usage)));
      response.end("data: [DONE]\n\n");
    },
    fail: (failure) => {
      start();
      endFailed(response, failure, () => `data: ${JSON.stringify(bodyOfError(errorOfFailure(failure)))}\n\n`);
    },
  };
};

const fields = { text: "content", reasoning: "reasoning_content", refusal: "refusal" } as const;

interface Events {
  /** Returns an event with a delta, which is passed as JSON. */
  readonly delta: (json: string, finishReason?: string) => string;
  readonly usage: (usage: JsonObject) => string;
}

/** Serialises the constant part of each event once. */
const eventsOf = ({ id, created, model }: AnswerHead, includeUsage: boolean): Events => {
  const common = JSON.stringify({ id, object: "chat.completion.chunk", created, model }).slice(0, -1);
  const before = `data: ${common},"choices":[{"index":0,"delta":`;
  const after = `}]${includeUsage ? `,"usage":null` : ""}}\n\n`;
  return {
    delta: (json, finishReason) => {
      const reason = finishReason === undefined ? "null" : JSON.stringify(finishReason);
      return `${before}${json},"logprobs":null,"finish_reason":${reason}${after}`;
    },
    usage: (usage) => `data: ${common},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`,
  };
};
