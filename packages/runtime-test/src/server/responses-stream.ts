import type { Failure, JsonObject } from "@colloquy/machine";
import {
  type AnswerHead,
  type AnswerStream,
  answerStream,
  type EventSink,
  type Completed,
  deltasOf,
  headOf,
  wireUsage,
  argumentPieces,
} from "./answer.ts";
import { errorOfFailure } from "./wire-error.ts";
import type { LlmDelta } from "@colloquy/host";

/** The form of the wanted answer, and the request's fields that it repeats. */
export interface ResponseWish extends Omit<OutputOptions, "suffix"> {
  readonly echoed: JsonObject;
  readonly onDone: (output: readonly JsonObject[]) => void;
}

/** Returns a whole answer, as `POST /responses` without `stream` does. */
export const wholeResponse = (head: AnswerHead, outcome: Completed, wish: ResponseWish): JsonObject => {
  const output = responsesOutput({ ...wish, suffix: head.id }, () => undefined);
  for (const delta of deltasOf(outcome)) output.add(delta);
  const items = output.end(statusOf(outcome));
  wish.onDone(items);
  return endedResponse(head, outcome, wish, items);
};

/** Streams the events of the Responses API on a response, each with its number. */
export const responsesStream = (response: EventSink, head: AnswerHead, wish: ResponseWish): AnswerStream => {
  let number = 0;
  const event = (type: string, fields: JsonObject): string => {
    const name = type === "error" ? type : `response.${type}`;
    return `event: ${name}\ndata: ${JSON.stringify({ type: name, sequence_number: number++, ...fields })}\n\n`;
  };
  const write = (type: string, fields: JsonObject): void => void response.write(event(type, fields));
  const output = responsesOutput({ ...wish, suffix: head.id }, write);
  return answerStream(response, {
    open: () => {
      write("created", { response: responseOf(head, wish, "in_progress", {}) });
      write("in_progress", { response: responseOf(head, wish, "in_progress", {}) });
    },
    piece: output.add,
    close: (outcome) => {
      const status = statusOf(outcome);
      const items = output.end(status);
      wish.onDone(items);
      return event(status, { response: endedResponse(head, outcome, wish, items) });
    },
    failed: (failure) => failed(failure, head, wish, event),
  });
};

/** A fault of the server ends the response as failed; a fault of the request is an error event. */
const failed = (
  failure: Failure,
  head: AnswerHead,
  wish: ResponseWish,
  event: (type: string, fields: JsonObject) => string,
): string => {
  const { message, code, param } = errorOfFailure(failure);
  if (failure.kind === "bad_request" || failure.kind === "auth") return event("error", { code, message, param });
  const error = { code: failure.code ?? (failure.kind === "rate_limit" ? code : "server_error"), message };
  return event("failed", { response: responseOf(head, wish, "failed", { error }) });
};

const endedResponse = (
  head: AnswerHead,
  outcome: Completed,
  wish: ResponseWish,
  output: readonly JsonObject[],
): JsonObject => {
  const status = statusOf(outcome);
  const reason = outcome.finishReason === "content_filter" ? "content_filter" : "max_output_tokens";
  return responseOf(headOf(head, outcome), wish, status, {
    output,
    ...(status === "incomplete" ? { incomplete_details: { reason } } : {}),
    ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage, "input", "output") }),
  });
};

const statusOf = ({ finishReason }: Completed): "completed" | "incomplete" =>
  finishReason === "length" || finishReason === "content_filter" ? "incomplete" : "completed";

const responseOf = (
  { id, created, model }: AnswerHead,
  { echoed }: ResponseWish,
  status: string,
  fields: JsonObject,
): JsonObject => ({
  id,
  object: "response",
  created_at: created,
  status,
  error: null,
  incomplete_details: null,
  model,
  output: [],
  usage: null,
  ...echoed,
  ...fields,
});

/** Receives each event about the items of an answer, in the order of the real server. */
type OnEvent = (type: string, fields: JsonObject) => void;

interface OutputOptions {
  /** The end of the items' ids, after their place. */
  readonly suffix: string;
  /** Whether reasoning is shown as a summary; otherwise as its own text, as by open models. */
  readonly summaries: boolean;
  /** Whether reasoning comes with its encrypted content. */
  readonly encrypted: boolean;
}

interface Output {
  readonly add: (delta: LlmDelta) => void;
  /** Ends the open item, and returns all items. They are incomplete if the answer was cut off. */
  readonly end: (status?: "completed" | "incomplete") => readonly JsonObject[];
}

/**
 * Turns a model's pieces into items: a message of text and refusals, reasoning, and one item per call. An item ends
 * before the next begins, so the arguments of a call cannot continue after another call has begun.
 */
const responsesOutput = (options: OutputOptions, onEvent: OnEvent): Output => {
  const done: JsonObject[] = [];
  let open: Open | null = null;
  const close = (status: string): void => {
    if (open === null) return;
    const item = open.item.end(status);
    onEvent("output_item.done", { output_index: done.length, item });
    done.push(item);
    open = null;
  };
  const opened = (key: string, delta: LlmDelta): OpenItem => {
    if (open?.key === key) return open.item;
    close("completed");
    const index = done.length;
    const at = { output_index: index, item_id: `${prefixes[delta.type]}_${options.suffix}_${index}` };
    const item =
      delta.type === "toolCall"
        ? openCall(delta, at, onEvent)
        : delta.type === "reasoning"
          ? openReasoning(options, at, onEvent)
          : openMessage(at, onEvent);
    open = { key, item };
    return item;
  };
  const calls = new Set<string>();
  return {
    add: (delta) => {
      const key = keyOf(delta);
      const repeated = delta.type === "toolCall" && calls.has(key) && open?.key !== key;
      if (repeated)
        throw new TypeError(`the item of call ${delta.index} is done: script the calls one after the other`);
      if (delta.type === "toolCall") calls.add(key);
      opened(key, delta).add(delta);
    },
    end: (status = "completed") => {
      close(status);
      return done;
    },
  };
};

