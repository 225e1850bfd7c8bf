import type { LlmDelta } from "@colloquy/host";
import type { JsonObject, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import {
  type AnswerHead,
  type AnswerStream,
  answerStream,
  type EventSink,
  argumentPieces,
  headOf,
  wireUsage,
  type Completed,
  spokenOf,
} from "./answer.ts";
import { eventOfFailure } from "./wire-error.ts";

/** Streams chat completion chunks. Each piece costs one small string, so that a long answer is cheap. */
export const chatStream = (response: EventSink, head: AnswerHead, includeUsage: boolean): AnswerStream => {
  const events = eventsOf(head, includeUsage);
  const calls = new Set<number>();
  return answerStream(response, {
    open: () => void response.write(events.delta(`{"role":"assistant","content":"","refusal":null}`)),
    piece: (delta: LlmDelta) => {
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
    },
    close: (outcome) => {
      const last = eventsOf(headOf(head, outcome), includeUsage);
      if (outcome.finishReason !== null) response.write(last.delta("{}", outcome.finishReason));
      if (includeUsage && outcome.usage !== undefined) response.write(last.usage(wireUsage(outcome.usage)));
      return "data: [DONE]\n\n";
    },
    failed: eventOfFailure,
  });
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

/** Returns a whole answer, as `POST /chat/completions` without `stream` does. */
export const chatCompletion = (head: AnswerHead, outcome: Completed): JsonObject => ({
  ...headOf(head, outcome),
  object: "chat.completion",
  choices: [{ index: 0, message: wireReply(outcome.reply), logprobs: null, finish_reason: outcome.finishReason }],
  ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage) }),
});

/** Returns a tool call in the form of an answer; one without an id has none in the answer either. */
const wireToolCall = ({ id, name, arguments: written }: ToolCallDraft): JsonObject => ({
  ...(id === null ? {} : { id }),
  type: "function",
  function: { name, arguments: written },
});

const wireReply = (reply: ReplyDraft): JsonObject => {
  const { text, reasoning, refusal } = spokenOf(reply);
  const calls = reply.toolCalls ?? [];
  const silent = text === "" && (calls.length > 0 || refusal !== "");
  return {
    role: "assistant",
    content: silent ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireToolCall) }),
  };
};
