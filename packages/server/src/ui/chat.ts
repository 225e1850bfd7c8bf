import {
  type AskHandle,
  type CallerToolDefinition,
  EventRefusedError,
  type Host,
  type HostedThread,
} from "@colloquy/host";
import { approvalsOf, callsToAnswer, type State, turnNumbered } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import { askOfPage, cancelled, type PageNotes, threadIsAhead } from "./ask-of-page.ts";
import { answersIn, type CallAnswer, type ChatRequest, differing, refused } from "./chat-request.ts";
import type { UiMessageChunk } from "./chunk.ts";
import { turnIn } from "./steps.ts";
import { pathBehind } from "./ui-messages.ts";
import { toUiMessageStream, type UiStreamOptions } from "./ui-stream.ts";

/** What a page of the AI SDK is served with. */
export interface UiOptions extends Pick<UiStreamOptions, "errorText"> {
  /** Tools that run in the page, offered to the model beside the host's: their calls wait for the page's results. Default: none. */
  readonly tools?: readonly CallerToolDefinition[];
}

/**
 * Does what the last message of a page says. A user's message is asked where it stands in the page: what the page shows before it
 * is what the thread continues from. Sent again it is the same ask as long as its answer is on the path; edited, or to be
 * answered anew, it is a branch. A model's message brings results of the page's tools and answers to approvals, and its turn goes on.
 *
 * @param by who approves; only kept.
 * @throws HttpError 400 if the request does not fit the thread; its code is `messages_differ` if the page should load the messages again.
 */
export const chat = async (
  host: Pick<Host, "importMessages" | "threadDefaults">,
  thread: HostedThread,
  request: ChatRequest,
  options: UiOptions,
  by: string,
): Promise<AsyncIterable<UiMessageChunk>> => {
  const last = request.messages.at(-1);
  if (last?.role === "user") {
    const { ask, ...notes } = await askOfPage(host, thread, request, last, options.tools ?? []);
    return withNotes(streamOf(thread, ask, options), notes);
  }
  if (last?.role !== "assistant" || request.trigger !== "submit-message")
    throw refused("it must be a user's message, or a model's with results of tools or answers to approvals");
  const turn = turnIn(last.id) ?? 0;
  const standing = await thread.look((state) => standingOf(state, turn));
  if (standing?.askId == null) throw refused(`no turn of the thread is ${JSON.stringify(last.id)}`);
  if (standing.after === null) throw differing(`${last.id} is no longer on the path of the thread`);
  const answers = answersIn(last);
  const taken = await answer(thread, standing, answers, by).catch(asRefusal);
  // A page that sends by itself when its message is complete would send it for ever.
  if (taken === 0 && standing.waits) throw refused("the turn waits for answers that it does not bring");
  const notes = { differs: standing.after > 0 ? threadIsAhead : null, isCut: false };
  const step = Math.max(...answers.map((each) => each.step), 0);
  return withNotes(streamOf(thread, thread.rejoin(standing.askId), options, step), notes);
};

/** The stream of the turn that is open, from its beginning; null where none is, or where it waits for answers from outside. */
export const resume = async (
  thread: HostedThread,
  options: UiOptions,
): Promise<AsyncIterable<UiMessageChunk> | null> => {
  const standing = await thread.look((state) => standingOf(state, state.context.open?.number ?? 0));
  return standing?.askId == null || standing.waits ? null : streamOf(thread, thread.rejoin(standing.askId), options);
};

/** Cancels the turn that is open. False where none is. */
export const stop = async (thread: HostedThread): Promise<boolean> => {
  const isOpen = (await thread.asks()).some(({ status }) => status === "open");
  return isOpen && (await cancelled(thread, "the user stopped it"));
};

const streamOf = (
  thread: HostedThread,
  ask: AskHandle,
  { errorText }: UiOptions,
  behind = 0,
): AsyncIterable<UiMessageChunk> =>
  toUiMessageStream(ask, { behind, thread, ...(errorText === undefined ? {} : { errorText }) });

/** Tells the page, as its message begins, what it does not show as the thread has it. */
async function* withNotes(
  chunks: AsyncIterable<UiMessageChunk>,
  { differs, isCut }: PageNotes,
): AsyncGenerator<UiMessageChunk, void> {
  for await (const chunk of chunks) {
    if (chunk.type !== "start") yield chunk;
    else {
      yield isCut ? { ...chunk, messageMetadata: { ...chunk.messageMetadata, earlier: true } } : chunk;
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

/** The thread's words are the page's. */
const asRefusal = (thrown: unknown): never => {
  throw thrown instanceof EventRefusedError ? refused(thrown.refusal.reason) : thrown;
};
