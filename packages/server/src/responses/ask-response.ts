import {
  type AskHandle,
  type AskOptions,
  EventRefusedError,
  type HostedThread,
  ThreadExistsError,
} from "@colloquy/host";
import { contentText, type MessageDraft, type SystemDraft } from "@colloquy/machine";
import { forkOf } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { HttpError, invalid } from "../http/http-error.ts";
import type { Call } from "../http/route.ts";
import { continueTurn } from "./continued-turn.ts";
import { legOfAsk, legOfQueued } from "./leg-of-ask.ts";
import { readInput, type ResponseInput } from "./response-input.ts";
import { modelParametersOf, type ResponseRequest } from "./response-request.ts";
import type { ReadableLeg } from "./leg.ts";
import { findLeg, type ResponsesRoom, type ShowingRoom } from "./responses-room.ts";
import { type SeenThread, seenIn, type Target, targetOf, threadOfResent } from "./target.ts";
import { isAskedBy, turnMetadata } from "./turn-echo.ts";

/** Starts the ask of a request, or finds that of an earlier copy, until its turn has started. @throws HttpError */
export const askResponse = async (room: ResponsesRoom, call: Call, sent: ResponseRequest): Promise<ReadableLeg> => {
  checkRequest(room, sent);
  const { request, input } = readWhole(sent);
  if (request.skipped !== undefined) call.warn(request.skipped);
  const answered = request.store === false ? null : await threadOfResent(room, call, request, input);
  if (answered !== null)
    return continueTurn(room, answered, { ...input, answers: input.resent, said: [] }, call.principal);
  const target = await targetOf(room, call, request, input);
  if (input.answers.length + input.approvals.length > 0) {
    if (target === null) throw invalid("input: nothing waits for these outputs", "input");
    if (request.store === false)
      throw invalid("store: the response that waits for these outputs is stored; leave out store: false", "store");
    if ((request.conversation ?? request.previous_response_id) != null && input.history.length > 0)
      throw invalid("input: with outputs only what a user says can be given; ask with the rest afterwards", "input");
    return continueTurn(room, target.thread, input, call.principal);
  }
  const askId = await askIdOf(call);
  const asking: Asking = { room, call, request, input, askId };
  return request.store === false ? askUnstored(asking, target) : askStored(asking, target);
};

/** Reads a request and its input, whose repairs are skipped parts and whose system message joins the instructions. */
const readWhole = (sent: ResponseRequest): { readonly request: ResponseRequest; readonly input: ResponseInput } => {
  const input = readInput(sent);
  const skipped = [...(sent.skipped ?? []), ...input.repaired];
  const request = skipped.length === 0 ? sent : { ...sent, skipped };
  if (sent.instructions == null || input.system === null) return { request, input };
  const instructions = `${sent.instructions}\n\n${textOfSystem(input.system)}`;
  return { request: { ...request, instructions }, input: { ...input, system: null } };
};

interface Asking {
  readonly room: ResponsesRoom;
  readonly call: Call;
  readonly request: ResponseRequest;
  readonly input: ResponseInput;
  /** The id of the ask. It is derived from the idempotency key, if the request has one. */
  readonly askId: { readonly id: string; readonly isRepeatable: boolean };
}

const checkRequest = ({ models }: ResponsesRoom, request: ResponseRequest): void => {
  if (request.conversation != null && request.previous_response_id != null)
    throw invalid(
      "conversation and previous_response_id can't both be given: a conversation has its own head",
      "previous_response_id",
    );
  if (request.background === true && request.store === false)
    throw invalid(
      "background: a response that is not stored can't be read later; leave out store: false",
      "background",
    );
  if (request.model != null && models !== null && !models.includes(request.model))
    throw new HttpError(
      404,
      `there is no model ${JSON.stringify(request.model)} here; there are: ${models.join(", ")}`,
      {
        param: "model",
        code: "model_not_found",
      },
    );
};

