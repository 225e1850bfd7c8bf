/** Where a process can die: around each append, and around each model call and each run of a tool. */
export interface Point {
  readonly when: "before" | "after";
  /** `append llm.completed`, `model`, `tool charge`. */
  readonly what: string;
}

/** A promise that never resolves, for a dead process to wait for. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** The life of a process: it ends at the nth point that it passes, from 1; never, where that is null. */
export class Fuse {
  readonly points: Point[] = [];
  readonly #diesAt: number | null;
  readonly #death: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #onDeath: () => void;
  #alive = true;

  constructor(diesAt: number | null, onDeath: () => void = () => undefined) {
    this.#diesAt = diesAt;
    this.#onDeath = onDeath;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Resolves when it has died. */
  get died(): Promise<void> {
    return this.#death.promise;
  }

  /** False where the process is dead, or dies here. */
  passes(when: Point["when"], what: string): boolean {
    if (!this.#alive) return false;
    this.points.push({ when, what });
    if (this.points.length !== this.#diesAt) return true;
    this.#alive = false;
    this.#onDeath();
    this.#death.resolve();
    return false;
  }
}
