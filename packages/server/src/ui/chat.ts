import {
  type AskHandle,
  AskRefusedError,
  type CallerToolDefinition,
  EventRefusedError,
  type HostedThread,
} from "@colloquy/host";
import { approvalsOf, callsToAnswer, type State, turnNumbered } from "@colloquy/machine";
import { overlapOf, waitsOutside } from "@colloquy/machine/hosting";
import {
  askOfPage,
  cancelOpenTurn,
  type PageAsk,
  type PageHost,
  type PageNotes,
  untilTurnsEnd,
} from "./ask-of-page.ts";
import { answersIn, type CallAnswer, type ChatRequest, differing, refused } from "./chat-request.ts";
import type { UiMessageChunk } from "./chunk.ts";
import { differenceBefore, threadIsAhead } from "./page-place.ts";
import { turnIn } from "./steps.ts";
import { pathBehind } from "./ui-messages.ts";
import { chunksOf, type UiStreamOptions, withErrors } from "./ui-stream.ts";
import type { WaitingPage, WaitingPages } from "./waiting-pages.ts";

/** Options for pages of the AI SDK. */
export interface UiOptions extends Pick<UiStreamOptions, "errorText"> {
  /**
   * Tools that run in the page, offered to the model beside the host's. Their calls wait for the page's results.
   * Default: none.
   */
  readonly tools?: readonly CallerToolDefinition[];
  /**
   * What to do with a turn when the connection that streams it ends. A server cannot tell a pressed stop from a closed
   * tab. `continue`: the turn continues, and the next message waits in the queue of the thread. `cancel`: the turn is
   * cancelled, and the next message is answered at once. Default `continue`.
   */
  readonly onDisconnect?: "cancel" | "continue";
}

/** Options of one request. */
export interface ChatCall extends Pick<UiOptions, "tools" | "errorText"> {
  /** Aborted when the connection has ended and the turn is to be cancelled. */
  readonly gone: AbortSignal;
  /** The server's requests that wait outside their threads. */
  readonly waiting: WaitingPages;
}

/**
 * Acts on the last message of a page. A user's message is asked after the messages that the page shows before it. Sent
 * again, it is the same ask while its answer is on the path. An edited or regenerated message starts a branch. A
 * model's message brings results of the page's tools and decisions on approvals, and its turn continues.
 *
 * @param by the approver's id, which is only recorded.
 * @throws HttpError 400 if the request does not fit the thread. The code is `messages_differ` if the page should load
 * the messages again.
 */
export const chat = async (
  host: PageHost,
  thread: HostedThread,
  request: ChatRequest,
  call: ChatCall,
  by: string,
): Promise<AsyncIterable<UiMessageChunk>> => {
  const last = request.messages.at(-1);
  if (last?.role === "user") {
    const number = call.waiting.next();
    const asking = async (waiting?: WaitingPage): Promise<PageAsk> => {
      const asked = await askOfPage(host, thread, request, last, call.tools ?? [], () => {
        if (waiting?.isReplaced === true) throw differing("the message was replaced while it waited");
        call.waiting.replace(thread.id, number, request);
      });
      abortWhenGone(asked.ask, call);
      return asked;
    };
    const mayWait = overlapOf(host.machine)?.type !== "reject";
    return withErrors(answerTo({ thread, number, request, call, asking, mayWait }, await asking()), call.errorText);
  }
  if (last?.role !== "assistant" || request.trigger !== "submit-message")
    throw refused("it must be a user's message, or a model's with results of tools or answers to approvals");
  const turn = turnIn(last.id) ?? 0;
  const standing = await thread.look((state) => standingOf(state, turn));
  if (standing?.askId == null) throw differing(`no turn of the thread is ${JSON.stringify(last.id)}`);
  if (standing.after === null) throw differing(`${last.id} is no longer on the path of the thread`);
  const answers = answersIn(last);
  const taken = await answer(thread, standing, answers, by).catch(asDiffering);
  // A page that sends each complete message by itself would send this one for ever.
  if (taken === 0 && standing.waits) throw refused("the turn waits for answers that it does not bring");
  const notes = { differs: standing.after > 0 ? threadIsAhead : null, isCut: false };
  const step = Math.max(...answers.map((each) => each.step), 0);
  return withErrors(withNotes(chunksAgain(thread, standing.askId, call, step), notes), call.errorText);
};

/** Streams the open turn from its beginning; returns null if none is open, or it waits for the page's answers. */
export const resume = async (thread: HostedThread, call: ChatCall): Promise<AsyncIterable<UiMessageChunk> | null> => {
  const standing = await thread.look((state) => standingOf(state, state.context.open?.number ?? 0));
  return standing?.askId == null || standing.waits
    ? null
    : withErrors(chunksAgain(thread, standing.askId, call), call.errorText);
};

/** Cancels the open turn. Returns false if there is none. */
export const stop = (thread: HostedThread): Promise<boolean> => cancelOpenTurn(thread, "the user stopped it");

const chunksAgain = (
  thread: HostedThread,
  askId: string,
  call: ChatCall,
  behind = 0,
): AsyncIterable<UiMessageChunk> => {
  const ask = thread.rejoin(askId);
  abortWhenGone(ask, call);
  return chunksOf(ask, { behind, thread, ...call });
};

