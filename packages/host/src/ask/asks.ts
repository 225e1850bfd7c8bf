import type { Signal, State, Turn } from "@colloquy/machine";
import type { ToolContext } from "../tools/tool.ts";
import type { PartRecorder } from "../turn-log/log.ts";
import type { Ask } from "./ask.ts";

/** The asks of a thread that are not settled. However many wait, those of a turn are found at once. */
export class Asks {
  // Null if there are none, as for most open threads.
  #named: Map<string, Set<Ask>> | null = null;
  #ofTurn: Map<number, Set<Ask>> | null = null;
  /** Takes what is shown, once for all asks, and has the logs that they read; null while the thread is being opened. */
  recorder: PartRecorder | null = null;

  /** Has the recorder take what is shown from here on, and the asks read its logs. */
  recordWith(recorder: PartRecorder): void {
    this.recorder = recorder;
    for (const asks of this.#ofTurn?.values() ?? []) for (const ask of asks) this.#readTurn(ask);
  }

  /** Whether code waits for one of the asks, or may. */
  get areWaitedFor(): boolean {
    for (const asks of this.#named?.values() ?? []) for (const ask of asks) if (ask.isWaitedFor) return true;
    return false;
  }

  add(ask: Ask): void {
    this.#named = withAsk(this.#named, ask.askId, ask);
    if (ask.turn !== null) this.joined(ask, ask.turn);
    ask.watcher = this;
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

  all(): readonly Ask[] {
    return [...(this.#named?.values() ?? [])].flatMap((asks) => [...asks]);
  }

  /** Joins earlier asks to the open turn. They are shown what happens in it from the beginning. */
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

  /** Voids what was shown of a step that is in progress and is made again. */
  voidStep(turn: number, step: number): void {
    if (this.recorder?.log(turn)?.hasShown(step) !== true) return;
    this.recorder?.record(turn, { type: "thread.lost", turn });
  }

  /** Returns a tool context overridden by that of the turn's first ask, so asking again changes nothing. */
  toolContextOf(turn: number, toolContext: ToolContext): ToolContext {
    const [first] = this.#ofTurn?.get(turn) ?? [];
    return withContext(toolContext, first?.toolContext);
  }

  /** Lets an ask read the log of its turn. */
  #readTurn(ask: Ask): void {
    const log = ask.turn === null ? null : this.recorder?.log(ask.turn);
    if (log != null) ask.parts.follow(log, ask.isUnderWay ? "end" : "first");
  }

  joined(ask: Ask, turn: number): void {
    this.#ofTurn = withAsk(this.#ofTurn, turn, ask);
    this.#readTurn(ask);
  }

  left(ask: Ask): void {
    if (ask.turn !== null) this.#ofTurn = withoutAsk(this.#ofTurn, ask.turn, ask);
  }

  settled(ask: Ask): void {
    this.#named = withoutAsk(this.#named, ask.askId, ask);
    this.left(ask);
  }
}

/** Returns a new record each time, so no tool sees another's writes. An instance of a class is passed on. */
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

/** Notifies the asks that a signal concerns. @param state after the signal @param ended the turn, if it ended */
export const announce = (asks: Asks, signal: Signal, state: State, ended: Turn | undefined): void => {
  switch (signal.type) {
    case "turn.started":
      asks.recorder?.begin(signal.turn, signal.askIds);
      for (const askId of signal.askIds) for (const ask of asks.concerned(askId, state)) ask.join(signal.turn, false);
      asks.recorder?.record(signal.turn, signal);
      return;
    case "turn.ended":
      if (ended !== undefined) announceEnd(asks, ended);
      return;
    case "ask.withdrawn":
      for (const ask of asks.concerned(signal.askId, state)) ask.withdraw();
      return;
    case "ask.superseded":
    case "ask.returned":
      for (const ask of asks.concerned(signal.askId, state)) {
        ask.parts.push({ type: "signal", signal });
        if (signal.type === "ask.superseded") ask.superseded(signal.by);
        else ask.returned(signal.turn);
      }
      return;
    case "ask.joined":
    case "ask.delivered":
      for (const ask of asks.concerned(signal.askId, state)) ask.join(signal.turn);
      asks.recorder?.record(signal.turn, { type: "signal", signal });
      return;
    case "ask.queued":
      for (const ask of asks.concerned(signal.askId, state)) ask.parts.push({ type: "signal", signal });
      return;
    case "turn.interrupted":
      asks.recorder?.record(signal.turn, { type: "signal", signal });
      for (const ask of asks.concerned(signal.by, state)) ask.parts.push({ type: "signal", signal });
      return;
    case "policy.failed":
    case "context.warning":
      // Shown in the turn whose call it is about, which the same entry may have ended.
      if (asks.recorder?.newest != null) asks.recorder?.record(asks.recorder.newest, { type: "signal", signal });
      return;
    case "summary.started":
    case "summary.completed":
    case "summary.failed":
      // Between turns it belongs to no ask.
      if (state.context.open !== null) asks.recorder?.record(state.context.open.number, { type: "signal", signal });
      return;
    case "retry.scheduled":
    case "output.refused":
    case "limit.reached":
    case "context.unfit":
      asks.recorder?.record(signal.turn, { type: "signal", signal });
      return;
    // An ask is shown parts that say the same.
    case "model.replied":
    case "model.failed":
    case "tool.ended":
    case "thread.updated":
  }
};

/** Ends the asks of a turn. One that joined but was never shown gets a signal of its own. */
const announceEnd = (asks: Asks, turn: Turn): void => {
  const { number } = turn;
  asks.recorder?.record(number, { type: "turn.ended", turn: number, status: turn.outcome.status });
  for (const ask of asks.ofTurn(number)) if (turn.asks.some(({ askId }) => askId === ask.askId)) ask.ended(turn);
};
