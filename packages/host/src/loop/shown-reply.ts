import type { ReplyDraft } from "@colloquy/machine";
import type { LlmDelta } from "../ports/llm.ts";

/** The text of a streamed reply that was shown so far. Tool calls are left out: they may be incomplete. */
export class ShownReply {
  readonly #all: ShownPart[] = [];
  /** The text that was shown since the last call of `takeNew`. */
  #new: ShownPart[] = [];

  add(delta: LlmDelta): void {
    if (delta.type === "toolCall" || delta.text === "") return;
    addTo(this.#all, delta.type, delta.text);
    addTo(this.#new, delta.type, delta.text);
  }

  /** Undefined when nothing was shown. */
  get draft(): ReplyDraft | undefined {
    return draftOf(this.#all);
  }

  /** Returns the text that was shown since the last call; undefined if there is none. */
  takeNew(): ReplyDraft | undefined {
    const shown = draftOf(this.#new);
    this.#new = [];
    return shown;
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

/**
 * Returns whether the value is an `LlmDelta`. It is checked because handlers may be JavaScript, and shown text may be
 * journalled.
 */
export const isDelta = (given: unknown): boolean => {
  if (typeof given !== "object" || given === null || !("type" in given)) return false;
  if (given.type === "toolCall") return isCallDelta(given);
  const isText = given.type === "text" || given.type === "reasoning" || given.type === "refusal";
  return isText && "text" in given && typeof given.text === "string";
};

const isCallDelta = (given: object): boolean => {
  const { index, id, name, arguments: written } = given as { readonly [member: string]: unknown };
  if (!(Number.isSafeInteger(index) && Number(index) >= 0)) return false;
  return (id === null || typeof id === "string") && typeof name === "string" && typeof written === "string";
};
