import { type AskHandle, type CallerToolDefinition, EventRefusedError, type HostedThread } from "@colloquy/host";
import { approvalsOf, callsToAnswer, digestOf, type State, turnNumbered } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import { answersIn, type CallAnswer, type ChatRequest, draftOf, refused, type SentMessage } from "./chat-request.ts";
import type { UiMessageChunk } from "./chunk.ts";
import { turnIn } from "./steps.ts";
import { turnOfUiMessage } from "./ui-messages.ts";
import { toUiMessageStream, type UiStreamOptions } from "./ui-stream.ts";

/** What a page of the AI SDK is served with. */
export interface UiOptions extends Pick<UiStreamOptions, "errorText"> {
  /** Tools that run in the page, offered to the model beside the host's: their calls wait for the page's results. Default: none. */
  readonly tools?: readonly CallerToolDefinition[];
}

/**
 * Does what a page asks: what its last message says, since the thread knows what was said before. A user's message is an
 * ask; sent again it is the same one; edited, or to be answered anew, it is a branch where it stood. A model's message brings
 * results of the page's tools and answers to approvals, and its turn goes on.
 *
 * @param by who approves; only kept.
 * @throws HttpError 400 where the request does not fit the thread.
 */
export const chat = async (
  thread: HostedThread,
  request: ChatRequest,
  options: UiOptions,
  by: string,
): Promise<AsyncIterable<UiMessageChunk>> => {
  const last = request.messages.at(-1);
  if (last?.role === "user") {
    const { ask } = await askOf(thread, request, last, options);
    return streamOf(thread, ask, options);
  }
  if (last?.role !== "assistant" || request.trigger !== "submit-message")
    throw refused("it must be a user's message, or a model's with results of tools or answers to approvals");
  const turn = turnIn(last.id) ?? 0;
  const standing = await thread.look((state) => standingOf(state, turn));
  if (standing?.askId == null) throw refused(`no turn of the thread is ${JSON.stringify(last.id)}`);
  const answers = answersIn(last);
  const taken = await answer(thread, standing, answers, by).catch(asRefusal);
  // A page that sends by itself when its message is complete would send it for ever.
  if (taken === 0 && standing.waits) throw refused("the turn waits for answers that it does not bring");
  return streamOf(thread, thread.rejoin(standing.askId), options, Math.max(...answers.map(({ step }) => step), 0));
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

const askOf = async (
  thread: HostedThread,
  { trigger, messageId }: ChatRequest,
  last: SentMessage,
  { tools = [] }: UiOptions,
): Promise<{ readonly ask: AskHandle }> => {
  const draft = draftOf(last);
  const isRegenerated = trigger === "regenerate-message";
  // A message that never came to the thread is asked for the first time.
  const before =
    isRegenerated || messageId !== undefined ? await thread.look((state) => turnOfUiMessage(state, last.id)) : null;
  const another = before !== null && isRegenerated ? `.${turnIn(messageId ?? "") ?? before.turn}` : "";
  const askId = `ui.${digestOf([last.id, JSON.stringify(last.parts)])}${another}`;
  if ((await thread.asked(askId)) !== null) return { ask: thread.rejoin(askId) };
  // A user who says something else no longer answers; one who wants another answer no longer wants the one under way.
  const isInTheWay = await thread.look((state) =>
    before === null ? approvalsOf(state).length + callsToAnswer(state).length > 0 : state.context.open !== null,
  );
  if (isInTheWay === true) await cancelled(thread, "the user went on");
  return { ask: thread.ask([draft], { askId, tools, ...(before === null ? {} : { from: before.parent }) }) };
};

/** How a turn stands. */
interface Standing {
  /** By which it is rejoined; null where there is no such turn. */
  readonly askId: string | null;
  /** Whether it waits for nothing but answers from outside. */
  readonly waits: boolean;
  /** What is asked, by the id of the call: the ids of requests for approval. */
  readonly approvals: Readonly<Record<string, string>>;
  /** The calls of the page's tools. */
  readonly calls: readonly string[];
}

const standingOf = (state: State, turn: number): Standing => {
  const { open } = state.context;
  if (open?.number !== turn)
    return { askId: turnNumbered(state, turn)?.asks[0]?.askId ?? null, waits: false, approvals: {}, calls: [] };
  return {
    askId: open.asks[0]?.askId ?? null,
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

const cancelled = async (thread: HostedThread, reason: string): Promise<boolean> => {
  try {
    await thread.cancel(reason);
    return true;
  } catch (thrown) {
    // It ended meanwhile.
    if (thrown instanceof EventRefusedError) return false;
    throw thrown;
  }
};
