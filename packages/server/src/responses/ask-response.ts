import { type AskHandle, type AskOptions, type HostedThread, ThreadExistsError } from "@colloquy/host";
import type { MessageDraft } from "@colloquy/machine";
import { forkOf } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { HttpError } from "../http/http-error.ts";
import type { Call } from "../http/route.ts";
import { continueTurn } from "./continued-turn.ts";
import { legOfAsk } from "./leg-of-ask.ts";
import { readInput, type ResponseInput } from "./response-input.ts";
import { modelParametersOf, type ResponseRequest } from "./response-request.ts";
import { findLeg, type ReadableLeg, type ResponsesRoom, type ShowingRoom } from "./responses-room.ts";
import { type SeenThread, seenIn, type Target, targetOf, threadOfResent } from "./target.ts";
import { isOpenedBy, turnMetadata } from "./turn-echo.ts";

/** Begins what a request asks for, or finds it where it was asked before. Resolves when its turn has begun. @throws HttpError */
export const askResponse = async (room: ResponsesRoom, call: Call, request: ResponseRequest): Promise<ReadableLeg> => {
  checkRequest(room, request);
  const input = readInput(request);
  const answered = request.store === false ? null : await threadOfResent(room, call, input);
  if (answered !== null)
    return continueTurn(room, answered, { ...input, answers: input.resent, said: [] }, call.principal);
  const target = await targetOf(room, call, request, input);
  if (input.answers.length + input.approvals.length > 0) {
    if (target === null) throw new HttpError(400, "input: nothing waits for these outputs", { param: "input" });
    return continueTurn(room, target.thread, input, call.principal);
  }
  const askId = await askIdOf(call);
  const asking: Asking = { room, call, request, input, askId };
  return request.store === false ? askUnstored(asking, target) : askStored(asking, target);
};

interface Asking {
  readonly room: ResponsesRoom;
  readonly call: Call;
  readonly request: ResponseRequest;
  readonly input: ResponseInput;
  /** The id of the ask: of its idempotency key, where it has one. */
  readonly askId: { readonly id: string; readonly isRepeatable: boolean };
}

