import type { ReplyDraft } from "@colloquy/machine";
import type { LlmDelta } from "../ports/llm.ts";

/** What has been shown of a reply that still comes. Tool calls are left out: nobody can say that they are whole. */
export class ShownReply {
  readonly #all: ShownPart[] = [];
  /** What is new since it was last taken. */
  #news: ShownPart[] = [];

  add(delta: LlmDelta): void {
    if (delta.type === "toolCall" || !isShown(delta)) return;
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

/** A handler may be written in JavaScript, and this is journalled. */
const isShown = ({ type, text }: { readonly type: unknown; readonly text: unknown }): boolean =>
  (type === "text" || type === "reasoning" || type === "refusal") && typeof text === "string" && text !== "";

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
