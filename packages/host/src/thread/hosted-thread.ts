import type { AskReceived, AskRecord, RequestApproval, State } from "@colloquy/machine";
import type { Explanation, ThreadFigures } from "@colloquy/machine/inspect";
import { approvalsOf, askNamed, asksOf, ConfigurationError } from "@colloquy/machine";
import { explain, figuresOf } from "@colloquy/machine/inspect";
import { loadAll } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { Ask, type StopAsk } from "../ask/ask.ts";
import type { AskHandle } from "../ask/ask-handle.ts";
import { withContext } from "../ask/asks.ts";
import { EarlierAsk } from "../ask/earlier-ask.ts";
import { refusedAsk } from "../ask/refused-ask.ts";
import {
  askEvent,
  type AskInput,
  askOptionNames,
  type AskOptions,
  steerOptionNames,
  type SteerOptions,
} from "../ask/ask-event.ts";
import { CodeWaits } from "../activity/code-waits.ts";
import { AskRefusedError, ThreadClosedError } from "../boundary/errors.ts";
import { type OptionNames, problemOfOptions } from "../boundary/option-names.ts";
import { type AsksUnderWay, asksOfEffect, asksUnderWay, type Resumed } from "./resumed.ts";
import { ThreadCopies } from "./thread-copies.ts";
import { messageOf } from "../boundary/thrown.ts";

/** How a tool call is approved. */
export interface ApproveOptions {
  /** Who does; only kept. */
  readonly by?: string;
  /** The digest of the request that was looked at: an answer about any other is refused. */
  readonly digest?: string;
}

/** How a tool call is denied. */
export interface DenyOptions extends ApproveOptions {
  /** For the model. */
  readonly reason?: string;
}

/**
 * One thread of a host. Using it opens the thread here: its lease is taken, its journal read, and what was under
 * way goes on. A thread that is not there is made by the first ask, message or system prompt, or by `start`.
 *
 * All but `ask` and `steer` reject with `ThreadHeldError` when another host holds it and can't be told, with
 * `EventRefusedError` when the machine refuses, and with `LeaseLostError` or `StoreError` when it can't be known what
 * became of the event.
 */
export class HostedThread extends ThreadCopies {
  /** Asks. Returns at once; the handle tells all that follows. */
  ask(input: AskInput, options: AskOptions = {}): AskHandle {
    const problem = problemOfOptions("ask", options, askOptionNames);
    return problem === null ? this.#ask(input, options) : refusedAsk(this.id, this.ids, options, problem);
  }

  /**
   * Asks within the turn that is open: its next prompt shows it, and its answer is the answer to this as well. Refused
   * where none is open. Where the turn ends before it could be shown, the ask is given back.
   */
  steer(input: AskInput, given: SteerOptions = {}): AskHandle {
    const problem = problemOfOptions("steer", given, steerOptionNames);
    if (problem !== null) return refusedAsk(this.id, this.ids, given, problem);
    const { during, ...options } = given;
    return this.#ask(input, options, during === undefined ? {} : { askId: during });
  }

  /**
   * Takes the thread up, as any use of it does, and does nothing else: what was under way when a process died goes on, and
   * the result has handles to it. Rejects with `ThreadUnknownError` where there is no such thread, with `ThreadHeldError`
   * where another host has it; `host.resumeAll` waits for that one's lease.
   */
  async resume(): Promise<Resumed> {
    return this.takeUp(await this.look(asksUnderWay));
  }

  /**
   * The same, when it is known which asks are under way.
   *
   * @internal
   */
  async takeUp(asks: AsksUnderWay | null): Promise<Resumed> {
    // Before it goes on, so that they are shown all of it.
    const resumed = this.#resumed(asks);
    const aim = () => Either.left({ kind: "stale", reason: "there is nothing to tell" } as const);
    await this.post({ event: { type: "cancel.requested", at: this.now() }, aim });
    return resumed;
  }

  /** What is known of an ask by its id, also long after; null for none, or one of more than some 256 turns ago. Takes no lease. */
  asked(askId: string): Promise<AskRecord | null> {
    return this.look((state) => askNamed(state, askId));
  }

  /** What is known of the last asks, the newest last. Default: of 256. Takes no lease. */
  async asks(last?: number): Promise<readonly AskRecord[]> {
    return (await this.look((state) => asksOf(state, last))) ?? [];
  }

  /** The tool calls that wait for somebody's approval. Takes no lease. */
  async approvals(): Promise<readonly RequestApproval[]> {
    return (await this.look(approvalsOf)) ?? [];
  }

