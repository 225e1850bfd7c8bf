import type { LlmDelta } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { argumentPieces } from "./answer.ts";

/** Receives each event about the items of an answer, in the order of the real server. */
export type OnEvent = (type: string, fields: JsonObject) => void;

export interface OutputOptions {
  /** The end of the items' ids, after their place. */
  readonly suffix: string;
  /** Whether reasoning is shown as a summary; otherwise as its own text, as by open models. */
  readonly summaries: boolean;
  /** Whether reasoning comes with its encrypted content. */
  readonly encrypted: boolean;
}

/** The items of an answer, made from a model's pieces. */
export interface Output {
  readonly add: (delta: LlmDelta) => void;
  /** Ends the open item, and returns all items. They are incomplete if the answer was cut off. */
  readonly end: (status?: "completed" | "incomplete") => readonly JsonObject[];
}

/**
 * Turns a model's pieces into items: a message of text and refusals, reasoning, and one item per call. An item ends
 * before the next begins, so the arguments of a call cannot continue after another call has begun.
 */
export const responsesOutput = (options: OutputOptions, onEvent: OnEvent): Output => {
  const done: JsonObject[] = [];
  let open: Open | null = null;
  const close = (status: string): void => {
    if (open !== null) done.push(open.item.end(status));
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
      return ended(at, { ...item, status, content }, onEvent);
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
      return ended(at, item(said, `gAAAA${Buffer.from(said).toString("base64url")}`), onEvent);
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
      return ended(at, { ...item, status, arguments: written }, onEvent);
    },
  };
};

const ended = ({ output_index }: Place, item: JsonObject, onEvent: OnEvent): JsonObject => {
  onEvent("output_item.done", { output_index, item });
  return item;
};
