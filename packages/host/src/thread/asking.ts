import { type AskReceived, type ExpectedOutput, type Refusal, digestOf, type ForkOrigin } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  type AskInput,
  askOptionKinds,
  type AskOptions,
  steerOptionKinds,
  type SteerOptions,
} from "../ask/ask-options.ts";
import type { AskHandle } from "../ask/ask-handle.ts";
import { Ask, type StopAsk } from "../ask/ask.ts";
import { withContext } from "../ask/asks.ts";
import { EarlierAsk, type EarlierMeans } from "../ask/earlier-ask.ts";
import { AskRefusedError, ThreadClosedError, StoreError, ThreadExistsError } from "../boundary/errors.ts";
import { givenEvent } from "../boundary/given-event.ts";
import { problemOfOptions } from "../boundary/option-kinds.ts";
import { messageOf } from "../boundary/thrown.ts";
import { type OutputOf, type OutputSchema, wantedOutput, type WrittenOf } from "../output/expected.ts";
import type { Ids } from "../ports/ids.ts";
import { readCallerTools } from "../tools/tool.ts";
import { type ThreadRef, look } from "./thread-ref.ts";
import { forkThread } from "./history.ts";

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
  ask.refused({ kind: "invalid", reason }, null);
  return ask;
};

export const earlierAsk = (thread: ThreadRef, askId: string): AskHandle => {
  const means = meansOfEarlier(thread);
  const ask = new EarlierAsk(thread.id, askId, means);
  means.attach(ask);
  return ask;
};

export const meansOfEarlier = (thread: ThreadRef): EarlierMeans => ({
  stop: (ask, reason) => {
    cancel(thread, ask, reason);
    return false;
  },
  attach: (ask) => post(thread, ask),
});

const asked = (
  thread: ThreadRef,
  input: AskInput,
  options: AskOptions<OutputSchema>,
  joins?: AskReceived["joins"],
): Ask => {
  const { id, host } = thread;
  const { askId = host.ids.draw("ask"), signal, toolContext, output } = options;
  const at = host.clock.now();
  const context = toolContext == null ? undefined : withContext(toolContext, undefined);
  const stopped: StopAsk<Ask> = (ask, reason) =>
    ask.event === null || stop({ ...thread, id: ask.threadId }, ask, reason);
  const ask = new Ask(id, askId, context, stopped);
  if (signal !== undefined) ask.listenTo(signal);
  if (toolContext != null && host.store.engine !== undefined)
    ask.refused({ kind: "invalid", reason: noToolContext }, null);
  if (ask.settled) return ask;
  const wanted = output === undefined ? Either.right(null) : wantedOutput(output);
  const made = Either.isLeft(wanted)
    ? refuse(wanted.left)
    : askEvent(at, askId, input, options, joins, wanted.right?.expected);
  if (Either.isLeft(made)) {
    ask.refused(made.left, null);
    return ask;
  }
  const event = made.right;
  if (Either.isRight(wanted) && wanted.right !== null) {
    // The copy in the event: the given schema may change later.
    const { expected, schema } = wanted.right;
    ask.output = { expected: event.output ?? expected, schema, clock: host.clock };
  }
  if (options.whenBusy === "fork") void askOrFork(thread, ask, event);
  else {
    ask.event = event;
    ask.isRead = true;
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

/**
 * Asks after a turn of a thread. If the thread is busy, or the ask was made in a fork before, asks in the fork. On any
 * error the ask fails.
 */
const askOrFork = async (thread: ThreadRef, ask: Ask, event: AskReceived): Promise<void> => {
  const fork: ThreadRef = { ...thread, id: forkIdOf(thread.id, ask.askId) };
  const go = (where: ThreadRef, asked: AskReceived): void => {
    if (ask.settled) return;
    ask.event = asked;
    post(where, ask);
  };
  const goTo = ({ turn }: ForkOrigin): void => {
    ask.parts.push({ type: "thread.forked", threadId: fork.id, turn });
    go(fork, { ...event, from: turn });
  };
  await failing(ask, async () => {
    const origin = await originOf(thread, fork, ask);
    if (origin !== null) {
      ask.moveTo(fork.id);
      goTo(origin);
      return;
    }
    ask.whenBusy = () => {
      ask.moveTo(fork.id);
      void failing(ask, async () => goTo(await forked(thread, fork, ask, event.from ?? 0)));
    };
    go(thread, event);
  });
};

/** Returns why an ask's options for a busy thread are invalid, for callers in JavaScript; null if they are valid. */
const problemOfBusy = ({ whenBusy, from }: Pick<AskOptions, "whenBusy" | "from">): string | null =>
  whenBusy === "fork" && from === undefined
    ? 'ask: whenBusy: "fork" needs from, the turn behind which the fork goes on'
    : null;

/** Returns the id of an ask's fork: the same for the same ask, in every process and at any time. */
const forkIdOf = (threadId: string, askId: string): string => `fork-${digestOf([threadId, askId])}`;

/** Returns the origin of the fork; null if it does not exist. @throws AskRefusedError if another thread has its id */
const originOf = async (thread: ThreadRef, fork: ThreadRef, { askId }: Ask): Promise<ForkOrigin | null> => {
  const there = await look(fork, ({ context }) => ({ origin: context.forkedFrom }));
  if (there === null || there.origin?.threadId === thread.id) return there?.origin ?? null;
  const reason = `the fork of this ask would be thread "${fork.id}", which is another one; ask under another askId`;
  throw new AskRefusedError(thread.id, askId, { kind: "invalid", reason });
};

/** Makes the fork, unless another process has made it meanwhile. */
const forked = async (
  thread: ThreadRef,
  fork: ThreadRef,
  ask: Ask,
  from: NonNullable<AskReceived["from"]>,
): Promise<ForkOrigin> => {
  const turn = typeof from === "number" ? from : await turnAt(thread, from.checkpoint);
  try {
    await forkThread(thread, { turn, threadId: fork.id });
  } catch (thrown) {
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
  return (await originOf(thread, fork, ask)) ?? { threadId: thread.id, turn };
};

/** Returns the turn of a checkpoint. The machine knew the checkpoint when it refused the ask as busy. */
const turnAt = async (thread: ThreadRef, checkpoint: string): Promise<number> =>
  (await look(thread, ({ context }) => context.conversation.checkpoints[checkpoint])) ?? 0;

const failing = async (ask: Ask, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    ask.fail(thrown instanceof Error ? thrown : new StoreError(ask.threadId, "fork", thrown));
  }
};

/** Returns the event of an ask, read and frozen, or why it is refused. A plain text needs no copy and no check. */
const askEvent = (
  at: number,
  askId: string,
  input: AskInput,
  { name, metadata, model, limits, overlap, from, tools: defined }: Omit<AskOptions, "output">,
  joins?: AskReceived["joins"],
  output?: ExpectedOutput,
): Either.Either<Refusal, AskReceived> => {
  const read =
    defined == null || (Array.isArray(defined) && defined.length === 0)
      ? Either.right(undefined)
      : readCallerTools(defined);
  if (Either.isLeft(read)) return Either.left({ kind: "invalid", reason: `ask: ${read.left}` });
  const tools = read.right;
  const event: AskReceived = { type: "ask.received", at, askId, input };
  const isPlain = typeof input === "string" && typeof askId === "string" && askId !== "" && Number.isFinite(at);
  if (isPlain && (name ?? metadata ?? model ?? limits ?? overlap ?? from ?? tools ?? joins ?? output) === undefined)
    return Either.right(Object.freeze(event));
  return givenEvent<AskReceived>({ ...event, name, metadata, model, limits, overlap, from, tools, joins, output });
};
