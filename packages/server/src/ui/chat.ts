import {
  type AskHandle,
  AskRefusedError,
  type CallerToolDefinition,
  EventRefusedError,
  type HostedThread,
} from "@colloquy/host";
import { approvalsOf, callsToAnswer, type State, turnNumbered } from "@colloquy/machine";
import { overlapOf, waitsOutside } from "@colloquy/machine/hosting";
import { askOfPage, cancelled, type PageAsk, type PageHost, type PageNotes, turnsEnd } from "./ask-of-page.ts";
import { answersIn, type CallAnswer, type ChatRequest, differing, refused } from "./chat-request.ts";
import type { UiMessageChunk } from "./chunk.ts";
import { differenceBefore, threadIsAhead } from "./page-place.ts";
import { turnIn } from "./steps.ts";
import { pathBehind } from "./ui-messages.ts";
import { chunksOf, type UiStreamOptions, withErrors } from "./ui-stream.ts";

/** How a page of the AI SDK is served. */
export interface UiOptions extends Pick<UiStreamOptions, "errorText"> {
  /** Tools that run in the page, offered to the model beside the host's: their calls wait for the page's results. Default: none. */
  readonly tools?: readonly CallerToolDefinition[];
  /**
   * What becomes of a turn when a connection ends that streams it. A server cannot tell a pressed stop from a closed tab.
   * `continue`: the turn continues, and the next message waits in the queue of the thread. `cancel`: the turn is cancelled,
   * and the next message is answered at once. Default `continue`.
   */
  readonly onDisconnect?: "cancel" | "continue";
}

/** How one request is served. */
export interface ChatCall extends Pick<UiOptions, "tools" | "errorText"> {
  /** Aborted when its connection has ended and the turn is to be cancelled. */
  readonly gone: AbortSignal;
}

/**
 * Does what the last message of a page says. A user's message is asked where it stands in the page: what the page shows before it
 * is what the thread continues from. Sent again it is the same ask as long as its answer is on the path; edited, or to be
 * answered anew, it is a branch. A model's message brings results of the page's tools and answers to approvals, and its turn continues.
 *
 * @param by who approves; only kept.
 * @throws HttpError 400 if the request does not fit the thread; its code is `messages_differ` if the page should load the messages again.
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
    const asking = async (): Promise<PageAsk> => {
      const asked = await askOfPage(host, thread, request, last, call.tools ?? []);
      abortWhenGone(asked.ask, call);
      return asked;
    };
    const mayWait = overlapOf(host.machine)?.type !== "reject";
    return withErrors(answerTo({ thread, request, call, asking, mayWait }, await asking()), call.errorText);
  }
  if (last?.role !== "assistant" || request.trigger !== "submit-message")
    throw refused("it must be a user's message, or a model's with results of tools or answers to approvals");
  const turn = turnIn(last.id) ?? 0;
  const standing = await thread.look((state) => standingOf(state, turn));
  if (standing?.askId == null) throw differing(`no turn of the thread is ${JSON.stringify(last.id)}`);
  if (standing.after === null) throw differing(`${last.id} is no longer on the path of the thread`);
  const answers = answersIn(last);
  const taken = await answer(thread, standing, answers, by).catch(asDiffering);
  // A page that sends by itself when its message is complete would send it for ever.
  if (taken === 0 && standing.waits) throw refused("the turn waits for answers that it does not bring");
  const notes = { differs: standing.after > 0 ? threadIsAhead : null, isCut: false };
  const step = Math.max(...answers.map((each) => each.step), 0);
  return withErrors(withNotes(chunksAgain(thread, standing.askId, call, step), notes), call.errorText);
};

/** The turn that is open, from its beginning; null where none is, or where it waits for what only the page can give. */
export const resume = async (thread: HostedThread, call: ChatCall): Promise<AsyncIterable<UiMessageChunk> | null> => {
  const standing = await thread.look((state) => standingOf(state, state.context.open?.number ?? 0));
  return standing?.askId == null || standing.waits
    ? null
    : withErrors(chunksAgain(thread, standing.askId, call), call.errorText);
};

/** Cancels the turn that is open. False where none is. */
export const stop = async (thread: HostedThread): Promise<boolean> => {
  const isOpen = (await thread.asks()).some(({ status }) => status === "open");
  return isOpen && (await cancelled(thread, "the user stopped it"));
};

/** The chunks of an ask that was made before. */
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

/** A message of a page that is to be answered. */
interface Answering {
  readonly thread: HostedThread;
  readonly request: ChatRequest;
  readonly call: ChatCall;
  readonly asking: () => Promise<PageAsk>;
  /** Whether it waits for a turn in its way, rather than being refused. */
  readonly mayWait: boolean;
}

/** The answer to a message. One that belongs before the end of the thread is asked when no turn is open any more: until then, it would be refused. */
async function* answerTo(answering: Answering, first: PageAsk): AsyncGenerator<UiMessageChunk, void> {
  const { thread, call, asking, mayWait } = answering;
  for (let asked = first; ; asked = await asking()) {
    try {
      yield* answerOf(answering, asked);
      return;
    } catch (thrown) {
      const isBusy = thrown instanceof AskRefusedError && thrown.refusal.kind === "busy";
      // It is refused before anything of it is shown.
      if (!isBusy || !mayWait) throw thrown;
    }
    await turnsEnd(thread);
    if (call.gone.aborted) return;
  }
}

async function* answerOf(
  { thread, request, call }: Answering,
  { ask, isQueued, differs, isCut }: PageAsk,
): AsyncGenerator<UiMessageChunk, void> {
  let hasWaited = isQueued;
  if (isQueued) await turnsEnd(thread, ask.askId);
  const queued = async (): Promise<void> => {
    hasWaited = true;
    await turnsEnd(thread, ask.askId);
  };
  const notesOf = async (turn: number): Promise<PageNotes> => {
    if (!hasWaited || differs !== null) return { differs, isCut };
    // What it waited for may have ended otherwise than the page shows.
    const now = await thread.look((state) => differenceBefore(state, turn, request.messages));
    return { differs: now, isCut };
  };
  yield* withNotes(chunksOf(ask, { thread, queued, ...call }), notesOf);
}

/** Tells the page, as its message begins, what it does not show as the thread has it. */
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

/** How a turn stands. */
interface Standing {
  /** By which it is rejoined; null where there is no such turn. */
  readonly askId: string | null;
  /** How many turns on the path follow it; null if it is not on the path. */
  readonly after: number | null;
  /** Whether it waits for nothing but answers from outside. */
  readonly waits: boolean;
  /** What is asked, by the id of the call: the ids of requests for approval. */
  readonly approvals: Readonly<Record<string, string>>;
  /** The calls of the page's tools. */
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

/** Gives the thread what it waits for, or nothing if an answer is refused. Returns how much that was: a page sends its whole message. */
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

/** The thread waits for something else by now. */
const asDiffering = (thrown: unknown): never => {
  throw thrown instanceof EventRefusedError ? differing(thrown.refusal.reason) : thrown;
};
