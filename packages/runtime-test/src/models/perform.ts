import type { LlmContext, LlmDelta, LlmOutcome } from "@colloquy/host";
import type {
  CallLlm,
  ContentPart,
  Failure,
  ReasoningPart,
  RefusalPart,
  ReplyDraft,
  ReportedUsage,
  ToolCallDraft,
} from "@colloquy/machine";
import type { Piece, ScriptLine, ToolCallScript } from "./script.ts";

/**
 * Performs a line: shows its pieces, each at its time on the call's clock, and ends as the line says. Pieces without a
 * delay are shown at once. A silence longer than the call allows is a timeout, as with a real model. A cancelled call
 * ends at once. `idOf` returns the provider's id of the call at a position, from 0, if the line has none.
 */
export const perform = async (
  line: ScriptLine,
  call: CallLlm,
  context: LlmContext,
  idOf: (position: number) => string,
): Promise<LlmOutcome> => {
  const { signal, onDelta } = context;
  const silenceMaxMs = call.idleTimeoutMs ?? Infinity;
  const shown = new Shown();
  for (const piece of line.pieces) {
    const delayMs = piece.delayMs ?? 0;
    if (delayMs > 0) await pause(Math.min(delayMs, silenceMaxMs), context);
    if (signal.aborted) return failed(aborted, shown);
    if (delayMs > silenceMaxMs) return failed(silent(silenceMaxMs), shown);
    onDelta(shown.add(piece, idOf));
  }
  const delayMs = line.ending?.delayMs ?? Infinity;
  if (delayMs > 0) await pause(Math.min(delayMs, silenceMaxMs), context);
  if (signal.aborted) return failed(aborted, shown);
  if (line.ending === null || delayMs > silenceMaxMs) return failed(silent(silenceMaxMs), shown);
  if (line.ending.type === "failed") return failed(line.ending.failure, shown, line.ending.usage);
  return { type: "completed", reply: shown.reply(), finishReason: line.ending.finishReason, ...line.ending.said };
};

const aborted: Failure = { kind: "unknown", message: "the call was aborted", retryable: false, code: "aborted" };

const silent = (silenceMaxMs: number): Failure => ({
  kind: "timeout",
  message: `nothing came for ${silenceMaxMs} ms`,
  retryable: true,
});

const failed = (failure: Failure, shown: Shown, usage?: ReportedUsage): LlmOutcome => ({
  type: "failed",
  failure,
  ...(shown.empty ? {} : { partial: shown.reply() }),
  ...(usage === undefined ? {} : { usage }),
});

/** The shown part of a reply. */
class Shown {
  readonly #content: (ContentPart | ReasoningPart | RefusalPart)[] = [];
  readonly #toolCalls: ToolCallDraft[] = [];

  get empty(): boolean {
    return this.#content.length + this.#toolCalls.length === 0;
  }

  add(piece: Piece, idOf: (position: number) => string): LlmDelta {
    if ("toolCall" in piece) return this.#addCall(piece.toolCall, idOf);
    const [type, text] = spoken(piece);
    const last = this.#content.at(-1);
    if (last?.type === type) this.#content[this.#content.length - 1] = { ...last, text: last.text + text };
    else this.#content.push({ type, text });
    return { type, text };
  }

  reply(): ReplyDraft {
    const [first, second] = this.#content;
    const content = first?.type === "text" && second === undefined ? first.text : this.#content;
    return {
      ...(content.length === 0 ? {} : { content }),
      ...(this.#toolCalls.length === 0 ? {} : { toolCalls: this.#toolCalls }),
    };
  }

  #addCall(script: ToolCallScript, idOf: (position: number) => string): LlmDelta {
    const index = this.#toolCalls.length;
    const call: ToolCallDraft = {
      id: script.id === undefined ? idOf(index) : script.id,
      name: script.name,
      arguments: typeof script.arguments === "string" ? script.arguments : JSON.stringify(script.arguments),
    };
    this.#toolCalls.push(call);
    return { type: "toolCall", index, ...call };
  }
}

export const spoken = (
  piece: Exclude<Piece, { readonly toolCall: ToolCallScript }>,
): ["text" | "reasoning" | "refusal", string] => {
  if ("text" in piece) return ["text", piece.text];
  return "reasoning" in piece ? ["reasoning", piece.reasoning] : ["refusal", piece.refusal];
};

/** Waits on the call's clock, for `Infinity` forever, or until the call is cancelled. */
const pause = (delayMs: number, { clock, signal }: LlmContext): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const wake = (): void => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const abort = (): void => {
      cancel?.();
      resolve();
    };
    const cancel = delayMs === Infinity ? undefined : clock.wakeAt(clock.now() + delayMs, wake);
    signal.addEventListener("abort", abort, { once: true });
  });
