import { randomUUID } from "node:crypto";
import type { Performing } from "@colloquy/host/perform";
import { type AnswerableEffect, type Event, outstanding, type ReplyDraft, type State } from "@colloquy/machine";
import { loadAll } from "@colloquy/machine/storage";
import { type ObjectSharedContext, RestatePromise, type TerminalError, TimeoutError } from "@restatedev/restate-sdk";
import { type Mail, type Task, type ThreadHandlers, type Told, laterMs } from "./handlers.ts";
import { type KnownThread, placeOf, withThread, type WorkerContext } from "./thread-state.ts";

/** Performs effects in durable steps. A step may run again after a crash; a call that must not is claimed first. */
export const performHandler = (worker: WorkerContext): ThreadHandlers["perform"] => {
  const claims: Claims = new Map();
  return async (context, task) => {
    const performance = new Performance(worker, context, task, claims);
    context.request().attemptCompletedSignal.addEventListener("abort", () => performance.stop());
    try {
      const mail = await performance.outcome();
      if (mail !== null)
        context.objectSendClient<ThreadHandlers>(worker.object, context.key).tell({ ...mail, isSent: true });
    } catch (thrown) {
      performance.stop();
      throw thrown;
    }
  };
};

/** Sends an event that cuts off a reply, with the part shown so far. */
export const cutHandler =
  ({ object }: WorkerContext): ThreadHandlers["cut"] =>
  async (context, { mail, effectId }) => {
    const { out } = await placeOf(context);
    // `effectId` may be any text, such as `__proto__`.
    const invocation = Object.hasOwn(out, effectId) ? out[effectId] : undefined;
    let reply: ReplyDraft | null = null;
    if (invocation !== undefined) {
      const { id, promise } = context.awakeable<ReplyDraft | null>();
      context.invocation(invocation).signal<string>(shownSignal).resolve(id);
      reply = await promise.orTimeout(shownMs).catch(unlessTimeout);
    }
    return context.objectClient<ThreadHandlers>(object, context.key).tell({ ...mail, shown: { effectId, reply } });
  };

/** Asks the performer of a model call for the shown part. Its value is the awakeable to resolve. */
const shownSignal = "shown";

/** The milliseconds that this may take. A performer that has just ended does not answer. */
const shownMs = 2000;

/**
 * The calls that this process alone may begin, or continue once their start is journalled, by token; of a call that began,
 * the attempt that did it. After a crash a call without its claim may have run.
 */
type Claims = Map<string, Performance | null>;

/** One attempt to perform one effect. */
class Performance {
  readonly #worker: WorkerContext;
  readonly #context: ObjectSharedContext;
  readonly #task: Task;
  readonly #claims: Claims;
  #running: Performing | null = null;
  /** True once the shown part was reported; later parts are not published. */
  #isMuted = false;

  constructor(worker: WorkerContext, context: ObjectSharedContext, task: Task, claims: Claims) {
    this.#worker = worker;
    this.#context = context;
    this.#task = task;
    this.#claims = claims;
  }