const abortWhenGone = (ask: AskHandle, { gone }: ChatCall): void => {
  const abort = (): void => ask.abort("the user stopped it, or left");
  if (gone.aborted) abort();
  else gone.addEventListener("abort", abort, { once: true });
};

/** A page's message that needs an answer. */
interface Answering {
  readonly thread: HostedThread;
  /** Its place among the requests of the server. */
  readonly number: number;
  readonly request: ChatRequest;
  readonly call: ChatCall;
  readonly asking: (waiting: WaitingPage) => Promise<PageAsk>;
  /** Whether the message may wait for a turn in its way; otherwise it is refused. */
  readonly mayWait: boolean;
}

/** Streams the answer to a message. One that is refused while a turn is open is asked again after that turn. */
async function* answerTo(answering: Answering, first: PageAsk): AsyncGenerator<UiMessageChunk, void> {
  const { thread, number, request, call, asking, mayWait } = answering;
  // Noted first, since the page may replace the message between two waits.
  const waiting = call.waiting.add(thread.id, number, request);
  try {
    for (let asked = first; ; asked = await asking(waiting)) {
      try {
        yield* answerOf(answering, asked);
        return;
      } catch (thrown) {
        const isBusy = thrown instanceof AskRefusedError && thrown.refusal.kind === "busy";
        // The refusal comes before any chunk.
        if (!isBusy || !mayWait) throw thrown;
      }
      await untilTurnsEnd(thread, call.gone);
      if (call.gone.aborted) return;
    }
  } finally {
    waiting.end();
  }
}

async function* answerOf(
  { thread, request, call }: Answering,
  { ask, isQueued, differs, isCut }: PageAsk,
): AsyncGenerator<UiMessageChunk, void> {
  let hasWaited = isQueued;
  if (isQueued) await untilTurnsEnd(thread, call.gone, ask.askId);
  const queued = async (): Promise<void> => {
    hasWaited = true;
    await untilTurnsEnd(thread, call.gone, ask.askId);
  };
  const notesOf = async (turn: number): Promise<PageNotes> => {
    if (!hasWaited || differs !== null) return { differs, isCut };
    // The turn that it waited for may have ended differently from the page.
    const now = await thread.look((state) => differenceBefore(state, turn, request.messages));
    return { differs: now, isCut };
  };
  yield* withNotes(chunksOf(ask, { thread, queued, ...call }), notesOf);
}

/** Tells the page, at the start of its message, how it differs from the thread. */
async function* withNotes(
  chunks: AsyncIterable<UiMessageChunk>,
  notes: PageNotes | ((turn: number) => Promise<PageNotes>),
): AsyncGenerator<UiMessageChunk, void> {
  for await (const chunk of chunks) {
    if (chunk.type !== "start") yield chunk;
    else {
      const { messageMetadata } = chunk;
      const { differs, isCut } = typeof notes === "function" ? await notes(messageMetadata.turn) : notes;
      yield isCut ? { ...chunk, messageMetadata: { ...messageMetadata, earlier: true } } : chunk;
      if (differs !== null) yield { type: "data-differs", data: { reason: differs }, transient: true };
    }
  }
}

interface Standing {
  /** The ask by which to rejoin the turn; null if the turn does not exist. */
  readonly askId: string | null;
  /** The number of turns that follow it on the path; null if it is not on the path. */
  readonly after: number | null;
  /** Whether it waits only for outside answers. */
  readonly waits: boolean;
  /** The ids of the open approval requests, by call id. */
  readonly approvals: Readonly<Record<string, string>>;
  /** The ids of the page's open tool calls. */
  readonly calls: readonly string[];
}

const standingOf = (state: State, turn: number): Standing => {
  const { open } = state.context;
  const after = pathBehind(state, turn)?.length ?? null;
  if (open?.number !== turn)
    return { askId: turnNumbered(state, turn)?.asks[0]?.askId ?? null, after, waits: false, approvals: {}, calls: [] };
  return {
    askId: open.asks[0]?.askId ?? null,
    after,
    waits: waitsOutside(state),
    approvals: Object.fromEntries(approvalsOf(state).map(({ callId, id }) => [callId, id])),
    calls: callsToAnswer(state).map(({ callId }) => callId),
  };
};

/** Applies a page's answers, or none if one is unusable. Returns how many applied: answered ones come again. */
const answer = async (
  thread: HostedThread,
  { approvals, calls }: Standing,
  answers: readonly CallAnswer[],
  by: string,
): Promise<number> => {
  const given: (() => Promise<unknown>)[] = [];
  for (const { callId, output, approval } of answers) {
    const request = approvals[callId];
    if (request !== undefined && approval !== undefined) {
      const { approved, reason, digest } = approval;
      if (digest === undefined)
        throw refused(`the approval of ${callId} must have the signature of its request, which says what was shown`);
      const denial = { digest, by, ...(reason === undefined ? {} : { reason }) };
      given.push(() => (approved ? thread.approve(request, { digest, by }) : thread.deny(request, denial)));
    }
    if (calls.includes(callId) && output !== undefined) given.push(() => thread.answerTool(callId, output));
  }
  for (const give of given) await give();
  return given.length;
};

/** Converts a refusal: the thread no longer waits for these answers. */
const asDiffering = (thrown: unknown): never => {
  throw thrown instanceof EventRefusedError ? differing(thrown.refusal.reason) : thrown;
};