/** Asks on a stored thread. A request that repeats an idempotency key gets the leg of the first ask. */
const askStored = async (asking: Asking, target: Target | null): Promise<ReadableLeg> => {
  const { room, askId } = asking;
  const asked = target?.thread ?? (await newThread(asking, "thread"));
  const fork = await newThread(asking, "fork");
  return room.lines.next(asked.id, async () => {
    const before = askId.isRepeatable
      ? ((await askedBefore(asking, asked)) ?? (await askedBefore(asking, fork)))
      : null;
    if (before !== null) return before;
    try {
      if (target === null) await begun(asking, asked);
      const { thread, options } =
        target === null
          ? { thread: asked, options: {} }
          : await behind(asking, { ...target, seen: (await asked.look(seenIn)) ?? target.seen });
      return (await ask(asking, room, thread, options)).leg;
    } catch (thrown) {
      // Delete a thread that was created for a refused ask. Under an idempotency key, other requests may have found it
      // already.
      if (thrown instanceof EventRefusedError && !askId.isRepeatable)
        await (target === null ? asked : fork).delete().catch(() => {});
      throw thrown;
    }
  });
};

/** Returns the leg of an earlier request with the same idempotency key; null if there was none. */
const askedBefore = async ({ room, request, askId }: Asking, thread: HostedThread): Promise<ReadableLeg | null> => {
  const asked = await thread.asked(askId.id);
  if (asked === null) return null;
  if ((await thread.look((state) => isAskedBy(state, asked, request))) === false)
    throw invalid("this idempotency key was used with another request; take a new one", null, "idempotency_key_reused");
  if (asked.turn === null) return legOfQueued(room, thread, askId.id);
  return findLeg(room, { threadId: thread.id, turn: asked.turn, leg: 1 });
};

/** Asks on a copy of the thread in memory, which is deleted after the answer. */
const askUnstored = async (asking: Asking, target: Target | null): Promise<ReadableLeg> => {
  const { unstored } = asking.room;
  const { signal } = asking.call;
  const thread = unstored.host.thread(
    await asking.call.newThreadId(`unstored_${crypto.randomUUID().replaceAll("-", "")}`),
  );
  const forget = (): void => void thread.delete().catch(() => {});
  try {
    await beginUnstored(asking, target, thread);
    const { leg, handle } = await ask(asking, unstored, thread, {});
    // Abort, since no other request can find this ask.
    const abort = (): void => handle.abort("the client went");
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    const end = (): void => {
      signal.removeEventListener("abort", abort);
      forget();
      if (asking.request.stream !== true) letGo();
    };
    const letGo = (): void => unstored.turns.forgetThread(thread.id);
    leg.ended.then(end, end);
    return {
      get facts() {
        return leg.facts;
      },
      ended: leg.ended,
      blocks: (from) => readOnce(leg.blocks(from) ?? [], letGo),
    };
  } catch (thrown) {
    forget();
    throw thrown;
  }
};

async function* readOnce(blocks: AsyncIterable<string> | readonly string[], over: () => void): AsyncGenerator<string> {
  try {
    yield* blocks;
  } finally {
    over();
  }
}

const beginUnstored = async (asking: Asking, target: Target | null, thread: HostedThread): Promise<void> => {
  const { unstored } = asking.room;
  if (target !== null) {
    const { turn, seen } = target;
    const at = asking.room.clock.now();
    const wanted = turn ?? seen.head;
    const copied = forkOf(await target.thread.exportJournal(), { at, threadId: thread.id, turn: wanted });
    if (Either.isLeft(copied)) throw invalid(copied.left);
    await unstored.host.importJournal(copied.right.entries, { threadId: thread.id });
    await prepare(asking, thread, await thread.look(seenIn));
  } else await begun(asking, thread);
};

const newThread = async ({ room, call, askId }: Asking, kind: "thread" | "fork"): Promise<HostedThread> =>
  room.host.thread(await call.newThreadId(`${kind}_${askId.id}`));

/** Starts a thread with the earlier turns of the input. */
const begun = async (asking: Asking, thread: HostedThread): Promise<void> => {
  const { room, input, request } = asking;
  const host = request.store === false ? room.unstored.host : room.host;
  if (input.history.length > 0)
    try {
      const given = input.system ?? host.threadDefaults.system;
      const system = given === undefined ? {} : { system: given };
      await host.importMessages({ ...system, turns: input.history }, { threadId: thread.id });
    } catch (thrown) {
      // An earlier copy of the request got this far.
      if (!(thrown instanceof ThreadExistsError)) throw thrown;
    }
  const system = request.instructions ?? (input.history.length > 0 ? null : input.system);
  if (system !== null) await thread.changeSystem(system);
};

