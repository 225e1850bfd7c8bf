import type { Entry, State } from "@colloquy/machine";
import type { ToolContext } from "../tools/tool.ts";
import type { Ask } from "./ask.ts";
import type { PartPlace } from "./part-place.ts";
import type { AskPart } from "./parts.ts";

/** Keeps what is shown of turns, and gives each part its place. */
export interface PartRecorder {
  /** Gives the place of the part; null where it is not kept. */
  record(turn: number, part: AskPart): PartPlace | null;
  /** The newest turn of which something is kept; null where there is none. */
  readonly newest: number | null;
  /** Whether something was shown of a step, and is not void. */
  hasShown(turn: number, step: number): boolean;
  /** Whether the start of a step was shown, and is not void. */
  hasStartedStep(turn: number, step: number): boolean;
  /** Whether the end of a step was shown. */
  hasEndedStep(turn: number, step: number): boolean;
}

/** The asks of a thread that are not settled. However many wait, those of a turn are found at once. */
export class Asks {
  // Absent where there are none, as of most threads that are open.
  #named: Map<string, Set<Ask>> | null = null;
  #ofTurn: Map<number, Set<Ask>> | null = null;
  #size = 0;
  /** Null while another host holds the thread: that one records. */
  recorder: PartRecorder | null = null;

  get size(): number {
    return this.#size;
  }

  /** Whether code waits for one of them, or may. */
  get areWaitedFor(): boolean {
    // Mostly the first of them says so.
    for (const asks of this.#named?.values() ?? []) for (const ask of asks) if (ask.isWaitedFor) return true;
    return false;
  }

  add(ask: Ask): void {
    this.#size++;
    this.#named = withAsk(this.#named, ask.askId, ask);
    if (ask.turn !== null) this.#ofTurn = withAsk(this.#ofTurn, ask.turn, ask);
    ask.watch(this.#watcher);
  }

  /** An ask stands in the journal: those of its id that say something else are refused, and none of its turn. */
  heard({ event, redacted }: Entry): void {
    if (event.type !== "ask.received" || redacted === true) return;
    for (const ask of this.named(event.askId)) ask.checkFirst(event);
  }

  /** Those of an id: more than one where it was asked again while the first was waited for. */
  named(askId: string): readonly Ask[] {
    return [...(this.#named?.get(askId) ?? [])];
  }

  /** Those of an id that share the outcome of the first of them. The others are refused. */
  concerned(askId: string, state: State): readonly Ask[] {
    return this.named(askId).filter((ask) => ask.isConcerned(state));
  }

  ofTurn(turn: number): readonly Ask[] {
    return [...(this.#ofTurn?.get(turn) ?? [])];
  }

  /** Those that have a turn. */
  *inTurns(): Generator<Ask> {
    for (const asks of this.#ofTurn?.values() ?? []) yield* asks;
  }

  all(): readonly Ask[] {
    return [...(this.#named?.values() ?? [])].flatMap((asks) => [...asks]);
  }

  /** The thread was opened: those that were asked before are shown what happens in the open turn, from the beginning. */
  opened(state: State): void {
    for (const ask of this.all()) if (ask.event === null) ask.joinOpenTurn(state);
  }

  /** The loop has ended. Gives those that go on in another, where they may. */
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

  /** Keeps a part of a turn. Gives its place; null where it is not kept. Turn 0 is none. */
  keep(turn: number | null, part: AskPart): PartPlace | null {
    return turn === null || turn === 0 ? null : (this.recorder?.record(turn, part) ?? null);
  }

  /** Shows a part to the asks of a turn. */
  show(turn: number, part: AskPart, place: PartPlace | null): void {
    const asks = this.#ofTurn?.get(turn);
    if (asks !== undefined) for (const ask of asks) ask.push(part, place);
  }

  /** A step that is under way is made anew: where something was shown of it, that is void. */
  voidStep(turn: number, step: number): void {
    if (this.recorder?.hasShown(turn, step) !== true) return;
    this.emit(turn, { type: "thread.lost", turn });
  }

  /** A tool context with that of a turn's first ask laid over it: asking again under the same id changes nothing. */
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

/** A record of its own each time: what one tool puts into it another does not find. Only an instance of a class is what it is. */
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
