/** A condition on the screen that a test waits for. */
export type Wanted = string | RegExp | ((screen: string) => boolean);

/** The waiters for something on a screen. */
export class Looks {
  readonly #screen: () => string;
  readonly #looks = new Set<() => void>();

  constructor(screen: () => readonly string[]) {
    this.#screen = () => screen().join("\n");
  }

  /** Checks all waiters after a change of the screen. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves when the screen shows this. The limit allows for a busy machine. */
  until(wanted: Wanted, limitMs = 60_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#looks.delete(look);
        const shown = this.#screen().trimEnd();
        // The report of a run may keep the first line alone.
        const end = JSON.stringify(shown.split("\n").slice(-3));
        reject(
          new Error(`after ${limitMs} ms the screen ends with ${end}: no ${String(wanted)}; all of it:\n${shown}`),
        );
      }, limitMs);
      const look = (): void => {
        if (!holds(wanted, this.#screen())) return;
        clearTimeout(late);
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}

const holds = (wanted: Wanted, screen: string): boolean => {
  if (typeof wanted === "string") return screen.includes(wanted);
  return wanted instanceof RegExp ? wanted.test(screen) : wanted(screen);
};
