import {
  type AskHandle,
  type CallerToolDefinition,
  EventRefusedError,
  type Host,
  type HostedThread,
  ThreadExistsError,
  TurnError,
} from "@colloquy/host";
import { type AskRecord, approvalsOf, callsToAnswer, digestOf, type State, turnNumbered } from "@colloquy/machine";
import { overlapOf } from "@colloquy/machine/hosting";
import { type ChatRequest, differing, draftOf, historyOf, type SentMessage } from "./chat-request.ts";
import { type PagePlace, placeInThread, threadIsAhead } from "./page-place.ts";
import { turnIn } from "./steps.ts";
import { pathBehind, shownTurn, turnOfUiMessage } from "./ui-messages.ts";
import { mayWait } from "./ui-stream.ts";

/** What a page is told beside the answer. */
export interface PageNotes {
  /** What it shows otherwise than the thread has it; null for nothing. */
  readonly differs: string | null;
  /** Whether the thread has older turns that the page did not send. */
  readonly isCut: boolean;
}

/** As much of a host as is used. */
export type PageHost = Pick<Host, "importMessages" | "threadDefaults" | "machine">;

/** What a page asks. */
export interface PageAsk extends PageNotes {
  readonly ask: AskHandle;
  /** Whether the thread has it in its queue already. */
  readonly isQueued: boolean;
}

/** Asks the last message of a page, or finds the ask that it is already. @throws HttpError 400 */
export const askOfPage = async (
  host: PageHost,
  thread: HostedThread,
  request: ChatRequest,
  last: SentMessage,
  tools: readonly CallerToolDefinition[],
): Promise<PageAsk> => {
  draftOf(last);
  const place = await placeOf(host, thread, request);
  const { answered, parent, differs } = place;
  const asked = [...place.unanswered, last];
  const isRegenerated = request.trigger === "regenerate-message";
  // A message that never came to the thread is asked for the first time.
  const isAnew = answered !== null && (isRegenerated || request.messageId !== undefined);
  const another = isAnew && isRegenerated ? `.${turnIn(request.messageId ?? "") ?? answered}` : "";
  const said = asked.flatMap(({ id, parts }) => [id, JSON.stringify(parts)]);
  const found = await foundAsk(thread, `ui.${digestOf(said)}${another}`, parent, isAnew);
  if (found.record !== null) {
    const seen = await thread.look((state) => standingOf(state, found.record, parent));
    return {
      ask: thread.rejoin(found.askId),
      differs: differs ?? seen?.ahead ?? null,
      isCut: isCut(request, place, seen?.parent),
      isQueued: found.record.status === "queued",
    };
  }
  // A user who says something else no longer answers; one who wants another answer no longer wants the one under way.
  const isInTheWay = await thread.look((state) => (isAnew ? state.context.open !== null : awaitsUser(state)));
  if (isInTheWay === true) await cancelled(thread, userContinued);
  const head = await thread.look(({ context: { open, queue, conversation } }) => ({
    isBusy: open !== null || queue.length > 0,
    last: open?.number ?? conversation.head,
  }));
  // A message that left the path is placed where the thread has another of its id: twice in one thread it would be two.
  const isBack = parent === null && found.isRepeated;
  const after = isBack ? await thread.look((state) => turnOfUiMessage(state, last.id)?.parent ?? null) : parent;
  // In one entry, so nothing comes between. Only at the end of the thread may it wait for its turn: elsewhere, the page would not show what it follows.
  const isAtEnd = head === null || after === null || (head.isBusy && after === head.last);
  const waits = overlapOf(host.machine) === null ? { overlap: "queue" as const } : {};
  const ask = thread.ask(asked.map(draftOf), { askId: found.askId, tools, ...(isAtEnd ? waits : { from: after }) });
  return { ask, differs, isCut: isCut(request, place, after ?? head?.last), isQueued: false };
};

/**
 * Waits until the turns before an ask in the queue have ended; without an ask, until all turns have that are open or wait. A turn
 * that comes to wait for its user meanwhile is cancelled: the user said something else.
 */
export const turnsEnd = async (thread: HostedThread, askId?: string): Promise<void> => {
  const isInTheWay = (state: State): boolean =>
    awaitsUser(state) && (askId === undefined || state.context.queue.some((waiting) => waiting.askId === askId));
  for (const before of (await thread.look((state) => asksBefore(state, askId))) ?? []) {
    try {
      for await (const part of thread.rejoin(before)) {
        // One turn answers both.
        if (part.type === "turn.started" && askId !== undefined && part.askIds.includes(askId)) return;
        if (mayWait.has(part.type) && (await thread.look(isInTheWay)) === true) await cancelled(thread, userContinued);
      }
    } catch (thrown) {
      // It was withdrawn, or another took its place.
      if (!(thrown instanceof TurnError)) throw thrown;
    }
  }
};

