// A plain slow model of dspy-session's documentation, with lists and copies only. Where its code differs from its docs
// (the cases marked [F]), the model follows the docs. Comments mark intended differences of sessions here ("theirs").

/** Named values. */
export type Fields = Readonly<Record<string, string>>;

/** The inputs and the outputs of one exchange. */
export interface SlowExchange {
  readonly inputs: Fields;
  readonly outputs: Fields;
}

/** A successful or failed call, with the exchanges that its program saw. */
export interface SlowTurn {
  readonly number: number;
  readonly inputs: Fields;
  /** Null if the call failed: it does not count, but has a number (theirs leaves nothing). */
  readonly outputs: Fields | null;
  readonly shown: readonly SlowExchange[];
  /**
   * The history with which the conversation restarted here. It ends with the turn (theirs outlives it, as a seed).
   */
  readonly before: readonly SlowExchange[] | null;
}

/** A successful call. */
export type SlowCall = SlowTurn & SlowExchange;

export interface SlowOptions {
  readonly maxTurns?: number;
  readonly maxStoredTurns?: number;
  readonly excludeFields?: readonly string[];
  readonly onlyInputFields?: readonly string[];
  readonly seed?: readonly SlowExchange[];
}

/** A history that a call brings, and its effect on the session. */
export interface SlowHistory {
  readonly exchanges: readonly SlowExchange[];
  readonly as: "override" | "useIfProvided" | "replaceSession";
}

export class SlowSession {
  readonly #options: SlowOptions;
  #path: readonly SlowTurn[] = [];
  #checkpoints: Readonly<Record<string, readonly SlowTurn[]>> = {};
  #scores: ReadonlyMap<number, number> = new Map();
  #count = 0;

  constructor(options: SlowOptions) {
    this.#options = options;
  }

  /** Returns the newest turns. Older ones are only hidden, and an undo reaches them (theirs are deleted). */
  turns(): readonly SlowCall[] {
    const { maxStoredTurns } = this.#options;
    const calls = this.#path.flatMap((turn) => (turn.outputs === null ? [] : { ...turn, outputs: turn.outputs }));
    return maxStoredTurns === undefined ? calls : lastOf(calls, maxStoredTurns);
  }

  /**
   * Returns the exchanges that the next call sees: the newest of the newest turns. A turn that shows nothing counts as
   * a turn, but not as an exchange. The seed is the oldest turn, also for the stored turns.
   */
  memory(): readonly SlowExchange[] {
    const { seed = [] } = this.#options;
    const calls = this.#path.flatMap((turn) => {
      if (turn.outputs === null) return [];
      const shown = this.#filtered({ inputs: turn.inputs, outputs: turn.outputs });
      // A history is shown only with the inputs of the call that gave it.
      return [{ shown, before: Object.keys(shown.inputs).length === 0 ? null : turn.before }];
    });
    const isAnew = calls.some(({ before }) => before !== null);
    const turns = [
      isAnew ? [] : [seed.map((each) => this.#filtered(each))],
      calls.map(({ shown, before }) => [...(before ?? []), shown]),
    ].flat();
    return lastOf(lastOf(turns, this.#most).flat().filter(showsSomething), this.#most);
  }

  /** Calls a program that returns these outputs, or throws. Returns the exchanges that it sees. */
  call(inputs: Fields, outputs: Fields | null, history: SlowHistory | null): readonly SlowExchange[] {
    const before = history?.as === "replaceSession" ? history.exchanges : null;
    const shown = before === null ? (history?.exchanges ?? this.memory()) : lastOf(before, this.#most);
    if (history?.as === "override") return shown;
    // A failed call with a replacing history changes nothing.
    if (before !== null && outputs === null) this.#count++;
    else this.#record({ inputs, outputs, shown, before });
    return shown;
  }

  addTurn(exchange: SlowExchange): void {
    this.#record({ ...exchange, shown: this.memory(), before: null });
  }

  undo(calls: number): readonly SlowTurn[] {
    const made = this.#path.filter(({ outputs }) => outputs !== null);
    const [oldest, ...newer] = lastOf(made, calls);
    if (oldest === undefined) return [];
    this.#path = this.#path.slice(0, this.#path.indexOf(oldest));
    return [oldest, ...newer].toReversed();
  }

  reset(): void {
    this.#path = [];
  }

  /** Returns a copy up to the newest turn. Its next calls are numbered from there. */
  fork(): SlowSession {
    const fork = new SlowSession(this.#options);
    fork.#path = this.#path;
    fork.#count = this.#path.at(-1)?.number ?? 0;
    // Its next call may have the number of an undone one here.
    fork.#scores = new Map([...this.#scores].filter(([number]) => this.#path.some((turn) => turn.number === number)));
    return fork;
  }

  checkpoint(name: string): void {
    this.#checkpoints = { ...this.#checkpoints, [name]: this.#path };
  }

  get checkpoints(): readonly string[] {
    return Object.keys(this.#checkpoints);
  }

  restore(name: string): void {
    this.#path = this.#checkpoints[name] ?? [];
  }

  score(metric: (exchange: SlowExchange) => number): readonly number[] {
    const scored = this.turns().map((turn) => [turn.number, metric(turn)] as const);
    this.#scores = new Map([...this.#scores, ...scored]);
    return scored.map(([, score]) => score);
  }

  scoreOf({ number }: SlowTurn): number | null {
    return this.#scores.get(number) ?? null;
  }

  examples({ minScore, strict }: { readonly minScore?: number; readonly strict: boolean }): readonly SlowCall[] {
    const turns = this.turns();
    const isBad = (turn: SlowTurn): boolean => minScore !== undefined && !((this.scoreOf(turn) ?? -1) >= minScore);
    const bad = turns.findIndex(isBad);
    return strict && bad >= 0 ? turns.slice(0, bad) : turns.filter((turn) => !isBad(turn));
  }

  get #most(): number {
    const { maxTurns = Number.POSITIVE_INFINITY, maxStoredTurns = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(maxTurns, maxStoredTurns);
  }

  #record(turn: Omit<SlowTurn, "number">): void {
    this.#count++;
    const path = turn.before === null ? this.#path : [];
    this.#path = [...path, { ...turn, number: this.#count }];
  }

  #filtered({ inputs, outputs }: SlowExchange): SlowExchange {
    const { excludeFields = [], onlyInputFields } = this.#options;
    const isShown = (name: string): boolean => !excludeFields.includes(name);
    const isInput = (name: string): boolean => onlyInputFields?.includes(name) ?? true;
    return {
      inputs: only(inputs, (name) => isShown(name) && isInput(name)),
      outputs: only(outputs, isShown),
    };
  }
}

/** Returns whether an exchange shows any field; without one it is omitted (theirs is empty). */
const showsSomething = ({ inputs, outputs }: SlowExchange): boolean =>
  Object.keys(inputs).length + Object.keys(outputs).length > 0;

const only = (fields: Fields, isKept: (name: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));

/** Returns the last `count` items; none for 0, unlike `slice(-0)`. */
const lastOf = <Item>(items: readonly Item[], count: number): readonly Item[] =>
  items.slice(Math.max(0, items.length - count));
