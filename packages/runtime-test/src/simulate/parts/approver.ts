import type { Entry, RequestApproval } from "@colloquy/machine";
import type { Processes } from "../world/processes.ts";
import { Random } from "../world/random.ts";
import { threadId, type WatchedJournal } from "../checks/watched-journal.ts";
import type { World } from "../world/world.ts";

/**
 * A person who is asked whether tools may run. The answers are yes or no, after a delay, and sometimes about another
 * request.
 */
export class Approver {
  readonly #world: World;
  readonly #processes: Processes;
  readonly #journal: WatchedJournal;
  readonly #answering: Set<string> = new Set();

  constructor(world: World, processes: Processes, journal: WatchedJournal) {
    this.#world = world;
    this.#processes = processes;
    this.#journal = journal;
  }

  /** Answers new requests after an entry was written. */
  written({ event }: Entry): void {
    if (event.type !== "tool.withheld") return;
    for (const effect of this.#journal.outstanding) {
      if (effect.type !== "requestApproval" || this.#answering.has(effect.id)) continue;
      this.#answering.add(effect.id);
      void this.#answer(effect);
    }
  }

  /** Sends the answer until it has arrived, or is no longer wanted. */
  async #answer(question: RequestApproval): Promise<void> {
    const random = new Random(this.#world.seed, `approval ${question.id}`);
    const approved = random.chance(0.7);
    const thinks = random.pick([20, 100, 900]);
    let confused = random.chance(0.2);
    for (let wait = thinks; this.#isAsked(question); wait = 60) {
      await this.#world.sleep(random.whole(1, this.#world.calm ? 60 : wait));
      if (!this.#isAsked(question)) return;
      const digest = confused ? "another" : question.digest;
      await this.#send(question, approved, digest);
      confused = false;
    }
  }

  #isAsked({ id }: RequestApproval): boolean {
    return this.#journal.outstanding.some((effect) => effect.id === id);
  }

  async #send({ id, digest: asked }: RequestApproval, approved: boolean, digest: string): Promise<void> {
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`hears that ${id} is ${approved ? "approved" : "denied"}${digest === asked ? "" : ", by mistake"}`);
    const at = this.#world.clock.now();
    const sending = process.host
      .thread(threadId)
      .send({ type: "approval.answered", at, effectId: id, approved, digest });
    process.unsettled.add(sending);
    const hear = async (): Promise<void> => {
      try {
        const receipt = await sending;
        if (receipt.handled && digest !== asked)
          this.#world.breaks("M6", `an answer about something else than "${id}" was taken`);
      } catch {
        // No process could accept it, or its outcome is unknown.
      } finally {
        process.unsettled.delete(sending);
      }
    };
    // A paused process, or a lease holder that does not read its inbox, must not keep the answer from others.
    await Promise.race([hear(), process.died, this.#world.sleep(patienceMs)]);
  }
}

const patienceMs = 1_500;