  /** Returns the event to send; null if the machine no longer waits. */
  async outcome(): Promise<Mail | null> {
    const lost = this.#task.isTakenUp === true ? await this.#lost() : null;
    if (lost !== null) return lost;
    if (this.#task.repetition !== "claimed") return this.#perform();
    const claim = await this.#context.run("claim", () => this.#claim(null));
    return this.#follow(
      await this.#step("perform", (thread, effect) =>
        // Load first: if loading fails, the call has not started.
        loadAll(thread.state) && this.#claims.delete(claim) ? this.#begin(thread, effect) : nobodyKnows,
      ),
    );
  }

  async #perform(): Promise<Mail | null> {
    return this.#follow(await this.#step("perform", this.#begin));
  }

  /** Stops everything this attempt started. */
  stop(): void {
    this.#running?.stop(null);
    for (const [claim, holder] of this.#claims) if (holder === this) this.#claims.delete(claim);
  }

  readonly #begin = async (thread: KnownThread, effect: PerformedEffect): Promise<Outcome> => {
    const { hub, performer } = this.#worker;
    const { effectId } = this.#task;
    const run = randomUUID();
    // A tool may read the whole thread, and without waiting.
    const state: State = effect.type === "callTool" ? loadAll(thread.state) : thread.state;
    const performing = performer.begin(effect, state, (turn, part) => {
      if (!this.#isMuted) hub.publish(this.#context.key, { type: "shown", effectId, run, parts: [{ turn, part }] });
    });
    this.#running = performing;
    const event = await performing.told;
    return event?.type === "tool.started" ? { event, claim: this.#claim(this) } : answer(performing, event);
  };

  /** Runs a call once its start is journalled, only in this process. */
  async #follow(outcome: Outcome): Promise<Mail | null> {
    if (outcome === null) return null;
    // Meanwhile its tool may have been declared as one that can run again.
    if ("isLost" in outcome) return (await this.#lost()) ?? this.#perform();
    if (!("claim" in outcome)) return outcome;
    const { claim, event } = outcome;
    if (!(await this.#tell({ event }))) return null;
    return this.#follow(
      await this.#context.run("run", async () => {
        const performing = this.#takeOver(this.#claims.get(claim) ?? null);
        this.#claims.delete(claim);
        return performing === null ? nobodyKnows : answer(performing, await performing.goOn());
      }),
    );
  }

  #claim(holder: Performance | null): string {
    const claim = randomUUID();
    this.#claims.set(claim, holder);
    return claim;
  }

  /** Takes over the call of another attempt, which then does not stop it at its end. */
  #takeOver(holder: Performance | null): Performing | null {
    if (holder === null) return null;
    const performing = holder.#running;
    holder.#running = null;
    this.#running = performing;
    return performing;
  }

  /** Returns the event to send in place of a lost answer; null if the effect is performed again. */
  #lost(): Promise<Mail | null> {
    return this.#step("lost", async ({ state }, effect) => {
      const event = await this.#worker.performer.lost(effect, state);
      return event === null ? null : { event, recovered: true };
    });
  }

  /** Runs a step with the effect; returns null if the machine no longer waits for it. */
  async #step<Result>(label: string, act: Act<Result>): Promise<Result | null> {
    const { effectId, isReply } = this.#task;
    const place = await placeOf(this.#context);
    const find = (thread: KnownThread | null): Result | null | Promise<Result | null> => {
      const effect = thread === null ? undefined : outstanding(thread.state).find(({ id }) => id === effectId);
      return thread === null || effect === undefined || !isPerformed(effect) ? null : act(thread, effect);
    };
    const listening = isReply === true ? this.#listening : undefined;
    return withThread(this.#worker, this.#context, place, label, find, listening);
  }

  /**
   * Waits for a step, and answers meanwhile whoever asks for the shown part. Only the SDK's own race may be used, and only
   * with its promises.
   */
  readonly #listening = async <Result>(step: RestatePromise<Result>): Promise<Result> => {
    const done = step.map((_, failure) => settled(null, failure));
    for (;;) {
      const asked = this.#context.signal<string>(shownSignal).map((id, failure) => settled(id ?? null, failure));
      const id = await RestatePromise.race([done, asked]);
      if (id === null) return step;
      const shown = await this.#context.run("shown", () => {
        this.#isMuted = true;
        return this.#running?.shown ?? null;
      });
      this.#context.resolveAwakeable(id, shown);
    }
  };

  async #tell(mail: Mail): Promise<boolean> {
    for (;;) {
      const told: Told = await this.#context
        .objectClient<ThreadHandlers>(this.#worker.object, this.#context.key)
        .tell(mail);
      if (told.type !== "later") return told.type === "handled";
      await this.#context.sleep(laterMs);
    }
  }
}

type Act<Result> = (thread: KnownThread, effect: PerformedEffect) => Result | null | Promise<Result | null>;

/** The result of a step: the events to tell, and the owner of a call that starts. */
type Outcome = Mail | { readonly event: Event; readonly claim: string } | typeof nobodyKnows | null;

const nobodyKnows = { isLost: true } as const;

type PerformedEffect = Extract<AnswerableEffect, { readonly type: "callLlm" | "callTool" | "checkOutput" }>;

const isPerformed = (effect: AnswerableEffect): effect is PerformedEffect =>
  effect.type === "callLlm" || effect.type === "callTool" || effect.type === "checkOutput";

const answer = ({ shown }: Performing, event: Event | null): Mail | null =>
  event === null ? null : { event, ...(shown === undefined ? {} : { streamed: true }) };

const settled = <Value>(value: Value, failure: TerminalError | undefined): Value => {
  if (failure !== undefined) throw failure;
  return value;
};

const unlessTimeout = (thrown: unknown): null => {
  if (thrown instanceof TimeoutError) return null;
  throw thrown;
};
