import { EventRefusedError } from "@colloquy/host";
import type { CallTool, Entry } from "@colloquy/machine";
import { callersAnswer } from "../script/callers-tool.ts";
import { isPassing } from "../script/question.ts";
import { threadId, type WatchedJournal } from "../checks/watched-journal.ts";
import type { Processes } from "../world/processes.ts";
import { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/**
 * The caller of asks with tools of its own. It answers their calls after a delay, at any process, and sometimes twice.
 */
export class Caller {
  readonly #world: World;
  readonly #processes: Processes;
  readonly #journal: WatchedJournal;
  readonly #answering: Set<string> = new Set();

  constructor(world: World, processes: Processes, journal: WatchedJournal) {
    this.#world = world;
    this.#processes = processes;
    this.#journal = journal;
  }

  /** Answers new calls after an entry was written. */
  written({ event }: Entry): void {
    if (event.type !== "llm.completed") return;
    for (const effect of this.#journal.outstanding) {
      if (effect.type !== "callTool" || effect.by !== "caller" || this.#answering.has(effect.id)) continue;
      this.#answering.add(effect.id);
      void this.#answer(effect);
    }
  }

  /** Sends the answer until it has arrived, or is no longer wanted; sometimes once more. */
  async #answer(call: CallTool): Promise<void> {
    const random = new Random(this.#world.seed, `answer ${call.id}`);
    const answer = random.chance(0.8) ? callersAnswer(call) : { failed: "The user is away." };
    const again = random.chance(0.3);
    for (let wait = random.pick([10, 100, 900]); this.#isAsked(call); wait = 60) {
      await this.#world.sleep(random.whole(1, this.#world.calm ? 60 : wait));
      if (this.#isAsked(call)) await this.#send(call, answer);
    }
    if (again && !this.#world.calm) await this.#send(call, answer);
  }

  #isAsked({ id }: Pick<CallTool, "id">): boolean {
    return this.#journal.outstanding.some((effect) => effect.id === id);
  }

  async #send({ callId, id }: CallTool, answer: string | { readonly failed: string }): Promise<void> {
    const process = this.#processes.reachable();
    if (process === null) return;
    process.note(`is given the result of ${callId}`);
    const sending = process.host.thread(threadId).answerTool(callId, answer);
    process.unsettled.add(sending);
    const hear = async (): Promise<void> => {
      try {
        await sending;
      } catch (error) {
        // The call may have been settled meanwhile, or the host may not know.
        const isSettled = error instanceof EventRefusedError && !this.#isAsked({ id });
        if (process.alive && !isSettled && !isPassing(error))
          this.#world.breaks("settles", `answering ${callId} was rejected: ${String(error)}`);
      } finally {
        process.unsettled.delete(sending);
      }
    };
    // A paused process must not keep the answer from others.
    await Promise.race([hear(), process.died, this.#world.sleep(patienceMs)]);
  }
}

const patienceMs = 1_500;
