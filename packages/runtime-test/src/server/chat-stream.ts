import type { ServerResponse } from "node:http";
import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, JsonObject } from "@colloquy/machine";
import { type AnswerHead, headOf, spokenOf, wireToolCall, wireUsage } from "./chat-completion.ts";
import { bodyOfError, errorOfFailure } from "./wire-error.ts";

/** An answer as server-sent events. Nothing is sent, headers included, before the first piece is there. */
export interface ChatStream {
  /** Whether anything was sent. */
  readonly started: () => boolean;
  readonly send: (delta: LlmDelta) => void;
  /** Sends what was not shown of the reply, why it ended, the usage if that was asked for, and `[DONE]`. */
  readonly complete: (outcome: Extract<LlmOutcome, { readonly type: "completed" }>) => void;
  /** Ends as a real stream does that fails half way: with an error among the events, or with nothing. */
  readonly fail: (failure: Failure) => void;
}

/** A stream on a response. Costs one small string for each piece, so that a long answer is cheap. */
export const chatStream = (response: ServerResponse, head: AnswerHead, includeUsage: boolean): ChatStream => {
  const events = eventsOf(head, includeUsage);
  const calls = new Set<number>();
  let spoke = false;
  let started = false;

  const start = (): void => {
    if (started) return;
    started = true;
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    response.write(events.delta(`{"role":"assistant","content":"","refusal":null}`));
  };

  const send = (delta: LlmDelta): void => {
    start();
    if (delta.type !== "toolCall") {
      spoke = true;
      response.write(events.delta(`{"${fields[delta.type]}":${JSON.stringify(delta.text)}}`));
      return;
    }
    const { index, arguments: written } = delta;
    if (!calls.has(index)) {
      calls.add(index);
      const opening = { index, ...wireToolCall({ ...delta, arguments: "" }) };
      response.write(events.delta(JSON.stringify({ tool_calls: [opening] })));
    }
    for (const piece of written.match(argumentPieces) ?? []) {
      response.write(events.delta(JSON.stringify({ tool_calls: [{ index, function: { arguments: piece } }] })));
    }
  };

  return {
    started: () => started,
    send,
    complete: (outcome) => {
      start();
      for (const delta of deltasOf(outcome)) {
        if (delta.type === "toolCall" ? !calls.has(delta.index) : !spoke) send(delta);
      }
      const last = eventsOf(headOf(head, outcome), includeUsage);
      if (outcome.finishReason !== null) response.write(last.delta("{}", outcome.finishReason));
      if (includeUsage && outcome.usage !== undefined) response.write(last.usage(wireUsage(outcome.usage)));
      response.end("data: [DONE]\n\n");
    },
    fail: (failure) => {
      start();
      // What was shown is still on its way out: it goes first.
      if (failure.kind === "network") response.write("", () => response.destroy());
      else if (failure.kind === "truncated") response.end();
      else response.end(`data: ${JSON.stringify(bodyOfError(errorOfFailure(failure)))}\n\n`);
    },
  };
};

const fields = { text: "content", reasoning: "reasoning_content", refusal: "refusal" } as const;

/** Arguments come in pieces of a token or so, none of which ends within a character. */
const argumentPieces = /[\s\S]{1,12}/gu;

interface Events {
  /** One with a delta, given as its JSON. */
  readonly delta: (json: string, finishReason?: string) => string;
  readonly usage: (usage: JsonObject) => string;
}

/** All that is the same in each event is made into text once. */
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

/** A reply in as few pieces as can be, for a model that shows nothing before it is done. */
const deltasOf = ({ reply }: Extract<LlmOutcome, { readonly type: "completed" }>): readonly LlmDelta[] => {
  const { text, reasoning, refusal } = spokenOf(reply);
  const spoken = [
    { type: "reasoning", text: reasoning },
    { type: "text", text },
    { type: "refusal", text: refusal },
  ] as const;
  const calls = (reply.toolCalls ?? []).map((call, index) => ({ type: "toolCall", index, ...call }) as const);
  return [...spoken.filter((delta) => delta.text !== ""), ...calls];
};
