import type { Entry, State } from "@colloquy/machine";
import type { ToolContext } from "../tools/tool.ts";
import type { Ask } from "./ask.ts";
import type { PartPlace } from "./part-place.ts";
import type { AskPart } from "./parts.ts";

/** Keeps the parts that were shown of turns, and gives each part its place. */
export interface PartRecorder {
  /** Records a part. Returns its place; null if it is not kept. */
  record(turn: number, part: AskPart): PartPlace | null;
  /** The newest turn of which a part is kept; null if there is none. */
  readonly newest: number | null;
  /** Returns whether something was shown of a step, and is not void. */
  hasShown(turn: number, step: number): boolean;
  /** Returns whether the start of a step was shown, and is not void. */
  hasStartedStep(turn: number, step: number): boolean;
  /** Returns whether the end of a step was shown. */
  hasEndedStep(turn: number, step: number): boolean;
}

/** The asks of a thread that are not settled. However many wait, those of a turn are found at once. */
export class Asks {
  // Null if there are none, as for most open threads.
  #named: Map<string, Set<Ask>> | null = null;
  #ofTurn: Map<number, Set<Ask>> | null = null;
  #size = 0;
  /** Null while another host holds the thread: that host records. */
  recorder: PartRecorder | null = null;

  get size(): number {
    return this.#size;
  }

  /** Whether code waits for one of the asks, or may. */
  get areWaitedFor(): boolean {
    // Usually the first one already does.
    for (const asks of this.#named?.values() ?? []) for (const ask of asks) if (ask.isWaitedFor) return true;
    return false;
  }

  add(ask: Ask): void {
    this.#size++;
    this.#named = withAsk(this.#named, ask.askId, ask);
    if (ask.turn !== null) this.#ofTurn = withAsk(this.#ofTurn, ask.turn, ask);
    ask.watch(this.#watcher);
  }

  /**
   * Compares asks with an entry that accepted an ask of their id. Those with different content are refused, and do not
   * join its turn.
   */
  heard({ event, redacted }: Entry): void {
    if (event.type !== "ask.received" || redacted === true) return;
    for (const ask of this.named(event.askId)) ask.checkFirst(event);
  }

  /** Returns the asks with an id. There are several if it was asked again while the first was waited for. */
  named(askId: string): readonly Ask[] {
    return [...(this.#named?.get(askId) ?? [])];
  }

  /** Returns the asks of an id that share the outcome of the first. The others are refused. */
  concerned(askId: string, state: State): readonly Ask[] {
    return this.named(askId).filter((ask) => ask.isConcerned(state));
  }

  ofTurn(turn: number): readonly Ask[] {
    return [...(this.#ofTurn?.get(turn) ?? [])];
  }

  /** Yields the asks that have a turn. */
  *inTurns(): Generator<Ask> {
    for (const asks of this.#ofTurn?.values() ?? []) yield* asks;
  }

  all(): readonly Ask[] {
    return [...(this.#named?.values() ?? [])].flatMap((asks) => [...asks]);
  }

  /**
   * Joins asks from before the thread was opened to the open turn. They are shown what happens in it from the
   * beginning.
   */
  opened(state: State): void {
    for (const ask of this.all()) if (ask.event === null) ask.joinOpenTurn(state);
  }

  /** Detaches, fails or carries over all asks when the loop ends. Returns those that continue in another loop. */
  end(reason: Error, mayGoOn: boolean): readonly Ask[] {
    const carried: Ask[] = [];
    for (const ask of this.all()) {
      if (ask.detach()) continue;
      if (mayGoOn && ask.carryOver()) carried.push(ask);
      else ask.fail(reason);
    }
    return carried;
  }

  /** Shows a part to the asks of a turn, and keeps it for those that rejoin it. */
  emit(turn: number, part: AskPart): void {
    this.show(turn, part, this.keep(turn, part));
  }

  /** Keeps a part of a turn. Returns its place; null if it is not kept. Turn 0 stands for no turn. */
  keep(turn: number | null, part: AskPart): PartPlace | null {
    return turn === null || turn === 0 ? null : (this.recorder?.record(turn, part) ?? null);
  }

  /** Shows a part to the asks of a turn. */
  show(turn: number, part: AskPart, place: PartPlace | null): void {
    const asks = this.#ofTurn?.get(turn);
    if (asks !== undefined) for (const ask of asks) ask.push(part, place);
  }

  /** Voids what was shown of a step that is in progress and is made again. */
  voidStep(turn: number, step: number): void {
    if (this.recorder?.hasShown(turn, step) !== true) return;
    this.emit(turn, { type: "thread.lost", turn });
  }

  /**
   * Returns a tool context overridden by that of the turn's first ask. So asking again under the same id changes
   * nothing.
   */
  toolContextOf(turn: number, toolContext: ToolContext): ToolContext {
    const [first] = this.#ofTurn?.get(turn) ?? [];
    return withContext(toolContext, first?.toolContext);
  }

  readonly #watcher = {
    joined: (ask: Ask, turn: number): void => {
      this.#ofTurn = withAsk(this.#ofTurn, turn, ask);
    },
    left: (ask: Ask): void => {
      if (ask.turn !== null) this.#ofTurn = withoutAsk(this.#ofTurn, ask.turn, ask);
    },
    settled: (ask: Ask): void => {
      this.#size--;
      this.#named = withoutAsk(this.#named, ask.askId, ask);
      this.#watcher.left(ask);
    },
  };
}

/**
 * Returns a new record each time, so one tool does not see what another puts into it. An instance of a class is passed
 * as it is.
 */
export const withContext = (host: ToolContext, asked: ToolContext | undefined): ToolContext => {
  const isRecord = Object.getPrototypeOf(host) === Object.prototype || Object.getPrototypeOf(host) === null;
  return asked === undefined && !isRecord ? host : { ...host, ...asked };
};

const withAsk = <Key>(sets: Map<Key, Set<Ask>> | null, key: Key, ask: Ask): Map<Key, Set<Ask>> => {
  const set = sets?.get(key);
  if (sets !== null && set !== undefined) {
    set.add(ask);
    return sets;
  }
  return (sets ?? new Map<Key, Set<Ask>>()).set(key, new Set([ask]));
};

const withoutAsk = <Key>(sets: Map<Key, Set<Ask>> | null, key: Key, ask: Ask): Map<Key, Set<Ask>> | null => {
  const set = sets?.get(key);
  if (set?.delete(ask) === true && set.size === 0) sets?.delete(key);
  return sets?.size === 0 ? null : sets;
};
