import type { ReplyDraft } from "@colloquy/machine";
import type { LlmDelta } from "../ports/llm.ts";

/** What has been shown of a reply that still comes. Tool calls are left out: they may not be whole. */
export class ShownReply {
  readonly #all: ShownPart[] = [];
  /** What is new since it was last taken. */
  #news: ShownPart[] = [];

  add(delta: LlmDelta): void {
    if (delta.type === "toolCall" || delta.text === "") return;
    addTo(this.#all, delta.type, delta.text);
    addTo(this.#news, delta.type, delta.text);
  }

  /** Undefined when nothing was shown. */
  get draft(): ReplyDraft | undefined {
    return draftOf(this.#all);
  }

  /** What was shown since this was last asked; undefined when that is nothing. */
  takeNews(): ReplyDraft | undefined {
    const news = draftOf(this.#news);
    this.#news = [];
    return news;
  }
}

interface ShownPart {
  readonly type: "text" | "reasoning" | "refusal";
  text: string;
}

const addTo = (parts: ShownPart[], type: ShownPart["type"], text: string): void => {
  const last = parts.at(-1);
  if (last?.type === type) last.text += text;
  else parts.push({ type, text });
};

const draftOf = (parts: readonly ShownPart[]): ReplyDraft | undefined => {
  const [first, ...others] = parts;
  if (first === undefined) return undefined;
  if (first.type === "text" && others.length === 0) return { content: first.text };
  return { content: parts.map((part) => ({ ...part })) };
};

/** Whether a handler gave one: it may be written in JavaScript, and what was shown is journalled. */
export const isDelta = (given: unknown): boolean => {
  if (typeof given !== "object" || given === null || !("type" in given)) return false;
  if (given.type === "toolCall") return isPieceOfCall(given);
  const isText = given.type === "text" || given.type === "reasoning" || given.type === "refusal";
  return isText && "text" in given && typeof given.text === "string";
};

const isPieceOfCall = (given: object): boolean => {
  const { index, id, name, arguments: written } = given as { readonly [member: string]: unknown };
  if (!(Number.isSafeInteger(index) && Number(index) >= 0)) return false;
  return (id === null || typeof id === "string") && typeof name === "string" && typeof written === "string";
};