/** Chooses where to continue after the named turn: at the head of its thread if that is idle, else in a fork. */
const behind = async (asking: Asking, target: Target): Promise<{ thread: HostedThread; options: AskOptions }> => {
  const { thread, seen, turn } = target;
  const { open, head } = seen;
  const isWaiting = open?.isAwaited === true;
  if (turn === null || (turn === open?.number && isWaiting)) {
    if (open === null || isWaiting || asking.input.history.length > 0) await prepare(asking, thread, seen);
    else if (changeOfSystem(asking, seen) !== undefined)
      throw invalid(
        "instructions: the conversation is busy under others, and what waits can't have its own; wait for the end",
        "instructions",
        "response_in_progress",
      );
    return { thread, options: { overlap: isWaiting ? "interrupt" : "queue" } };
  }
  if (turn === open?.number)
    throw invalid(
      "the previous response is still in progress; wait for its end, or cancel it",
      "previous_response_id",
      "response_in_progress",
    );
  if (open === null && turn === head && asking.input.history.length === 0) {
    await prepare(asking, thread, seen);
    // The host chooses the id of such a fork, which then has no prefix.
    const whenBusy = (await asking.call.newThreadId("")) === "" ? { whenBusy: "fork" as const } : {};
    return { thread, options: { from: turn, ...whenBusy } };
  }
  const fork = await newThread(asking, "fork");
  try {
    await thread.fork({ turn, threadId: fork.id });
  } catch (thrown) {
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
  await prepare(asking, fork, await fork.look(seenIn));
  return { thread: fork, options: {} };
};

/** Adds the earlier turns and sets the system prompt. Instructions hold for one response alone. */
const prepare = async (asking: Asking, thread: HostedThread, seen: SeenThread | null): Promise<void> => {
  for (const turn of asking.input.history) await thread.addTurn(turn);
  const system = changeOfSystem(asking, seen);
  if (system === null) await thread.resetSystem();
  else if (system !== undefined) await thread.changeSystem(system);
};

/** Returns the system prompt to change to: null for the thread's own, undefined for no change. */
const changeOfSystem = ({ request, input }: Asking, seen: SeenThread | null): SystemDraft | null | undefined => {
  const wanted = request.instructions ?? input.system;
  const present = seen?.system ?? null;
  if (wanted === null) return present !== null && seen?.instructions === present ? null : undefined;
  return textOfSystem(wanted) === present ? undefined : wanted;
};

const textOfSystem = (system: SystemDraft): string => contentText(typeof system === "string" ? system : system.content);

const ask = async (
  { request, input, askId, room }: Asking,
  shown: ShowingRoom,
  thread: HostedThread,
  more: AskOptions,
): Promise<{ readonly leg: ReadableLeg; readonly handle: AskHandle }> => {
  const tools = (request.tools ?? []).map(({ name, description, parameters }) => ({
    name,
    ...(description == null ? {} : { description }),
    ...(parameters == null ? {} : { input: { jsonSchema: parameters } }),
  }));
  const metadata = turnMetadata(request);
  const model = modelParametersOf(request, room.modelParameters);
  const limits = request.max_tool_calls == null ? {} : { limits: { toolCalls: request.max_tool_calls } };
  const said: readonly MessageDraft[] = input.said;
  const handle = thread.ask(said, { askId: askId.id, metadata, model, tools, ...limits, ...more });
  return { leg: await legOfAsk(shown, thread, handle, askId.id), handle };
};

const askIdOf = async ({ request, principal }: Call): Promise<Asking["askId"]> => {
  const key = request.headers.get("idempotency-key");
  if (key === null) return { id: crypto.randomUUID().replaceAll("-", ""), isRepeatable: false };
  // Hash the principal too, so that a guessed key never finds another principal's ask.
  const bytes = new TextEncoder().encode(JSON.stringify([principal.id, key]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, 16);
  return { id: Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""), isRepeatable: true };
};
