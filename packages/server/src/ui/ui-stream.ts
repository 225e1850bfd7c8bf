import {
  type AskPart,
  type CompletedTurn,
  EventRefusedError,
  type HostedThread,
  TurnCancelledError,
  TurnError,
} from "@colloquy/host";
import { type State, type ToolResultPart, toolResultOf } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import { eventStream, type StreamContext } from "../http/event-stream.ts";
import type { UiFinishReason, UiMessageChunk } from "./chunk.ts";
import { HttpError } from "../http/http-error.ts";
import { differing } from "./chat-request.ts";
import { type ErrorText, textForUser } from "./message-for-user.ts";
import { MessageWriter, type StepPlace, type UiEnding } from "./message-writer.ts";

/** How an ask becomes a UI message stream. */
export interface UiStreamOptions {
  /**
   * The client has the message of the turn up to this step, as one that sends the results of its tools has: it is sent what
   * came of that step's calls, and what follows. Default 0: the whole message.
   */
  readonly behind?: number;
  /**
   * The thread, to be given for an ask that was rejoined: its older parts show that it waited, and the thread says whether it
   * still does. Default: the parts are taken to be live.
   */
  readonly thread?: Pick<HostedThread, "look">;
  /** Gives the text that the client reads of an error. Default: the sentence of `messageForUser`. */
  readonly errorText?: ErrorText;
}

/**
 * An ask as the AI SDK's UI message stream (`ai` 7): one message, whose id names its turn, and whose metadata its number,
 * its status and usage. Steps that are made anew are reset. The stream ends with the turn, and where that waits for answers
 * from outside (an approval, a tool of the caller) and can't go on without. An error is a chunk; one that is neither the turn's
 * nor a refusal is thrown behind it.
 */
export const toUiMessageStream = (ask: ShownAsk, options: UiStreamOptions = {}): AsyncGenerator<UiMessageChunk, void> =>
  withErrors(chunksOf(ask, options), options.errorText);

/** Ends chunks that throw with a chunk that says so to the user. */
export async function* withErrors(
  chunks: AsyncIterable<UiMessageChunk>,
  errorText?: ErrorText,
): AsyncGenerator<UiMessageChunk, void> {
  try {
    yield* chunks;
  } catch (thrown) {
    yield { type: "error", errorText: textForUser(thrown, errorText) };
    // It is reported to the operator.
    if (!isExpected(thrown)) throw thrown;
  }
}

/** The chunks of an ask. Throws what becomes an error of the stream. @param options `queued` is called and awaited if the ask has to wait for its turn */
export async function* chunksOf(
  ask: ShownAsk,
  { behind = 0, thread, errorText, queued }: UiStreamOptions & { readonly queued?: () => Promise<void> },
): AsyncGenerator<UiMessageChunk, void> {
  const writer = new MessageWriter(behind);
  for await (const part of ask) {
    if (part.type === "parts.dropped") throw differing("parts of the answer are not kept any more");
    if (part.type === "signal" && part.signal.type === "ask.queued") await queued?.();
    yield* writer.take(part);
    const place = mayWait.has(part.type) ? writer.waitsAt : null;
    if (place === null) continue;
    // Without the thread, the parts are taken to be live.
    const results = thread === undefined ? [] : await thread.look((state) => resultsWhereWaiting(state, place));
    if (results === null) continue;
    yield* writer.endOfLeg(results);
    return;
  }
  yield* writer.end(await endingOf(ask, errorText));
}

/** Whether an error is the turn's, or a refusal: nothing is wrong with the server. */
export const isExpected = (error: unknown): boolean =>
  error instanceof TurnError ||
  error instanceof EventRefusedError ||
  (error instanceof HttpError && error.status < 500);

/** The same as a response of server-sent events, which any framework can give back. A client that goes does not cancel the turn. */
export const uiMessageStreamResponse = (
  ask: ShownAsk,
  { headers, ...options }: UiStreamOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Response => uiResponse(toUiMessageStream(ask, options), headers);

/** Chunks as such a response. @param context of a server, which counts its open streams. */
export const uiResponse = (
  chunks: AsyncIterable<UiMessageChunk>,
  headers: Readonly<Record<string, string>> = {},
  context: StreamContext = anywhere,
): Response => eventStream(context, blocksOf(chunks), { ...headers, "x-vercel-ai-ui-message-stream": "v1" });

/** As much of an `AskHandle` as is read, whatever its output. */
export type ShownAsk = AsyncIterable<AskPart<unknown>> & PromiseLike<CompletedTurn>;

/** The parts behind which a turn may wait for nothing but answers. */
export const mayWait: ReadonlySet<AskPart["type"]> = new Set(["approval.requested", "result.requested", "toolResult"]);

/** The results that a step has so far whose turn waits for nothing but answers from outside; null where it does not. */
const resultsWhereWaiting = (state: State, { turn, step }: StepPlace): readonly ToolResultPart[] | null => {
  const { open } = state.context;
  if (open?.number !== turn || open.step !== step || open.stage.type !== "running" || !waitsOutside(state)) return null;
  return open.stage.calls.flatMap(({ result }) => (result === null ? [] : (toolResultOf(result) ?? [])));
};

const endingOf = async (ask: ShownAsk, errorText: ErrorText | undefined): Promise<UiEnding> => {
  try {
    const { turn, finishReason, ...summary } = await ask;
    return { turn, status: "completed", summary, chunks: [], finishReason: finishReasonOf(finishReason) };
  } catch (thrown) {
    if (!(thrown instanceof TurnError) || thrown.summary.turn === null) throw thrown;
    const { summary } = thrown;
    const { turn } = thrown.summary;
    if (!(thrown instanceof TurnCancelledError)) {
      const error = { type: "error", errorText: textForUser(thrown, errorText) } as const;
      return { turn, status: "failed", summary, chunks: [error], finishReason: "error" };
    }
    const reason = thrown.reason === null ? {} : { reason: thrown.reason };
    return { turn, status: "cancelled", summary, chunks: [{ type: "abort", ...reason }], finishReason: "interrupted" };
  }
};

/** Why a reply ended, from the words of providers. */
const finishReasonOf = (reason: string | null): UiFinishReason => finishReasons.get(reason ?? "stop") ?? "other";

const finishReasons: ReadonlyMap<string, UiFinishReason> = new Map([
  ...(["stop", "end_turn", "stop_sequence", "completed"] as const).map((word) => [word, "stop"] as const),
  ...(["length", "max_tokens", "max_output_tokens"] as const).map((word) => [word, "length"] as const),
  ...(["content_filter", "content-filter", "refusal"] as const).map((word) => [word, "content-filter"] as const),
  ...(["tool_calls", "tool-calls", "tool_use"] as const).map((word) => [word, "tool-calls"] as const),
]);

async function* blocksOf(chunks: AsyncIterable<UiMessageChunk>): AsyncGenerator<string, void> {
  for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}`;
  yield "data: [DONE]";
}

/** Outside of a server of ours: the framework that takes the response knows how many streams it has. */
const anywhere: StreamContext = {
  run: (blocks) => {
    const iterator = blocks[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const next = await iterator.next();
          if (next.done === true) controller.close();
          else controller.enqueue(encoder.encode(`${next.value}\n\n`));
        },
        cancel: () => {
          // Not waited for: it returns when there is something new.
          void iterator.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  },
};

const encoder = new TextEncoder();
