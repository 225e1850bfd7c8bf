import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm, Entry, Event } from "@colloquy/machine";
import { threadId } from "../checks/watched-journal.ts";
import type { Processes } from "../world/processes.ts";
import type { World } from "../world/world.ts";

/** Answers that arrive a second time, or when they are no longer awaited. */
export class RepeatedAnswers {
  readonly #world: World;
  readonly #processes: Processes;

  constructor(world: World, processes: Processes) {
    this.#world = world;
    this.#processes = processes;
  }

  /** May send an answer again after its entry was written. */
  written({ seq, event }: Entry): void {
    if (event.type === "thread.started" || !answers.has(event.type) || !this.#world.hits("repeatedAnswer")) return;
    void this.#send(event, seq);
  }

  /** May send a model's answer to a dead process to another one. */
  swallowed(call: CallLlm, outcome: LlmOutcome): void {
    if (outcome.type === "failed" || !this.#world.hits("lateAnswer")) return;
    const { reply, finishReason } = outcome;
    const at = this.#world.clock.now();
    void this.#send(
      { type: "llm.completed", at, effectId: call.id, promptDigest: call.promptDigest, reply, finishReason },
      null,
    );
  }

  /** Sends an answer. @param seq of the entry that first recorded it; null if none did */
  async #send(event: Event, seq: number | null): Promise<void> {
    await this.#world.sleep(this.#world.random.whole(0, 120));
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`gets ${event.type} ${seq === null ? "late" : "once more"}`);
    try {
      const receipt = await process.host.thread(threadId).send(event);
      // For an inbox item the receipt names the earlier entry.
      if (seq !== null && receipt.handled && receipt.entry.seq !== seq)
        this.#world.breaks("M6", `a repeated ${event.type} was taken`);
    } catch {
      // No process could accept it, which changes nothing: the answer was superfluous.
    }
  }
}

const answers: ReadonlySet<string> = new Set([
  "llm.completed",
  "llm.failed",
  "tool.completed",
  "tool.failed",
  "timer.fired",
  "tool.withheld",
  "approval.answered",
]);
