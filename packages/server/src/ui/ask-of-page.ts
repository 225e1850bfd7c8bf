import {
  type AskHandle,
  type CallerToolDefinition,
  EventRefusedError,
  type Host,
  type HostedThread,
  ThreadExistsError,
} from "@colloquy/host";
import { type AskRecord, approvalsOf, callsToAnswer, digestOf, type State, turnNumbered } from "@colloquy/machine";
import { type ChatRequest, differing, draftOf, historyOf, type SentMessage } from "./chat-request.ts";
import { type PagePlace, placeInThread } from "./page-place.ts";
import { turnIn } from "./steps.ts";
import { pathBehind, shownTurn, turnOfUiMessage } from "./ui-messages.ts";

/** What a page is told beside the answer. */
export interface PageNotes {
  /** What it shows otherwise than the thread has it; null for nothing. */
  readonly differs: string | null;
  /** Whether the thread has older turns that the page did not send. */
  readonly isCut: boolean;
}

export const threadIsAhead = "The thread has newer messages than the page shows.";

type Importing = Pick<Host, "importMessages" | "threadDefaults">;

/** Asks the last message of a page, or finds the ask that it is already. @throws HttpError 400 */
export const askOfPage = async (
  host: Importing,
  thread: HostedThread,
  request: ChatRequest,
  last: SentMessage,
  tools: readonly CallerToolDefinition[],
): Promise<PageNotes & { readonly ask: AskHandle }> => {
  draftOf(last);
  const place = await placeOf(host, thread, request);
  const { answered, unanswered, differs } = place;
  const asked = [...unanswered, last];
  const drafts = asked.map(draftOf);
  const isRegenerated = request.trigger === "regenerate-message";
  // A message that never came to the thread is asked for the first time.
  const isAnew = answered !== null && (isRegenerated || request.messageId !== undefined);
  const another = isAnew && isRegenerated ? `.${turnIn(request.messageId ?? "") ?? answered}` : "";
  const said = asked.flatMap(({ id, parts }) => [id, JSON.stringify(parts)]);
  const found = await foundAsk(thread, `ui.${digestOf(said)}${another}`, place.parent, isAnew);
  if (found.record !== null) {
    const seen = await thread.look((state) => standingOf(state, found.record, place.parent));
    return {
      ask: thread.rejoin(found.askId),
      differs: differs ?? seen?.ahead ?? null,
      isCut: isCut(request, place, seen?.parent),
    };
  }
  // A user who says something else no longer answers; one who wants another answer no longer wants the one under way.
  const isInTheWay = await thread.look((state) =>
    isAnew ? state.context.open !== null : approvalsOf(state).length + callsToAnswer(state).length > 0,
  );
  if (isInTheWay === true) await cancelled(thread, "the user went on");
  const head = await thread.look(({ context: { open, conversation } }) => ({
    open: open?.number ?? null,
    last: open?.number ?? conversation.head,
  }));
  // A message that left the path goes where another of its id is now: twice in one thread it would be two.
  const isBack = place.parent === null && found.isRepeated;
  const parent = isBack ? await thread.look((state) => turnOfUiMessage(state, last.id)?.parent ?? null) : place.parent;
  // In one entry, so nothing comes between. Behind the open turn it waits, or does as the machine says of overlapping asks.
  const from = head === null || parent === null || parent === head.open ? {} : { from: parent };
  const ask = thread.ask(drafts, { askId: found.askId, tools, ...from });
  return { ask, differs, isCut: isCut(request, place, parent ?? head?.last) };
};

/** A page that posts one message may show no other, and one that does not say where it continues shows nothing of the thread. */
const isCut = ({ messages }: ChatRequest, place: PagePlace, parent: number | undefined): boolean =>
  (messages.length === 1 || place.parent === null) && parent !== undefined && parent > 0;

const placeOf = async (host: Importing, thread: HostedThread, request: ChatRequest): Promise<PagePlace> => {
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
const imported = async (host: Importing, { id }: HostedThread, earlier: readonly SentMessage[]): Promise<void> => {
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
  if (turn === null) return { ahead: null, parent: state.context.conversation.head };
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
