/** A condition on the screen that a test waits for. */
export type Wanted = string | RegExp | ((screen: string) => boolean);

/** Those who wait until a screen shows something. */
export class Looks {
  readonly #screen: () => string;
  readonly #looks = new Set<() => void>();

  constructor(screen: () => readonly string[]) {
    this.#screen = () => screen().join("\n");
  }

  /** The screen changed. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves when the screen holds this; the limit is for a machine that is busy with much else. */
  until(wanted: Wanted, limitMs = 60_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#looks.delete(look);
        reject(new Error(`waited ${limitMs} ms for ${String(wanted)}; the screen shows:\n${this.#screen().trimEnd()}`));
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
