import type { AskReceived, Refusal } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  askEvent,
  type AskInput,
  askOptionKinds,
  type AskOptions,
  steerOptionKinds,
  type SteerOptions,
} from "../ask/ask-event.ts";
import type { AskHandle } from "../ask/ask-handle.ts";
import type { StopAsk } from "../ask/ask-watcher.ts";
import { Ask } from "../ask/ask.ts";
import { withContext } from "../ask/asks.ts";
import { EarlierAsk } from "../ask/earlier-ask.ts";
import { AskRefusedError, ThreadClosedError } from "../boundary/errors.ts";
import { problemOfOptions } from "../boundary/option-kinds.ts";
import { messageOf } from "../boundary/thrown.ts";
import { type OutputOf, type OutputSchema, wantedOutput, type WrittenOf } from "../output/expected.ts";
import type { Ids } from "../ports/ids.ts";
import { askOrFork, problemOfBusy } from "./ask-or-fork.ts";
import type { ThreadRef } from "./thread-ref.ts";

/** Asks on a thread. */
export const askOn = <Schema extends OutputSchema>(
  thread: ThreadRef,
  input: AskInput,
  options: AskOptions<Schema>,
): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> => {
  const problem = problemOfOptions("ask", options, askOptionKinds) ?? problemOfBusy(options);
  return handleTo<Schema>(
    problem === null ? asked(thread, input, options) : refusedAsk(thread.id, thread.host.ids, options, problem),
  );
};

/** Returns the handle to an ask, typed by the schema of the ask. */
export const handleTo = <Schema extends OutputSchema>(ask: Ask): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> =>
  // Its only output is an answer that this schema validated. Without a schema it has none.
  ask as unknown as AskHandle<OutputOf<Schema>, WrittenOf<Schema>>;

/** Asks within the open turn of a thread. */
export const steerOn = (thread: ThreadRef, input: AskInput, given: SteerOptions): AskHandle => {
  const problem = problemOfOptions("steer", given, steerOptionKinds);
  if (problem !== null) return refusedAsk(thread.id, thread.host.ids, given, problem);
  const { during, ...options } = given;
  return asked(thread, input, options, during === undefined ? {} : { askId: during });
};

/** Returns the handle of an ask whose options are invalid. Nothing is sent to the thread. */
export const refusedAsk = (
  threadId: string,
  ids: Ids,
  options: Pick<AskOptions, "askId"> | null,
  reason: string,
): Ask => {
  const ask = new Ask(threadId, options?.askId ?? ids.draw("ask"), undefined, () => true);
  ask.fail(new AskRefusedError(threadId, ask.askId, { kind: "invalid", reason }));
  return ask;
};

/** Returns a handle to an ask that was made before. */
export const earlierAsk = (thread: ThreadRef, askId: string): AskHandle => {
  const { stop, find } = meansOfEarlier(thread);
  const ask = new EarlierAsk(thread.id, askId, stop, find);
  find(ask);
  return ask;
};

/** Returns the parts from which a handle to an earlier ask is made. */
export const meansOfEarlier = (
  thread: ThreadRef,
): { readonly stop: StopAsk<Ask>; readonly find: (ask: Ask) => void } => {
  const stop: StopAsk<Ask> = (stopped, reason) => {
    cancel(thread, stopped, reason);
    return false;
  };
  return { stop, find: (found) => post(thread, found) };
};

const asked = (
  thread: ThreadRef,
  input: AskInput,
  options: AskOptions<OutputSchema>,
  joins?: AskReceived["joins"],
): Ask => {
  const { id, host } = thread;
  const { askId = host.ids.draw("ask"), signal, toolContext, output } = options;
  const context = toolContext == null ? undefined : withContext(toolContext, undefined);
  const stopped: StopAsk<Ask> = (ask, reason) =>
    ask.event === null || stop({ ...thread, id: ask.threadId }, ask, reason);
  const ask = new Ask(id, askId, context, stopped);
  if (signal !== undefined) ask.listenTo(signal);
  if (toolContext != null && host.store.engine !== undefined)
    ask.fail(new AskRefusedError(id, askId, { kind: "invalid", reason: noToolContext }));
  if (ask.settled) return ask;
  const wanted = output === undefined ? Either.right(null) : wantedOutput(output);
  const event = Either.isLeft(wanted)
    ? refuse(wanted.left)
    : askEvent(host.clock.now(), askId, input, options, joins, wanted.right?.expected);
  if (Either.isLeft(event)) {
    ask.fail(new AskRefusedError(id, askId, event.left));
    return ask;
  }
  if (Either.isRight(wanted) && wanted.right !== null) {
    // The copy in the event: the given schema may change later.
    const { expected, schema } = wanted.right;
    ask.output = { expected: event.right.output ?? expected, schema, clock: host.clock };
  }
  if (options.whenBusy === "fork") void askOrFork(thread, ask, event.right, (where) => post(where, ask));
  else {
    ask.event = event.right;
    post(thread, ask);
  }
  return ask;
};

const noToolContext =
  "toolContext: tools run where the engine of this store performs them, and a value can't go there; its worker makes it from the thread";

const refuse = (reason: string): Either.Either<Refusal, never> => Either.left({ kind: "invalid", reason });

const post = ({ id, loops }: ThreadRef, ask: Ask): void => {
  const loop = loops.use(id);
  if (loop === null) ask.fail(new ThreadClosedError(id));
  else loop.postAsk(ask);
};

const stop = (thread: ThreadRef, ask: Ask, reason: string | undefined): boolean => {
  const loop = thread.loops.opened(thread.id);
  if (!ask.isCarried && (loop === undefined || loop.takeBack(ask))) return true;
  cancel(thread, ask, reason);
  return false;
};

const cancel = ({ id, host, loops }: ThreadRef, ask: Ask, reason: string | undefined): void => {
  // Callers in JavaScript may pass an error, as to `AbortController.abort`.
  const why = reason === undefined ? {} : { reason: messageOf(reason) };
  const event = { type: "cancel.requested", at: host.clock.now(), askId: ask.askId, ...why } as const;
  const loop = loops.use(id);
  ask.cancel = event;
  loop?.post({ event, sender: null });
};
