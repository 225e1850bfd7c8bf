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
import { finishReasonOf } from "../items/finish-reason.ts";
import type { UiMessageChunk } from "./chunk.ts";
import { HttpError } from "../http/http-error.ts";
import { differing } from "./chat-request.ts";
import { type ErrorText, textForUser } from "./message-for-user.ts";
import { MessageWriter, type StepPlace, type UiEnding } from "./message-writer.ts";

/** Options of a UI message stream. */
export interface UiStreamOptions {
  /**
   * The step up to which the client has the message of the turn. It is sent the results of that step's calls, and all
   * later steps. A client that sends results of its tools is in this position. Default 0: the whole message.
   */
  readonly behind?: number;
  /**
   * The thread; pass it for an ask that was rejoined. Old parts may say that it waited, and the thread knows whether it
   * still does. Default: all parts are taken as live.
   */
  readonly thread?: Pick<HostedThread, "look">;
  /** Returns the text that the client reads for an error. Default: the sentence of `messageForUser`. */
  readonly errorText?: ErrorText;
  /**
   * The tools of the ask that run in the page. A call of theirs is shown when it waits for the page, and not before: one
   * that was refused, as of a reply that was cut, must not run. Default: none; all calls are shown at once.
   */
  readonly tools?: readonly { readonly name: string }[];
}

/**
 * Converts an ask into the AI SDK's UI message stream (`ai` 7): one message. Its id names its turn, and its metadata
 * has the turn's number, status and usage. Steps that are repeated are reset. The stream ends with the turn, or when
 * the turn needs outside answers to continue (an approval, a result of a caller's tool). An error becomes a chunk. An
 * error that is neither the turn's nor a refusal is also thrown after that chunk.
 */
export const toUiMessageStream = (ask: ShownAsk, options: UiStreamOptions = {}): AsyncGenerator<UiMessageChunk, void> =>
  withErrors(chunksOf(ask, options), options.errorText);

/** Passes chunks on, and ends the stream with an error chunk if they throw. */
export async function* withErrors(
  chunks: AsyncIterable<UiMessageChunk>,
  errorText?: ErrorText,
): AsyncGenerator<UiMessageChunk, void> {
  try {
    yield* chunks;
  } catch (thrown) {
    yield { type: "error", errorText: textForUser(thrown, errorText) };
    // A thrown error is reported to the operator.
    if (!isExpected(thrown)) throw thrown;
  }
}

/** Yields the chunks of an ask, or throws. @param options `queued` is awaited if the ask has to wait */
export async function* chunksOf(
  ask: ShownAsk,
  { behind = 0, thread, errorText, queued, tools = [] }: UiStreamOptions & { readonly queued?: () => Promise<void> },
): AsyncGenerator<UiMessageChunk, void> {
  const writer = new MessageWriter(behind, new Set(tools.map(({ name }) => name)));
  for await (const part of ask) {
    if (part.type === "parts.dropped") throw differing("parts of the answer are not kept any more");
    if (part.type === "signal" && part.signal.type === "ask.queued") await queued?.();
    yield* writer.take(part);
    const place = mayWait.has(part.type) ? writer.waitsAt : null;
    if (place === null) continue;
    // Without the thread, all parts are taken as live.
    const results = thread === undefined ? [] : await thread.look((state) => resultsWhereWaiting(state, place));
    if (results === null) continue;
    yield* writer.endOfLeg(results);
    return;
  }
  yield* writer.end(await endingOf(ask, errorText));
}

/** Checks whether an error is the turn's or a refusal, so that the server is not at fault. */
export const isExpected = (error: unknown): boolean =>
  error instanceof TurnError ||
  error instanceof EventRefusedError ||
  (error instanceof HttpError && error.status < 500);

/**
 * Returns the same as a response of server-sent events for any framework. A client that disconnects does not cancel the
 * turn.
 */
export const uiMessageStreamResponse = (
  ask: ShownAsk,
  { headers, ...options }: UiStreamOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Response => uiResponse(toUiMessageStream(ask, options), headers);

export const uiResponse = (
  chunks: AsyncIterable<UiMessageChunk>,
  headers: Readonly<Record<string, string>> = {},
  context: StreamContext = anywhere,
): Response => eventStream(context, blocksOf(chunks), { ...headers, "x-vercel-ai-ui-message-stream": "v1" });

/** The parts of an `AskHandle` that are read here, for any output type. */
export type ShownAsk = AsyncIterable<AskPart<unknown>> & PromiseLike<CompletedTurn>;

/** The parts after which a turn may wait only for answers. */
export const mayWait: ReadonlySet<AskPart["type"]> = new Set(["approval.requested", "result.requested", "toolResult"]);

/** Returns the step's present results if its turn waits only for outside answers; otherwise null. */
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

async function* blocksOf(chunks: AsyncIterable<UiMessageChunk>): AsyncGenerator<string, void> {
  for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}`;
  yield "data: [DONE]";
}

/** The context for use without a thread server. The framework counts its own streams. */
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
          // Do not wait: it returns only when the next block comes.
          void iterator.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  },
};

const encoder = new TextEncoder();
