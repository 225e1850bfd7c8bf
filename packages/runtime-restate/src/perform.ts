import { randomUUID } from "node:crypto";
import type { Performing } from "@colloquy/host/perform";
import { type AnswerableEffect, type Event, outstanding, type ReplyDraft, type State } from "@colloquy/machine";
import { loadAll } from "@colloquy/machine/storage";
import { type ObjectSharedContext, RestatePromise, type TerminalError, TimeoutError } from "@restatedev/restate-sdk";
import type { Mail, Task, ThreadHandlers, Told } from "./handlers.ts";
import { type KnownThread, placeOf, withThread } from "./thread-state.ts";
import { laterMs, type WorkerContext } from "./worker-context.ts";

/** Performs effects, in durable steps: they may be run again after a crash, and what may not be is claimed first. */
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

/** Has an event told that cuts off a reply, with what had been shown of it. */
export const cutHandler =
  ({ object }: WorkerContext): ThreadHandlers["cut"] =>
  async (context, { mail, effectId }) => {
    const { out } = await placeOf(context);
    // Anybody may have sent the name of what all objects have.
    const invocation = Object.hasOwn(out, effectId) ? out[effectId] : undefined;
    let reply: ReplyDraft | null = null;
    if (invocation !== undefined) {
      const { id, promise } = context.awakeable<ReplyDraft | null>();
      context.invocation(invocation).signal<string>(shownSignal).resolve(id);
      reply = await promise.orTimeout(shownMs).catch(unlessTimeout);
    }
    return context.objectClient<ThreadHandlers>(object, context.key).tell({ ...mail, shown: { effectId, reply } });
  };

/** Asks who performs a model call what was shown: by the awakeable that is to be resolved. */
const shownSignal = "shown";

/** How long that may take, in milliseconds. One that has just ended does not answer. */
const shownMs = 2000;

/** Calls that this process may begin, or continue once their start is told: then with the attempt that began them. By token. No other has them: so after a crash it is known that they may have run. */
type Claims = Map<string, Performance | null>;

/** One attempt to perform one effect. */
class Performance {
  readonly #worker: WorkerContext;
  readonly #context: ObjectSharedContext;
  readonly #task: Task;
  readonly #claims: Claims;
  #running: Performing | null = null;
  /** It was said what was shown, and nothing more is: else it would not have been all. */
  #isMuted = false;

  constructor(worker: WorkerContext, context: ObjectSharedContext, task: Task, claims: Claims) {
    this.#worker = worker;
    this.#context = context;
    this.#task = task;
    this.#claims = claims;
  }

  /** What is told of it; null where nobody wants it any more. */
  async outcome(): Promise<Mail | null> {
    const lost = this.#task.isTakenUp === true ? await this.#lost() : null;
    if (lost !== null) return lost;
    if (this.#task.repetition !== "claimed") return this.#perform();
    const claim = await this.#context.run("claim", () => this.#claim(null));
    return this.#follow(
      await this.#step("perform", (thread, effect) =>
        // Looked at last: a step that can't begin yet is not one that began.
        loadAll(thread.state) && this.#claims.delete(claim) ? this.#begin(thread, effect) : nobodyKnows,
      ),
    );
  }

  async #perform(): Promise<Mail | null> {
    return this.#follow(await this.#step("perform", this.#begin));
  }

  /** Nothing that this attempt began continues behind it. */
  stop(): void {
    this.#running?.stop(null);
    for (const [claim, holder] of this.#claims) if (holder === this) this.#claims.delete(claim);
  }

  readonly #begin = async (thread: KnownThread, effect: PerformedEffect): Promise<Outcome> => {
    const { hub, performer } = this.#worker;
    const { effectId } = this.#task;
    const run = randomUUID();
    // A tool may look at all of the thread, and can't wait when it does.
    const state: State = effect.type === "callTool" ? loadAll(thread.state) : thread.state;
    const performing = performer.begin(effect, state, (turn, part) => {
      if (!this.#isMuted) hub.publish(this.#context.key, { type: "shown", effectId, run, parts: [{ turn, part }] });
    });
    this.#running = performing;
    const event = await performing.told;
    return event?.type === "tool.started" ? { event, claim: this.#claim(this) } : answer(performing, event);
  };

  /** A call whose start is told runs then: here, or not at all. */
  async #follow(outcome: Outcome): Promise<Mail | null> {
    if (outcome === null) return null;
    // Where its tool was declared again meanwhile, it may be one that can be run again.
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

  /** What an attempt began is no longer its own, should it only now notice that it is over. */
  #takeOver(holder: Performance | null): Performing | null {
    if (holder === null) return null;
    const performing = holder.#running;
    holder.#running = null;
    this.#running = performing;
    return performing;
  }

  /** What is told in the place of an answer that is lost; null where the effect is performed again. */
  #lost(): Promise<Mail | null> {
    return this.#step("lost", async ({ state }, effect) => {
      const event = await this.#worker.performer.lost(effect, state);
      return event === null ? null : { event, recovered: true };
    });
  }

  /** A step that looks at the effect; null where the machine waits for it no longer. */
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

  /** Waits for a step; those who ask meanwhile get what was shown. Only promises of the SDK may be raced, and only by its own race. */
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

  /** True when it was handled. */
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
