import type { ReplyDraft } from "@colloquy/machine";
import type { LlmDelta } from "../ports/llm.ts";

/** What has been shown of a reply that still comes. Tool calls are left out: nobody can say that they are whole. */
export class ShownReply {
  readonly #parts: { readonly type: "text" | "reasoning" | "refusal"; text: string }[] = [];

  add(delta: LlmDelta): void {
    if (delta.type === "toolCall" || delta.text === "") return;
    const last = this.#parts.at(-1);
    if (last?.type === delta.type) last.text += delta.text;
    else this.#parts.push({ type: delta.type, text: delta.text });
  }

  /** Undefined when nothing was shown. */
  get draft(): ReplyDraft | undefined {
    const [first, ...others] = this.#parts;
    if (first === undefined) return undefined;
    if (first.type === "text" && others.length === 0) return { content: first.text };
    return { content: this.#parts.map((part) => ({ ...part })) };
  }
}
