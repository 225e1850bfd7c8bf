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
import { asksOfOldText, type PagePlace, placeInThread, threadIsAhead } from "./page-place.ts";
import { turnIn } from "./steps.ts";
import { pathBehind, shownTurn, turnOfUiMessage } from "./ui-messages.ts";
import { mayWait } from "./ui-stream.ts";

/** Notes for a page beside the answer. */
export interface PageNotes {
  /** How the page differs from the thread; null if it does not. */
  readonly differs: string | null;
  /** Whether the thread has older turns that the page did not send. */
  readonly isCut: boolean;
}

export type PageHost = Pick<Host, "importMessages" | "threadDefaults" | "machine">;

export interface PageAsk extends PageNotes {
  readonly ask: AskHandle;
  /** Whether the ask was in the thread's queue already. */
  readonly isQueued: boolean;
}

/**
 * Asks the last message of a page, or finds the ask that an earlier request made of it.
 *
 * @param fits called once the page is known to fit the thread, before anything is cancelled for it.
 * @throws HttpError 400 if the message is unusable, or the page does not fit the thread.
 */
export const askOfPage = async (
  host: PageHost,
  thread: HostedThread,
  request: ChatRequest,
  last: SentMessage,
  tools: readonly CallerToolDefinition[],
  fits: () => void,
): Promise<PageAsk> => {
  // Refuses an unusable message before a thread is made for it.
  draftOf(last);
  const place = await findEditedPlace(host, thread, request, last, fits);
  const { answered, parent, differs } = place;
  const messages = [...place.unanswered, last];
  const isRegenerated = request.trigger === "regenerate-message";
  // An edited or regenerated message that never reached the thread replaces nothing.
  const replaces = answered !== null && (isRegenerated || request.messageId !== undefined);
  // The same messages give the same id, so a repeated request finds its ask. Each regeneration asks them once more.
  const digest = digestOf(messages.flatMap(({ id, parts }) => [id, JSON.stringify(parts)]));
  const regenerated = replaces && isRegenerated ? `.${turnIn(request.messageId ?? "") ?? answered}` : "";
  const found = await findAsk(thread, `ui.${digest}${regenerated}`, parent, replaces);
  if (found.record !== null) {
    const seen = await thread.look((state) => relationToPage(state, found.record, parent));
    return {
      ask: thread.rejoin(found.askId),
      differs: differs ?? seen?.ahead ?? null,
      isCut: isCut(place, seen?.parent),
      isQueued: found.record.status === "queued",
    };
  }
  // A new message means that the user will not answer, and a regeneration replaces the running answer.
  const isInTheWay = await thread.look((state) => (replaces ? state.context.open !== null : awaitsUser(state)));
  if (isInTheWay === true) await cancelOpenTurn(thread, userContinued);
  const head = await thread.look(({ context: { open, queue, conversation } }) => ({
    isBusy: open !== null || queue.length > 0,
    last: open?.number ?? conversation.head,
  }));
  // A message that left the path returns to its old place: a second copy elsewhere would count as another message.
  const isBack = parent === null && found.isRepeated;
  const after = isBack ? await thread.look((state) => turnOfUiMessage(state, last.id)?.parent ?? null) : parent;
  // The input is one entry, so that nothing comes between its messages. Only at the end of the thread may it queue:
  // elsewhere, it could follow turns that the page does not show.
  const isAtEnd = head === null || after === null || (head.isBusy && after === head.last);
  const waits = overlapOf(host.machine) === null ? { overlap: "queue" as const } : {};
  const ask = thread.ask(messages.map(draftOf), { askId: found.askId, tools, ...(isAtEnd ? waits : { from: after }) });
  return { ask, differs, isCut: isCut(place, after ?? head?.last), isQueued: false };
};

/**
 * Waits until the turns before a queued ask have ended; without an ask, until all open and queued turns have ended.
 * Meanwhile it cancels a turn that starts to wait for its user, who has moved on.
 *
 * @param gone aborted when the user left without moving on: then it cancels nothing.
 */
export const untilTurnsEnd = async (thread: HostedThread, gone: AbortSignal, askId?: string): Promise<void> => {
  const isInTheWay = (state: State): boolean =>
    !gone.aborted &&
    awaitsUser(state) &&
    (askId === undefined || state.context.queue.some((waiting) => waiting.askId === askId));
  for (const before of (await thread.look((state) => asksBefore(state, askId))) ?? []) {
    try {
      for await (const part of thread.rejoin(before)) {
        // One turn answers both asks.
        if (part.type === "turn.started" && askId !== undefined && part.askIds.includes(askId)) return;
        if (mayWait.has(part.type) && (await thread.look(isInTheWay)) === true)
          await cancelOpenTurn(thread, userContinued);
      }
    } catch (thrown) {
      // It was withdrawn or superseded.
      if (!(thrown instanceof TurnError)) throw thrown;
    }
  }
};

/**
 * Finds the place of the page's last message. If the user edited it while it waited, withdraws the asks of its old text,
 * but only once the page is known to fit the thread: a refused edit loses nothing.
 */
const findEditedPlace = async (
  host: PageHost,
  thread: HostedThread,
  request: ChatRequest,
  last: SentMessage,
  fits: () => void,
): Promise<PagePlace> => {
  const place = await findPlace(host, thread, request);
  fits();
  const isEdited = request.messageId === last.id;
  const old = isEdited ? ((await thread.look((state) => asksOfOldText(state, last))) ?? []) : [];
  for (const askId of old) await cancelAsk(thread, "the user edited it", askId);
  // Other messages of these asks count as unanswered now.
  return old.length === 0 ? place : findPlace(host, thread, request);
};

