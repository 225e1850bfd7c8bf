import type {
  CallTool,
  Content,
  Event,
  Refusal,
  State,
  ToolCompleted,
  ToolFailed,
  ToolStarted,
  ToolWithheld,
  ContentPart,
} from "@colloquy/machine";
import { SnapshotDamagedError } from "@colloquy/machine/storage";
import { ThreadClosedError } from "../boundary/errors.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { Sender, TaskEnvelope } from "../mailbox/mailbox.ts";
import { keyFilter } from "../secrets/key-filter.ts";
import { approvableArguments, readArguments, type ValidArguments } from "../tools/arguments.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { ToolCall } from "../tools/tool.ts";
import { whyWithheld, withheld } from "./approvals.ts";
import type { LoopPort, Running } from "./loop-port.ts";
import { reportResult } from "./report.ts";
import { describeValueProblem, NotPlain, plainCopy, wellFormed } from "@colloquy/machine/hosting";
import { decodeEvent } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";

/** A tool call in progress. It answers once, or is stopped. Whatever its function does after that is ignored. */
export class ToolRun implements Running, Sender {
  readonly #loop: LoopPort;
  readonly #call: CallTool;
  readonly #tool: RegisteredTool | undefined;
  readonly #controller = new AbortController();
  #cancelTimeout: (() => void) | null = null;
  #over = false;
  /** The reason why this process stopped all work for the thread; null for a cancel of this call alone. */
  #stopped: Error | null = null;
  #answered: Event["type"] | null = null;

  constructor(loop: LoopPort, call: CallTool) {
    this.#loop = loop;
    this.#call = call;
    this.#tool = loop.host.tools.get(call.name);
  }

