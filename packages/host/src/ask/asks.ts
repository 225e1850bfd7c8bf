import type { Signal, State, Turn } from "@colloquy/machine";
import type { ToolContext } from "../tools/tool.ts";
import type { PartRecorder } from "../turn-log/log.ts";
import type { Ask } from "./ask.ts";

/** The asks of a thread that are not settled. */
export class Asks {
  // Null if there are none, as for most open threads, which then need less memory.
  #byId: Map<string, Set<Ask>> | null = null;
  /** Those that have a turn: nearly always the open one, while thousands may wait. */
  #joined: Set<Ask> | null = null;
  /** Records the parts of all asks, in the logs that the asks read; null while the thread is being opened. */
  recorder: PartRecorder | null = null;

  /** Sets the recorder of all later parts, and lets the asks read its logs. */
  recordWith(recorder: PartRecorder): void {
    this.recorder = recorder;
    for (const ask of this.#joined ?? []) this.#readTurn(ask);
  }

  /** Whether the thread must be kept open for one of the asks. */
  get areWaitedFor(): boolean {
    for (const asks of this.#byId?.values() ?? []) for (const ask of asks) if (ask.isWaitedFor) return true;
    return false;
  }

  add(ask: Ask): void {
    this.#byId ??= new Map();
    const others = this.#byId.get(ask.askId);
    if (others === undefined) this.#byId.set(ask.askId, new Set([ask]));
    else others.add(ask);
    if (ask.turn !== null) this.joined(ask);
    ask.watcher = this;
  }

  /** Returns the asks with an id. There are several if it was asked again before the first was settled. */
  withId(askId: string): readonly Ask[] {
    return [...(this.#byId?.get(askId) ?? [])];
  }

  /** Returns the asks of an id that share the outcome of the first. Fails those that differ from it. */
  concerned(askId: string, state: State): readonly Ask[] {
    return this.withId(askId).filter((ask) => ask.isConcerned(state));
  }

  ofTurn(turn: number): readonly Ask[] {
    return [...(this.#joined ?? [])].filter((ask) => ask.turn === turn);
  }

  all(): readonly Ask[] {
    return [...(this.#byId?.values() ?? [])].flatMap((asks) => [...asks]);
  }

  /** Joins the look-ups of earlier asks to the open turn, whose parts they get from its beginning. */
  joinOpenTurn(state: State): void {
    for (const ask of this.all()) if (ask.event === null) ask.joinOpenTurn(state);
  }

  /** Detaches, fails or carries over all asks when the loop ends. Returns those that continue in another loop. */
  end(reason: Error, mayContinue: boolean): readonly Ask[] {
    const carried: Ask[] = [];
    for (const ask of this.all()) {
      if (ask.detach()) continue;
      if (mayContinue && ask.carryOver()) carried.push(ask);
      else ask.fail(reason);
    }
    return carried;
  }

  /** Voids the parts of a step in progress, before it is run again. */
  voidStep(turn: number, step: number): void {
    if (this.recorder?.log(turn)?.hasShown(step) !== true) return;
    this.recorder.record(turn, { type: "thread.lost", turn });
  }

  /** Returns a tool context overridden by that of the turn's first ask, so that a repeated ask changes nothing. */
  toolContextOf(turn: number, toolContext: ToolContext): ToolContext {
    const [first] = this.ofTurn(turn);
    return withContext(toolContext, first?.toolContext);
  }

  /** Lets an ask read the log of its turn. */
  #readTurn(ask: Ask): void {
    const log = ask.turn === null ? null : this.recorder?.log(ask.turn);
    if (log != null) ask.parts.follow(log, ask.isUnderWay ? "end" : "first");
  }

  joined(ask: Ask): void {
    this.#joined = (this.#joined ?? new Set<Ask>()).add(ask);
    this.#readTurn(ask);
  }

  left(ask: Ask): void {
    if (this.#joined?.delete(ask) === true && this.#joined.size === 0) this.#joined = null;
  }

  settled(ask: Ask): void {
    const others = this.#byId?.get(ask.askId);
    if (others?.delete(ask) === true && others.size === 0) this.#byId?.delete(ask.askId);
    if (this.#byId?.size === 0) this.#byId = null;
    this.left(ask);
  }
}

/** Returns a new record each time, so no tool sees another's writes. An instance of a class is passed on. */
export const withContext = (host: ToolContext, asked: ToolContext | undefined): ToolContext => {
  const isRecord = Object.getPrototypeOf(host) === Object.prototype || Object.getPrototypeOf(host) === null;
  return asked === undefined && !isRecord ? host : { ...host, ...asked };
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
      if (asks.recorder?.newest != null) asks.recorder.record(asks.recorder.newest, { type: "signal", signal });
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
    // Asks get other parts with the same content.
    case "model.replied":
    case "model.failed":
    case "tool.ended":
    case "thread.updated":
  }
};

/** Ends the asks that a turn answered. An ask that joined but was in no prompt gets `ask.returned` instead. */
const announceEnd = (asks: Asks, turn: Turn): void => {
  const { number } = turn;
  asks.recorder?.record(number, { type: "turn.ended", turn: number, status: turn.outcome.status });
  for (const ask of asks.ofTurn(number)) if (turn.asks.some(({ askId }) => askId === ask.askId)) ask.ended(turn);
};
