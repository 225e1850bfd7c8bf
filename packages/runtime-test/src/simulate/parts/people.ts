import { EventRefusedError } from "@colloquy/host";
import type { CallTool, RequestApproval } from "@colloquy/machine";
import { threadId, type WatchedJournal } from "../checks/watched-journal.ts";
import { callersAnswer } from "../script/made-up-reply.ts";
import { isPassing } from "../script/question.ts";
import type { SimulatedProcess, Processes } from "../world/process.ts";
import { Random, type World } from "../world/world.ts";

/**
 * The people outside. One is asked whether tools may run, and answers yes or no, sometimes about another request. One is
 * the caller of asks with tools of its own, and answers their calls, sometimes twice. They answer after a delay, at any
 * process.
 */
export class People {
  readonly #world: World;
  readonly #processes: Processes;
  readonly #journal: WatchedJournal;
  readonly #answering: Set<string> = new Set();

  constructor(world: World, processes: Processes, journal: WatchedJournal) {
    this.#world = world;
    this.#processes = processes;
    this.#journal = journal;
  }

  /** Answers new requests and calls after an entry was written. */
  written(): void {
    for (const effect of this.#journal.outstanding) {
      const isTheirs = effect.type === "requestApproval" || (effect.type === "callTool" && effect.by === "caller");
      if (!isTheirs || this.#answering.has(effect.id)) continue;
      this.#answering.add(effect.id);
      void (effect.type === "callTool" ? this.#result(effect) : this.#approve(effect));
    }
  }

  async #approve(request: RequestApproval): Promise<void> {
    const random = new Random(this.#world.seed, `approval ${request.id}`);
    const approved = random.chance(0.7);
    const thinks = random.pick([20, 100, 900]);
    let confused = random.chance(0.2);
    await this.#untilAnswered(request.id, random, thinks, () => {
      const digest = confused ? "another" : request.digest;
      confused = false;
      return this.#sendApproval(request, approved, digest);
    });
  }

  async #result(call: CallTool): Promise<void> {
    const random = new Random(this.#world.seed, `answer ${call.id}`);
    const answer = random.chance(0.8) ? callersAnswer(call) : { failed: "The user is away." };
    const again = random.chance(0.3);
    await this.#untilAnswered(call.id, random, random.pick([10, 100, 900]), () => this.#sendResult(call, answer));
    if (again && !this.#world.calm) await this.#sendResult(call, answer);
  }

  /** Sends an answer until it has arrived, or is no longer wanted. */
  async #untilAnswered(id: string, random: Random, thinks: number, send: () => Promise<void>): Promise<void> {
    for (let wait = thinks; this.#isAsked(id); wait = 60) {
      await this.#world.sleep(random.whole(1, this.#world.calm ? 60 : wait));
      if (this.#isAsked(id)) await send();
    }
  }

  #isAsked(id: string): boolean {
    return this.#journal.outstanding.some((effect) => effect.id === id);
  }

  async #sendApproval({ id, digest: asked }: RequestApproval, approved: boolean, digest: string): Promise<void> {
    await this.#at(async (process) => {
      process.note(`hears that ${id} is ${approved ? "approved" : "denied"}${digest === asked ? "" : ", by mistake"}`);
      const at = this.#world.clock.now();
      const event = { type: "approval.answered", at, effectId: id, approved, digest } as const;
      // If no process could accept it, or its outcome is unknown, it is sent again.
      const receipt = await process.expects(process.host.thread(threadId).send(event)).catch(() => null);
      if (receipt?.handled === true && digest !== asked)
        this.#world.breaks("M6", `an answer about something else than "${id}" was taken`);
    });
  }

  async #sendResult({ callId, id }: CallTool, answer: string | { readonly failed: string }): Promise<void> {
    await this.#at(async (process) => {
      process.note(`is given the result of ${callId}`);
      try {
        await process.expects(process.host.thread(threadId).answerTool(callId, answer));
      } catch (error) {
        // The call may have been settled meanwhile, or the host may not know.
        const isSettled = error instanceof EventRefusedError && !this.#isAsked(id);
        if (process.alive && !isSettled && !isPassing(error))
          this.#world.breaks("settles", `answering ${callId} was rejected: ${String(error)}`);
      }
    });
  }

  /** A paused process, or a lease holder that does not read its inbox, must not keep an answer from others. */
  async #at(sending: (process: SimulatedProcess) => Promise<void>): Promise<void> {
    const process = this.#processes.reachable();
    if (process !== null) await Promise.race([sending(process), process.died, this.#world.sleep(patienceMs)]);
  }
}

const patienceMs = 1_500;