/** Cancels the open turn, also in another process: by its asks. Returns false if it ended meanwhile. */
export const cancelOpenTurn = async (thread: HostedThread, reason: string): Promise<boolean> => {
  let isCancelled = false;
  for (const { askId, status } of await thread.asks())
    if (status === "open") isCancelled = (await cancelAsk(thread, reason, askId)) || isCancelled;
  return isCancelled;
};

/** Cancels an ask. Returns false if it ended meanwhile. */
const cancelAsk = async (thread: HostedThread, reason: string, askId: string): Promise<boolean> => {
  try {
    await thread.cancel(reason, askId);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof EventRefusedError)) throw thrown;
    return false;
  }
};

const asksBefore = ({ context: { open, queue } }: State, askId?: string): readonly string[] => {
  const waiting = queue.map((ask) => ask.askId);
  const end = askId === undefined ? waiting.length : waiting.indexOf(askId);
  return end < 0 ? [] : [...(open?.asks.slice(0, 1) ?? []).map((ask) => ask.askId), ...waiting.slice(0, end)];
};

/** Checks whether the open turn waits for its user's answer about a call. */
const awaitsUser = (state: State): boolean => approvalsOf(state).length + callsToAnswer(state).length > 0;

const userContinued = "the user continued with another message";

/** Checks whether the page omits older turns. */
const isCut = (place: PagePlace, parent: number | undefined): boolean =>
  place.isCut && parent !== undefined && parent > 0;

/** Finds the place of the page's last message. Creates the thread if it does not exist yet. */
const findPlace = async (host: PageHost, thread: HostedThread, request: ChatRequest): Promise<PagePlace> => {
  const { messages, trigger, messageId } = request;
  const isReplacement = trigger === "regenerate-message" || messageId !== undefined;
  const place = await thread.look((state) => placeInThread(state, messages, isReplacement));
  if (place !== null) return placeOrThrow(place);
  await importHistory(host, thread, messages.slice(0, -1));
  const now = await thread.look((state) => placeInThread(state, messages, isReplacement));
  if (now !== null) return placeOrThrow(now);
  const unanswered = messages.slice(0, -1).filter(({ role }) => role === "user");
  return { parent: null, answered: null, isCut: true, unanswered, differs: null };
};

const placeOrThrow = (place: ReturnType<typeof placeInThread>): PagePlace => {
  if ("problem" in place) throw differing(place.problem);
  return place;
};

/** Creates the thread from the page's conversation, up to the last answer; not without an answer. */
const importHistory = async (host: PageHost, { id }: HostedThread, earlier: readonly SentMessage[]): Promise<void> => {
  const conversation = earlier.filter(({ role }) => role !== "system");
  const had = conversation.slice(0, conversation.findLastIndex(({ role }) => role === "assistant") + 1);
  if (had.length === 0) return;
  const ours = had.find((message) => turnIn(message.id) !== null);
  if (ours !== undefined) throw differing(`${ours.id} is of a thread that is not there`);
  const { system } = host.threadDefaults;
  try {
    await host.importMessages({ ...(system === undefined ? {} : { system }), turns: historyOf(had) }, { threadId: id });
  } catch (thrown) {
    // The same request came twice.
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
};

/** Finds the ask of a message, or chooses the id of a new one. A message that left the path is asked again. */
const findAsk = async (
  thread: HostedThread,
  id: string,
  parent: number | null,
  replaces: boolean,
): Promise<{ readonly askId: string; readonly record: AskRecord | null; readonly isRepeated: boolean }> => {
  for (let times = 1; ; times += 1) {
    const askId = times === 1 ? id : `${id}-${times}`;
    const record = await thread.asked(askId);
    const isRepeated = times > 1;
    if (record === null) return { askId, record, isRepeated };
    if ((await thread.look((state) => stillCounts(state, record, parent, replaces))) === true)
      return { askId, record, isRepeated };
  }
};

/** Checks whether an ask is still the one of the page's message: on the path, and where the page shows it. */
const stillCounts = (
  state: State,
  { askId, turn, status }: AskRecord,
  parent: number | null,
  replaces: boolean,
): boolean => {
  if (turn === null) return status === "queued" || status === "joining";
  const after = pathBehind(state, turn);
  // An edit replaces the following turns, even if it changes nothing.
  if (after === null || (replaces && after.length > 0)) return false;
  if (parent === null || (shownTurn(state, turn)?.parent ?? 0) >= parent) return true;
  // The message joined the turn that the page shows before it.
  const { open } = state.context;
  const { asks = [] } = (open?.number === turn ? open : turnNumbered(state, turn)) ?? {};
  return turn === parent && asks[0]?.askId !== askId;
};

/** Returns the turn before an ask that was found, and whether the thread is ahead of the page. */
const relationToPage = (state: State, record: AskRecord | null, shownParent: number | null) => {
  const turn = record?.turn ?? null;
  const { open, conversation } = state.context;
  if (turn === null) return { ahead: null, parent: open?.number ?? conversation.head };
  const parent = shownTurn(state, turn)?.parent ?? 0;
  // Another page may have sent the same message after turns that this page does not show.
  const isAhead = (pathBehind(state, turn) ?? []).length > 0 || (shownParent !== null && parent > shownParent);
  return { ahead: isAhead ? threadIsAhead : null, parent };
};
