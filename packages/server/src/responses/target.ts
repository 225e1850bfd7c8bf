import type { HostedThread } from "@colloquy/host";
import { type State, textOf, toolCallsOf } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import { HttpError, invalid } from "../http/http-error.ts";
import type { Call } from "../http/route.ts";
import { mayReach } from "../http/access.ts";
import { callIdOf, type NamedItem } from "../items/item.ts";
import { saidIn } from "../items/turn-items.ts";
import { type LegPlace, placeOfResponse, type QueuedPlace } from "./response-object.ts";
import type { ResponseInput } from "./response-input.ts";
import type { ResponseRequest } from "./response-request.ts";
import { findLeg, type ResponsesRoom, type ShowingRoom } from "./responses-room.ts";
import { echoIn } from "./turn-echo.ts";

export interface Target {
  readonly thread: HostedThread;
  readonly seen: SeenThread;
  /** The turn after which it continues, even if it is not the head; null for the head. */
  readonly turn: number | null;
}

/** Finds where a request continues; returns null for a new conversation. @throws HttpError */
export const targetOf = async (
  room: ResponsesRoom,
  call: Call,
  { conversation, previous_response_id: previous }: ResponseRequest,
  { behind, answers, approvals }: ResponseInput,
): Promise<Target | null> => {
  if (conversation != null) {
    const id = typeof conversation === "string" ? conversation : conversation.id;
    const there = await reached(room, call, id);
    if (there === null)
      throw new HttpError(404, `there is no conversation ${JSON.stringify(id)}`, {
        param: "conversation",
        code: "conversation_not_found",
      });
    checkItem(behind, there);
    return { ...there, turn: null };
  }
  const given = previous == null ? null : placeOfResponse(previous);
  const named = given === null || "turn" in given ? given : await turnPlaceOf(room, given);
  const item = behind ?? answers[0]?.place ?? approvals[0]?.place ?? null;
  if (named === null && given !== null && "askId" in given && (await isQueued(room, call, given)))
    throw invalid(
      "the previous response is still queued; wait for its end",
      "previous_response_id",
      "response_in_progress",
    );
  const place = previous == null ? item : named;
  if (place === null && previous == null) return null;
  const there = place === null ? null : await reached(room, call, place.threadId);
  if (place === null || there === null || !(await hasTurn(room, there.seen, place)))
    throw previous == null
      ? itemNotFound(item)
      : invalid(
          `there is no response ${JSON.stringify(previous)}; name a response that this server stored, or leave previous_response_id out and send the conversation as input`,
          "previous_response_id",
          "previous_response_not_found",
        );
  checkItem(behind, there);
  return { ...there, turn: place.turn };
};

/** Returns a thread that the caller may use, and its facts; null if there is none. */
const reached = async (
  { host }: ResponsesRoom,
  call: Call,
  threadId: string,
): Promise<Pick<Target, "thread" | "seen"> | null> => {
  const thread = host.thread(threadId);
  const seen = (await mayReach(call, threadId)) ? await thread.look(seenIn) : null;
  return seen === null ? null : { thread, seen };
};

/** Refuses an item of another thread, or of a turn that is not there. */
const checkItem = (item: NamedItem | null, { thread, seen }: Pick<Target, "thread" | "seen">): void => {
  if (item !== null && (item.threadId !== thread.id || item.turn > Math.max(seen.turns, seen.open?.number ?? 0)))
    throw itemNotFound(item);
};

const itemNotFound = (item: NamedItem | null): HttpError =>
  invalid(
    `input: the item ${JSON.stringify(item?.id ?? null)} is not there; send the item itself, or leave it out`,
    "input",
    "item_not_found",
  );

const isQueued = async ({ host }: ResponsesRoom, call: Call, { threadId, askId }: QueuedPlace): Promise<boolean> =>
  (await mayReach(call, threadId)) && (await host.thread(threadId).asked(askId))?.status === "queued";

/** Returns the place of the turn that a queued ask has started; null while it is queued. */
export const turnPlaceOf = async (
  { host }: ShowingRoom,
  { threadId, askId }: QueuedPlace,
): Promise<LegPlace | null> => {
  const turn = (await host.thread(threadId).asked(askId))?.turn ?? null;
  return turn === null ? null : { threadId, turn, leg: 1 };
};

/** Finds the thread whose calls a stateless client sends with their outputs; returns null if there is none. */
export const threadOfResent = async (
  { host }: ResponsesRoom,
  call: Call,
  { conversation, previous_response_id: previous }: ResponseRequest,
  { resent }: ResponseInput,
): Promise<HostedThread | null> => {
  const [first] = resent;
  const named =
    previous == null
      ? typeof conversation === "string"
        ? conversation
        : conversation?.id
      : placeOfResponse(previous)?.threadId;
  // In another thread, the calls are just history.
  if (named !== undefined && named !== first?.place.threadId) return null;
  if (first === undefined || !(await mayReach(call, first.place.threadId))) return null;
  const thread = host.thread(first.place.threadId);
  return (await thread.look((state) => askedForAll(state, resent))) === true ? thread : null;
};

const askedForAll = (state: State, resent: ResponseInput["resent"]): boolean =>
  resent.every(({ place, name, arguments: written }) => {
    const calls = saidIn(state, place.turn)?.messages.flatMap(toolCallsOf) ?? [];
    const call = calls.find(({ callId }) => callId === callIdOf(place));
    return call?.name === name && call.arguments === written && place.threadId === state.context.threadId;
  });

/** The facts of a thread that a request needs to continue it. */
export interface SeenThread {
  readonly head: number;
  readonly turns: number;
  readonly open: { readonly number: number; readonly isAwaited: boolean } | null;
  readonly system: string | null;
  /** The instructions of the open response, or else of the one at the head; they hold for that response alone. */
  readonly instructions: string | null;
}

export const seenIn = (state: State): SeenThread => {
  const { conversation, open } = state.context;
  const { instructions } = echoIn(state, open?.number ?? conversation.head);
  return {
    head: conversation.head,
    turns: conversation.turns.length,
    open: open === null ? null : { number: open.number, isAwaited: waitsOutside(state) },
    system: conversation.system === null ? null : textOf(conversation.system),
    instructions: typeof instructions === "string" ? instructions : null,
  };
};

const hasTurn = async (
  room: ResponsesRoom,
  { open, turns }: SeenThread,
  place: { readonly threadId: string; readonly turn: number; readonly leg?: number },
): Promise<boolean> => {
  const isThere = place.turn === open?.number || (place.turn > 0 && place.turn <= turns);
  if (!isThere || place.leg === undefined || place.leg === 1) return isThere;
  return (await findLeg(room, { ...place, leg: place.leg })) !== null;
};
