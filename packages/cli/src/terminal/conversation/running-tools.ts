import type { Block, ToolBlock } from "../blocks/block.ts";

/** Measures how long tools have been running, and redraws each second. The timer runs only while a tool does. */
export class RunningTools {
  readonly #now: () => number;
  readonly #tick: () => void;
  /** When each was first seen, by the id of its call. */
  #since: ReadonlyMap<string, number> = new Map();
  #timer: NodeJS.Timeout | undefined;

  /** @param now the milliseconds of a monotonic clock */
  constructor(now: () => number, tick: () => void) {
    this.#now = now;
    this.#tick = tick;
  }

  /** Notes which tools run. A call does not run while it waits for an approval, or while a subagent waits for one. */
  follow(open: readonly Block[]): void {
    const approvals = open.filter((block) => block.type === "approval");
    const isNested = approvals.some((approval) => approval.isNested);
    const waiting = new Set(approvals.map(({ callId }) => callId));
    const running = isNested ? [] : open.filter(isRunning).filter(({ callId }) => !waiting.has(callId));
    this.#since = new Map(running.map(({ callId }) => [callId, this.#since.get(callId) ?? this.#now()]));
    if (running.length > 0) {
      this.#timer ??= setInterval(this.#tick, 1_000).unref();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Adds the time to the blocks of tools that run long. */
  timed(open: readonly Block[]): readonly Block[] {
    return open.map((block) => {
      const since = isRunning(block) ? this.#since.get(block.callId) : undefined;
      const ranMs = since === undefined ? 0 : this.#now() - since;
      return ranMs < longMs ? block : { ...block, ranMs };
    });
  }
}

const isRunning = (block: Block): block is ToolBlock => block.type === "tool" && block.result === null;

const longMs = 3_000;