const asksBefore = ({ context: { open, queue } }: State, askId?: string): readonly string[] => {
  const waiting = queue.map((ask) => ask.askId);
  const end = askId === undefined ? waiting.length : waiting.indexOf(askId);
  return end < 0 ? [] : [...(open?.asks.slice(0, 1) ?? []).map((ask) => ask.askId), ...waiting.slice(0, end)];
};

/** Whether the open turn waits for what its user has to say of a call. */
const awaitsUser = (state: State): boolean => approvalsOf(state).length + callsToAnswer(state).length > 0;

const userContinued = "the user continued with another message";

/** A page that posts one message may show no other, and one that does not say where it continues shows nothing of the thread. */
const isCut = ({ messages }: ChatRequest, place: PagePlace, parent: number | undefined): boolean =>
  (messages.length === 1 || place.parent === null) && parent !== undefined && parent > 0;

const placeOf = async (host: PageHost, thread: HostedThread, request: ChatRequest): Promise<PagePlace> => {
  const { messages, trigger, messageId } = request;
  const isAnew = trigger === "regenerate-message" || messageId !== undefined;
  const place = await thread.look((state) => placeInThread(state, messages, isAnew));
  if (place !== null) return checked(place);
  await imported(host, thread, messages.slice(0, -1));
  const now = await thread.look((state) => placeInThread(state, messages, isAnew));
  if (now !== null) return checked(now);
  const unanswered = messages.slice(0, -1).filter(({ role }) => role === "user");
  return { parent: null, answered: null, unanswered, differs: null };
};

const checked = (place: ReturnType<typeof placeInThread>): PagePlace => {
  if ("problem" in place) throw differing(place.problem);
  return place;
};

/** Begins a thread with the conversation that its page brings along, up to the last answer. */
const imported = async (host: PageHost, { id }: HostedThread, earlier: readonly SentMessage[]): Promise<void> => {
  const conversation = earlier.filter(({ role }) => role !== "system");
  const had = conversation.slice(0, conversation.findLastIndex(({ role }) => role === "assistant") + 1);
  if (had.length === 0) return;
  const ours = had.find((message) => turnIn(message.id) !== null);
  if (ours !== undefined) throw differing(`${ours.id} is of a thread that is not there`);
  const { system } = host.threadDefaults;
  try {
    await host.importMessages({ ...(system === undefined ? {} : { system }), turns: historyOf(had) }, { threadId: id });
  } catch (thrown) {
    // The same post came twice.
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
};

/** The ask that a message is already, or the id of a new one: what left the path, or was dropped, is asked again. */
const foundAsk = async (
  thread: HostedThread,
  id: string,
  parent: number | null,
  isAnew: boolean,
): Promise<{ readonly askId: string; readonly record: AskRecord | null; readonly isRepeated: boolean }> => {
  for (let times = 1; ; times += 1) {
    const askId = times === 1 ? id : `${id}-${times}`;
    const record = await thread.asked(askId);
    const isRepeated = times > 1;
    if (record === null) return { askId, record, isRepeated };
    if ((await thread.look((state) => isStanding(state, record, parent, isAnew))) === true)
      return { askId, record, isRepeated };
  }
};

const isStanding = (
  state: State,
  { askId, turn, status }: AskRecord,
  parent: number | null,
  isAnew: boolean,
): boolean => {
  if (turn === null) return status === "queued" || status === "joining";
  const behind = pathBehind(state, turn);
  // An edit takes away what follows, also if it changes nothing.
  if (behind === null || (isAnew && behind.length > 0)) return false;
  if (parent === null || (shownTurn(state, turn)?.parent ?? 0) >= parent) return true;
  // It joined the turn that the page shows before it.
  const { open } = state.context;
  const { asks = [] } = (open?.number === turn ? open : turnNumbered(state, turn)) ?? {};
  return turn === parent && asks[0]?.askId !== askId;
};

const standingOf = (state: State, record: AskRecord | null, shownParent: number | null) => {
  const turn = record?.turn ?? null;
  const { open, conversation } = state.context;
  if (turn === null) return { ahead: null, parent: open?.number ?? conversation.head };
  const parent = shownTurn(state, turn)?.parent ?? 0;
  // Another page may have sent the same message, behind turns that this one does not show.
  const isAhead = (pathBehind(state, turn) ?? []).length > 0 || (shownParent !== null && parent > shownParent);
  return { ahead: isAhead ? threadIsAhead : null, parent };
};

/** Cancels the open turn. Returns false if it ended meanwhile. */
export const cancelled = async (thread: HostedThread, reason: string): Promise<boolean> => {
  try {
    await thread.cancel(reason);
    return true;
  } catch (thrown) {
    if (thrown instanceof EventRefusedError) return false;
    throw thrown;
  }
};
