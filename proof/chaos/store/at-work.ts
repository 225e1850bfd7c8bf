import { setTimeout as pause } from "node:timers/promises";

import { LeaseLostError } from "@colloquy/host/store";

import { isUnreachable, NeverEnds } from "../../kit/calls.ts";
import { User, type UserOptions } from "./user.ts";

/** A user of a store at work, who continues while the store can't be reached. */
export class AtWork {
  readonly owner: string;
  readonly violations: string[] = [];
  /** Visits of a thread that met with no failure, and those that met with one. */
  visits = 0;
  failures = 0;
  /** A call of the user never ended, so the user cannot continue. */
  ended = false;
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(options: UserOptions) {
    this.owner = options.owner;
    this.#running = this.#run(new User(options), options);
  }

  async #run(user: User, { random }: UserOptions): Promise<void> {
    while (!this.#stopped && !this.ended) {
      try {
        await user.visit();
        this.visits += 1;
      } catch (error) {
        this.failures += 1;
        if (!isUnreachable(error) && !(error instanceof LeaseLostError))
          this.violations.push(`${this.owner}: ${String(error)}`);
        this.ended = error instanceof NeverEnds;
      }
      await pause(random.integer(1, 20));
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