  begin(): void {
    this.#loop.running.set(this.#call.id, this);
    if (this.#tool === undefined) this.#fail("refused", `There is no tool "${this.#call.name}".`);
    else if (this.#tool.slots === null) void this.#run(this.#tool);
    else this.#tool.slots.take(this.#take);
  }

  stop(reason: Error | null): void {
    this.#stopped = reason;
    this.#leave();
    this.#controller.abort(reason ?? undefined);
  }

  accepted({ event }: Parameters<Sender["accepted"]>[0]): void {
    if (event.type !== "tool.completed" && event.type !== "tool.failed") return;
    reportResult(this.#loop, this.#call, event);
  }

  /** Fails the call if its answer was invalid: the call must not be left without one. */
  refused({ kind, reason }: Refusal): void {
    if (kind === "invalid" && this.#answered !== "tool.failed")
      this.#report(this.#failure("failed", `It could not be run: ${reason}`));
  }

  failed(): void {}

  readonly #take = (): void => {
    if (this.#tool !== undefined && !this.#over) void this.#run(this.#tool);
  };

  async #run(tool: RegisteredTool): Promise<void> {
    const { clock, observation } = this.#loop.host;
    const { timeoutMs } = tool.declaration;
    if (timeoutMs !== undefined)
      this.#cancelTimeout = clock.wakeAt(clock.now() + timeoutMs, () => this.#timeOut(timeoutMs));
    // If the tool may need an approval first, it is not known yet whether it runs.
    const awaitsApproval = this.#call.approval !== null || tool.declaration.approval !== undefined;
    try {
      const { hooks } = observation;
      if (!awaitsApproval && hooks.beforeToolCall !== undefined) await observation.before("beforeToolCall", this.#call);
      const reading = readArguments(this.#call.arguments, tool.schema, tool.declaration.parameters);
      const read = reading instanceof Promise ? await reading : reading;
      if ("problem" in read) return this.#fail("refused", read.problem);
      // The tool may read the whole thread, and cannot wait when it does.
      if (this.#loop.reader?.isWhole === false) await this.#loop.reader.fetch(null);
      if (awaitsApproval && (await this.#isWithheld(tool, read))) return;
      const isJournalled = mustBeJournalled(tool, this.#call);
      if (isJournalled && !(await this.#journalStart())) return;
      if (!this.#mayRun(isJournalled)) return;
      this.#complete(contentOf(await tool.run(read.value, this.#toolCall())));
    } catch (thrown) {
      if (thrown instanceof SnapshotDamagedError) this.#loop.post(throwing(thrown));
      this.#fail("failed", thrown instanceof SnapshotDamagedError ? readAnew : this.#reasonOf(thrown));
    }
  }

  /** Returns the text that the model reads. The message of an error is used alone: it says by itself what is wrong. */
  #reasonOf(thrown: unknown): string {
    const message = messageOf(thrown, this.#loop.host.secrets());
    return thrown instanceof Error || typeof thrown === "string" ? message : `The tool failed: ${message}`;
  }

  /** Withholds the call if it needs an approval, or else calls the hook. Returns whether it was withheld. */
  async #isWithheld(tool: RegisteredTool, valid: ValidArguments): Promise<boolean> {
    const { clock, observation } = this.#loop.host;
    // Copied as validated: `needsApproval` gets the arguments themselves, and may write into them.
    const shown = approvableArguments(valid);
    const because = await whyWithheld(tool, this.#call, valid, shown, this.#toolCall());
    if (because !== null) {
      this.#answer(withheld(tool, this.#call, shown, because, clock.now()));
      return true;
    }
    if (observation.hooks.beforeToolCall !== undefined) await observation.before("beforeToolCall", this.#call);
    return false;
  }

  /** Returns whether the tool may run. A journalled start is followed by a run, so the outcome is known later. */
  #mayRun(isJournalled: boolean): boolean {
    if (this.#stopped instanceof ThreadClosedError) return isJournalled;
    return !this.#over && this.#loop.mayCall();
  }

  /** Journals the start before anything is run. Resolves to false if the call is no longer wanted. */
  #journalStart(): Promise<boolean> {
    const event: ToolStarted = { type: "tool.started", at: this.#loop.host.clock.now(), effectId: this.#call.id };
    return new Promise((resolve) => {
      const never = (): void => resolve(false);
      this.#loop.post({ event, sender: { accepted: () => resolve(true), refused: never, failed: never } });
    });
  }

  #toolCall(): ToolCall {
    const { threadId, turn, step, callId } = this.#call;
    const toolContext = this.#loop.asks.toolContextOf(turn, this.#loop.host.toolContext);
    const { signal } = this.#controller;
    // Not the id of the effect: that changes when the call is run after an approval.
    const idempotencyKey = `${threadId}/${callId}#1`;
    return { signal, idempotencyKey, threadId, turn, step, callId, state: this.#state, toolContext };
  }

  readonly #state = (): State => {
    const { state, threadId } = this.#loop;
    // Tools are run by loops that have opened their thread.
    if (state === null) throw new ThreadClosedError(threadId);
    return state;
  };

  #timeOut(timeoutMs: number): void {
    this.#controller.abort(new Error(`tool "${this.#call.name}" timed out after ${timeoutMs} ms`));
    this.#fail(
      "failed",
      `The tool did not answer within ${timeoutMs} ms and was stopped. It may or may not have taken effect.`,
    );
  }

  #complete(content: Content | null): void {
    this.#answer({ type: "tool.completed", at: this.#loop.host.clock.now(), effectId: this.#call.id, content });
  }

  #fail(outcome: "failed" | "refused", content: string): void {
    this.#answer(this.#failure(outcome, content));
  }

  #failure(outcome: "failed" | "refused", words: string): ToolFailed {
    const { clock, secrets } = this.#loop.host;
    const content = keyFilter(secrets()).text(words);
    return { type: "tool.failed", at: clock.now(), effectId: this.#call.id, outcome, content };
  }

  #answer(event: ToolCompleted | ToolFailed | ToolWithheld): void {
    if (!this.#over) this.#report(event);
  }

  #report(event: ToolCompleted | ToolFailed | ToolWithheld): void {
    this.#leave();
    this.#answered = event.type;
    this.#loop.running.delete(this.#call.id);
    this.#loop.post({ event, sender: this });
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimeout?.();
    this.#tool?.slots?.giveBack(this.#take);
  }
}

/** Makes the loop read the state again before it handles any later envelope. */
const throwing = (damage: SnapshotDamagedError): TaskEnvelope => {
  let isThrown = false;
  const task = (): void => {
    if (isThrown) return;
    isThrown = true;
    throw damage;
  };
  return { task, sender: null };
};

const readAnew = "The tool failed: what was said earlier could not be read, and is being read anew. Call it again.";

/** Returns whether the tool's start must be journalled before it runs. Once is enough. */
export const mustBeJournalled = ({ declaration: { recovery } }: RegisteredTool, { started }: CallTool): boolean =>
  (recovery === "once" || recovery === "ask") && !started;

/**
 * Returns the content that a model reads for a tool's return value: a string unchanged; null and undefined as an empty
 * result; a list of content parts as those parts; anything else as its JSON text.
 *
 * @throws TypeError for a value that JSON would change or cannot express, at any depth: NaN, a BigInt, a function, a
 * Map, an instance of a class without `toJSON`, undefined in a list, a circular value.
 */
const contentOf = (value: unknown): Content | null => {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  const text = jsonOf(value);
  return partsIn(value, text) ?? text;
};

const jsonOf = (value: unknown): string => {
  let copy: unknown;
  try {
    copy = plainCopy(value, levelsMax, asJson);
  } catch (thrown) {
    // Getters may throw.
    throw notJson(messageOf(thrown));
  }
  if (copy instanceof NotPlain) throw notJson(describeValueProblem(copy.problem, "it"));
  // Half of a surrogate pair would become an escape that a model, or a server that reads the JSON, cannot decode.
  return JSON.stringify(wellFormed(copy));
};

/** Returns the JSON of an object that has a `toJSON`, such as a date or a URL. JSON would write an invalid date as null. */
const asJson = (object: object): unknown => {
  const toJson: unknown = Reflect.get(object, "toJSON");
  if (typeof toJson !== "function") return object;
  const json: unknown = Reflect.apply(toJson, object, []);
  return json === null && Object.prototype.toString.call(object) === "[object Date]" ? Number.NaN : json;
};

/** How deep a result may be nested: deeper nesting overflows the stack of code that reads it. */
const levelsMax = 256;

const notJson = (why: string): TypeError =>
  new TypeError(`what it returned can't be written as JSON: ${why}; return a string or plain JSON, or throw an error`);

/** Returns content parts in a value, as a copy. Only what a journal can hold counts; other lists are JSON. */
const partsIn = (value: unknown, text: string): readonly ContentPart[] | null => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(hasType)) return null;
  const read = decodeEvent({ type: "tool.completed", at: 0, effectId: "", content: JSON.parse(text) as unknown });
  if (Either.isLeft(read) || read.right.type !== "tool.completed") return null;
  return typeof read.right.content === "string" ? null : read.right.content;
};

const hasType = (value: unknown): boolean => typeof value === "object" && value !== null && "type" in value;