interface Open {
  /** Pieces with the same key belong to the same item. */
  readonly key: string;
  readonly item: OpenItem;
}

interface OpenItem {
  readonly add: (delta: LlmDelta) => void;
  readonly end: (status: string) => JsonObject;
}

/** The place of an item, with which its events begin. */
type Place = { readonly output_index: number; readonly item_id: string };

const prefixes = { text: "msg", refusal: "msg", reasoning: "rs", toolCall: "fc" } as const;

const keyOf = (delta: LlmDelta): string =>
  delta.type === "toolCall" ? `call ${delta.index}` : delta.type === "reasoning" ? "reasoning" : "message";

const openMessage = (at: Place, onEvent: OnEvent): OpenItem => {
  const item = { id: at.item_id, type: "message", role: "assistant" };
  const content: JsonObject[] = [];
  let part: { readonly type: "text" | "refusal"; text: string } | null = null;
  onEvent("output_item.added", {
    output_index: at.output_index,
    item: { ...item, status: "in_progress", content: [] },
  });
  const place = (): JsonObject => ({ ...at, content_index: content.length });
  const endPart = (): void => {
    if (part === null) return;
    const whole = partOf(part.type, part.text);
    const text = part.type === "text" ? { text: part.text, logprobs: [] } : { refusal: part.text };
    onEvent(`${events[part.type]}.done`, { ...place(), ...text });
    onEvent("content_part.done", { ...place(), part: whole });
    content.push(whole);
    part = null;
  };
  return {
    add: (delta) => {
      if (delta.type !== "text" && delta.type !== "refusal") return;
      if (part?.type !== delta.type) {
        endPart();
        part = { type: delta.type, text: "" };
        onEvent("content_part.added", { ...place(), part: partOf(delta.type, "") });
      }
      part.text += delta.text;
      const logprobs = delta.type === "text" ? { logprobs: [] } : {};
      onEvent(`${events[delta.type]}.delta`, { ...place(), delta: delta.text, ...logprobs });
    },
    end: (status) => {
      endPart();
      return { ...item, status, content };
    },
  };
};

const events = { text: "output_text", refusal: "refusal" } as const;

const partOf = (type: "text" | "refusal", text: string): JsonObject =>
  type === "text" ? { type: "output_text", annotations: [], logprobs: [], text } : { type, refusal: text };

/** Opens a reasoning item. Encrypted content is complete only in the finished item, as on the real server. */
const openReasoning = ({ summaries, encrypted }: OutputOptions, at: Place, onEvent: OnEvent): OpenItem => {
  const { index, part, added, done, type } = summaries ? summary : reasoningText;
  const place = { ...at, [index]: 0 };
  const item = (text: string, secret: string): JsonObject => ({
    id: at.item_id,
    type: "reasoning",
    summary: summaries && text !== "" ? [{ type, text }] : [],
    ...(summaries ? {} : { content: text === "" ? [] : [{ type, text }] }),
    ...(encrypted ? { encrypted_content: secret } : {}),
  });
  let said = "";
  onEvent("output_item.added", { output_index: at.output_index, item: item("", "gAAAA") });
  onEvent(added, { ...place, part: { type, text: "" } });
  return {
    add: (delta) => {
      if (delta.type !== "reasoning") return;
      said += delta.text;
      onEvent(`${part}.delta`, { ...place, delta: delta.text });
    },
    end: () => {
      onEvent(`${part}.done`, { ...place, text: said });
      onEvent(done, { ...place, part: { type, text: said } });
      return item(said, `gAAAA${Buffer.from(said).toString("base64url")}`);
    },
  };
};

const summary = {
  type: "summary_text",
  index: "summary_index",
  part: "reasoning_summary_text",
  added: "reasoning_summary_part.added",
  done: "reasoning_summary_part.done",
} as const;

const reasoningText = {
  type: "reasoning_text",
  index: "content_index",
  part: "reasoning_text",
  added: "content_part.added",
  done: "content_part.done",
} as const;

const openCall = (call: Extract<LlmDelta, { type: "toolCall" }>, at: Place, onEvent: OnEvent): OpenItem => {
  const item = { id: at.item_id, type: "function_call", call_id: call.id ?? "", name: call.name };
  let written = "";
  onEvent("output_item.added", {
    output_index: at.output_index,
    item: { ...item, status: "in_progress", arguments: "" },
  });
  return {
    add: (delta) => {
      if (delta.type !== "toolCall") return;
      written += delta.arguments;
      for (const piece of argumentPieces(delta.arguments)) {
        onEvent("function_call_arguments.delta", { ...at, delta: piece });
      }
    },
    end: (status) => {
      onEvent("function_call_arguments.done", { ...at, arguments: written });
      return { ...item, status, arguments: written };
    },
  };
};
