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
} from "@colloquy/machine";
import { SnapshotDamagedError } from "@colloquy/machine/storage";
import { ThreadClosedError } from "../boundary/errors.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { Sender, TaskEnvelope } from "../mailbox/mailbox.ts";
import { keyFilter } from "../secrets/key-filter.ts";
import { approvableArguments, readArguments, type ValidArguments } from "../tools/arguments.ts";
import { contentOf } from "../tools/content.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { ToolCall } from "../tools/tool.ts";
import { whyWithheld, withheld } from "./approvals.ts";
import type { LoopPort, Running } from "./loop-port.ts";
import { reportResult } from "./report.ts";

/** A tool call that is out. It answers once, or is stopped; whatever its function does after that is not looked at. */
export class ToolRun implements Running, Sender {
  readonly #loop: LoopPort;
  readonly #call: CallTool;
  readonly #tool: RegisteredTool | undefined;
  readonly #controller = new AbortController();
  #cancelTimeout: (() => void) | null = null;
  #over = false;
  /** Why all that this process does for the thread was stopped; null while it is not, and for a cancel of this call alone. */
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
    this.#stopped ??= reason;
    this.#leave();
    this.#controller.abort(...(reason === null ? [] : [reason]));
  }

  /** The answer is journalled. */
  accepted({ event }: Parameters<Sender["accepted"]>[0]): void {
    if (event.type !== "tool.completed" && event.type !== "tool.failed") return;
    reportResult(this.#loop, this.#call, event);
  }

  /** What the machine can't take for an answer must not leave the call without one. */
  refused({ kind, reason }: Refusal): void {
    if (kind === "invalid" && this.#answered !== "tool.failed")
      this.#report(this.#failure("failed", `It could not be run: ${reason}`));
  }

  failed(): void {}

  readonly #take = (): void => {
    if (this.#tool !== undefined && !this.#over) void this.#run(this.#tool);
  };

  async #run(tool: RegisteredTool): Promise<void> {
    const { clock, observation, active } = this.#loop.host;
    const { timeoutMs } = tool.declaration;
    if (timeoutMs !== undefined)
      this.#cancelTimeout = clock.wakeAt(clock.now() + timeoutMs, () => this.#timeOut(timeoutMs));
    // Of one that may have to be approved first it is not known yet whether it runs.
    const awaitsApproval = this.#call.approval !== null || tool.declaration.approval !== undefined;
    try {
      const { hooks } = observation;
      if (!awaitsApproval && hooks.beforeToolCall !== undefined) await this.#callHook();
      const reading = readArguments(this.#call.arguments, tool.schema, tool.declaration.parameters);
      const read = reading instanceof Promise ? await reading : reading;
      if ("problem" in read) return this.#fail("refused", read.problem);
      // It may look at all of the thread, and can't wait when it does.
      if (this.#loop.reader?.isWhole === false) await this.#loop.reader.fetch(null);
      if (awaitsApproval && (await this.#isWithheld(tool, read))) return;
      const isJournalled = mustBeJournalled(tool, this.#call);
      if (isJournalled && !(await this.#journalStart())) return;
      if (!this.#mayRun(isJournalled)) return;
      const result = active.code.run(this.#loop, () => tool.run(read.value, this.#toolCall()));
      this.#complete(contentOf(await result));
    } catch (thrown) {
      if (thrown instanceof SnapshotDamagedError) this.#loop.post(throwing(thrown));
      this.#fail("failed", thrown instanceof SnapshotDamagedError ? readAnew : this.#reasonOf(thrown));
    }
  }

  /** Returns the text that the model reads. The message of an error stands alone: it says by itself what is wrong. */
  #reasonOf(thrown: unknown): string {
    const message = messageOf(thrown, this.#loop.host.secrets());
    return thrown instanceof Error || typeof thrown === "string" ? message : `The tool failed: ${message}`;
  }

  /** Has the call withheld until it is approved, where that is needed; else it goes on. */
  async #isWithheld(tool: RegisteredTool, valid: ValidArguments): Promise<boolean> {
    const { clock, observation } = this.#loop.host;
    // As they were validated: the tool is asked with them, and may write into them.
    const shown = approvableArguments(valid);
    const because = await whyWithheld(tool, this.#call, valid, shown, this.#toolCall());
    if (because !== null) {
      this.#answer(withheld(tool, this.#call, shown, because, clock.now()));
      return true;
    }
    if (observation.hooks.beforeToolCall !== undefined) await this.#callHook();
    return false;
  }

  /** What it asks is asked on behalf of the thread, as what the tool asks. */
  #callHook(): Promise<void> {
    const { active, observation } = this.#loop.host;
    return active.code.run(this.#loop, () => observation.before("beforeToolCall", this.#call));
  }

  /** A start that is journalled is one that was made, even when the thread was closed in that very moment: else it could not be known later whether it ran. */
  #mayRun(isJournalled: boolean): boolean {
    if (this.#stopped instanceof ThreadClosedError) return isJournalled;
    return !this.#over && this.#loop.mayCall();
  }

  /** Has the start journalled before anything is run. False when the call is no longer wanted. */
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
    // Not the id of the effect: that is another when the call is run after an approval.
    const idempotencyKey = `${threadId}/${callId}#1`;
    return { signal, idempotencyKey, threadId, turn, step, callId, state: this.#state, toolContext };
  }

  readonly #state = (): State => {
    const { state, threadId } = this.#loop;
    // Tools are run by loops that have opened their thread.
    if (state === null) throw new ThreadClosedError(threadId);
    return state;
  };

  /** Its signal is aborted before anything follows from its failure. */
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

/** Has the loop read the state anew, as it does after damage that it comes upon itself, before anything that is posted next. */
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

/** Whether its start has to be journalled before it runs; once is enough, also where it was approved to run again. */
export const mustBeJournalled = ({ declaration: { recovery } }: RegisteredTool, { started }: CallTool): boolean =>
  (recovery === "once" || recovery === "ask") && !started;