  /**
   * Has a tool call run, by the `id` of its request, however long ago that was made and whoever made it: exactly what was
   * shown. A call whose tool or arguments are not the same any more is asked about anew. Where another host holds the
   * thread it is told by way of the store. The result has a handle to the turn, which goes on when nothing else of it waits.
   * Rejects with `ConfigurationError` where this host has no such tool.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Resumed> {
    this.checkOptions("approve", options, approveOptionNames);
    const asked = (state: State) => ({
      name: approvalsOf(state).find((request) => request.id === id)?.name,
      underWay: asksOfEffect(state, id),
    });
    const state = this.loops.opened(this.id)?.state ?? null;
    // Where the thread is open, nothing that is told next comes before it.
    const { name, underWay } = (state === null ? await this.look(asked) : asked(state)) ?? nothingAsked;
    if (name !== undefined && !this.host.tools.has(name))
      throw new ConfigurationError(
        `this host has no tool "${name}": answer where it is equipped with it, since whoever answers goes on with the thread`,
      );
    return this.#answerApproval(id, true, options, underWay);
  }

  /** Has a tool call not run. The model reads so, and goes on. The result has a handle to the turn. */
  async deny(id: string, options: DenyOptions = {}): Promise<Resumed> {
    this.checkOptions("deny", options, denyOptionNames);
    const asked = (state: State): AsksUnderWay => asksOfEffect(state, id);
    const state = this.loops.opened(this.id)?.state ?? null;
    const underWay = state === null ? await this.look(asked) : asked(state);
    return this.#answerApproval(id, false, options, underWay);
  }

  /** The present state; null when there is no such thread. Takes no lease, so anybody may look. */
  state(): Promise<State | null> {
    return this.look(loadAll, "whole");
  }

  /** What the next prompt would show of the thread, unit by unit, and why; null when there is no such thread. Takes no lease. */
  explain(): Promise<Explanation | null> {
    return this.look((state) => explain(this.host.machine, state));
  }

  /** How large the thread is, and how much of it the next prompt shows; null when there is no such thread. Takes no lease. */
  figures(): Promise<ThreadFigures | null> {
    return this.look((state) => figuresOf(this.host.machine, state));
  }

  #ask(input: AskInput, options: AskOptions, joins?: AskReceived["joins"]): AskHandle {
    const { askId = this.ids.draw("ask"), signal, toolContext } = options;
    const waits = new CodeWaits(this.host.active);
    const context = toolContext == null ? undefined : withContext(toolContext, undefined);
    const ask = new Ask(this.id, askId, context, (stopped, reason) => this.#stop(stopped, reason), waits);
    // Callers in JavaScript hand in anything.
    if (signal !== undefined && typeof signal?.addEventListener !== "function")
      ask.fail(new AskRefusedError(this.id, askId, { kind: "invalid", reason: "signal: it is no AbortSignal" }));
    else if (signal !== undefined) ask.listenTo(signal);
    if (ask.settled) return ask;
    const event = askEvent(this.now(), askId, input, options, joins);
    if (Either.isLeft(event)) {
      ask.fail(new AskRefusedError(this.id, askId, event.left));
      return ask;
    }
    waits.post(() => {
      const loop = this.loops.use(this.id);
      if (loop === null) ask.fail(new ThreadClosedError(this.id));
      else loop.postAsk(ask, event.right);
      return loop;
    });
    return ask;
  }

  async #answerApproval(
    effectId: string,
    approved: boolean,
    { by, digest, reason }: DenyOptions,
    underWay: AsksUnderWay | null,
  ): Promise<Resumed> {
    // Before it goes on, so that they are shown all of it.
    const resumed = this.#resumed(underWay);
    await this.tell({
      type: "approval.answered",
      at: this.now(),
      effectId,
      approved,
      ...(digest === undefined ? {} : { digest }),
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { by }),
    });
    return resumed;
  }

  /** Handles to asks that were made before. */
  #resumed(asks: AsksUnderWay | null): Resumed {
    const { turn, queued } = asks ?? { turn: null, queued: [] };
    return {
      threadId: this.id,
      turn: turn === null ? null : this.#earlierAsk(turn),
      queued: queued.map((askId) => this.#earlierAsk(askId)),
    };
  }

  #earlierAsk(askId: string): AskHandle {
    const waits = new CodeWaits(this.host.active);
    const find = (found: Ask): void =>
      waits.post(() => {
        const loop = this.loops.use(this.id);
        if (loop === null) found.fail(new ThreadClosedError(this.id));
        else loop.postEarlierAsk(found);
        return loop;
      });
    const stop: StopAsk = (stopped, reason) => {
      this.#cancel(stopped, reason);
      return false;
    };
    const ask = new EarlierAsk(this.id, askId, stop, waits, find);
    find(ask);
    return ask;
  }

  #stop(ask: Ask, reason: string | undefined): boolean {
    const loop = this.loops.opened(this.id);
    if (loop === undefined || loop.takeBack(ask)) return true;
    this.#cancel(ask, reason);
    return false;
  }

  #cancel({ askId }: Ask, reason: string | undefined): void {
    // Whoever writes JavaScript may hand in an error, as to `AbortController.abort`.
    const why = reason === undefined ? {} : { reason: messageOf(reason) };
    const event = { type: "cancel.requested", at: this.now(), askId, ...why } as const;
    this.loops.use(this.id)?.post({ event, sender: null });
  }
}

const nothingAsked = { name: undefined, underWay: null };

const approveOptionNames: OptionNames<ApproveOptions> = { by: true, digest: true };

const denyOptionNames: OptionNames<DenyOptions> = { ...approveOptionNames, reason: true };