const checkRequest = ({ models }: ResponsesRoom, request: ResponseRequest): void => {
  if (request.conversation != null && request.previous_response_id != null)
    throw new HttpError(
      400,
      "conversation and previous_response_id can't both be given: a conversation has its own head",
      {
        param: "previous_response_id",
      },
    );
  if (request.background === true && request.store === false)
    throw new HttpError(400, "background: a response that is not stored can't be read later; leave out store: false", {
      param: "background",
    });
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

/** An ask that is kept: repeated under its key it is the one that was made before. */
const askStored = async (asking: Asking, target: Target | null): Promise<ReadableLeg> => {
  const { room, request, askId } = asking;
  const threads = target === null ? [newThread(asking)] : [target.thread, room.host.thread(forkId(asking))];
  if (askId.isRepeatable)
    for (const thread of threads) {
      const asked = await thread.asked(askId.id);
      if (asked === null) continue;
      const { turn: known } = asked;
      if (known === null) return legOfAsk(room, thread, thread.rejoin(askId.id), askId.id);
      if ((await thread.look((state) => isOpenedBy(state, known, request))) === false)
        throw new HttpError(400, "this idempotency key was used with another request; take a new one", {
          code: "idempotency_key_reused",
        });
      const leg = await findLeg(room, { threadId: thread.id, turn: known, leg: 1 });
      if (leg !== null) return leg;
    }
  const { thread, options } = target === null ? await begunThread(asking) : await behind(asking, target);
  return (await ask(asking, room, thread, options)).leg;
};

/** An ask on a copy in memory, which is gone when it is answered. */
const askUnstored = async (asking: Asking, target: Target | null): Promise<ReadableLeg> => {
  const { unstored } = asking.room;
  const thread = unstored.host.thread("new");
  if (target !== null) {
    const { turn, seen } = target;
    const at = asking.room.clock.now();
    const wanted = turn ?? seen.head;
    const copied = forkOf(await target.thread.exportJournal(), { at, threadId: thread.id, turn: wanted });
    if (Either.isLeft(copied)) throw new HttpError(400, copied.left);
    await unstored.host.importJournal(copied.right.entries, { threadId: thread.id });
    await prepare(asking, thread, await thread.look(seenIn));
  } else await begun(asking, thread);
  const { leg, handle } = await ask(asking, unstored, thread, {});
  // Nobody could ask for it again.
  asking.call.signal.addEventListener("abort", () => handle.abort("the client went"), { once: true });
  const forget = (): void => void thread.delete().catch(() => {});
  leg.ended.then(forget, forget);
  return leg;
};

const newThread = ({ room, call, askId }: Asking): HostedThread =>
  room.host.thread(`${room.threadPrefix(call.principal)}thread_${askId.id}`);

const forkId = ({ room, call, askId }: Asking): string => `${room.threadPrefix(call.principal)}fork_${askId.id}`;

const begunThread = async (asking: Asking) => {
  const thread = newThread(asking);
  await begun(asking, thread);
  return { thread, options: {} };
};

/** Begins a thread with what the input brings of earlier turns. */
const begun = async (asking: Asking, thread: HostedThread): Promise<void> => {
  const { room, input, request } = asking;
  const host = request.store === false ? room.unstored.host : room.host;
  if (input.history.length > 0)
    try {
      const given = input.system ?? host.threadDefaults.system;
      const system = given === undefined ? {} : { system: given };
      await host.importMessages({ ...system, turns: input.history }, { threadId: thread.id });
    } catch (thrown) {
      // The same request came before, and got so far.
      if (!(thrown instanceof ThreadExistsError)) throw thrown;
    }
  const system = request.instructions ?? (input.history.length > 0 ? null : input.system);
  if (system !== null) await thread.changeSystem(system);
};

/** Behind the turn that a request names: at the head of its thread where that is idle there, else in a fork. */
const behind = async (asking: Asking, target: Target): Promise<{ thread: HostedThread; options: AskOptions }> => {
  const { thread, seen, turn } = target;
  const { open, head } = seen;
  const isWaiting = open?.isAwaited === true;
  if (turn === null || (turn === open?.number && isWaiting)) {
    if (open === null || asking.input.history.length > 0) await prepare(asking, thread, seen);
    return { thread, options: { overlap: isWaiting ? "interrupt" : "queue" } };
  }
  if (turn === open?.number)
    throw new HttpError(400, "the previous response is still in progress; wait for its end, or cancel it", {
      param: "previous_response_id",
      code: "response_in_progress",
    });
  if (open === null && turn === head && asking.input.history.length === 0) {
    await prepare(asking, thread, seen);
    // The host names such a fork, without a prefix.
    const whenBusy = asking.room.threadPrefix(asking.call.principal) === "" ? { whenBusy: "fork" as const } : {};
    return { thread, options: { from: turn, ...whenBusy } };
  }
  const fork = asking.room.host.thread(forkId(asking));
  try {
    await thread.fork({ turn, threadId: fork.id });
  } catch (thrown) {
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
  await prepare(asking, fork, await fork.look(seenIn));
  return { thread: fork, options: {} };
};

/** Instructions are those of one response: the next without them goes on under the thread's own. */
const prepare = async ({ request, input }: Asking, thread: HostedThread, seen: SeenThread | null): Promise<void> => {
  for (const turn of input.history) await thread.addTurn(turn);
  const wanted = request.instructions ?? input.system;
  const present = seen?.system ?? null;
  if (wanted === null && present !== null && seen?.instructions === present) await thread.resetSystem();
  // What is no text is an item of its own kind: it is set as it is.
  else if (wanted !== null && wanted !== present) await thread.changeSystem(wanted);
};

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
  // Nobody reaches an ask of somebody else by guessing a key.
  const bytes = new TextEncoder().encode(JSON.stringify([principal.id, key]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, 16);
  return { id: Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""), isRepeatable: true };
};
