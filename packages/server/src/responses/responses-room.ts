import type { Clock, Host, HostedThread } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { type State, turnNumbered } from "@colloquy/machine";
import type { ServerContext } from "../http/server-options.ts";
import { blockOf, LegLog } from "./leg-log.ts";
import { type TurnRecord, turnRecord, type LegRecord } from "./leg-records.ts";
import { figuresSum, type LegFacts, responseObject } from "./response-object.ts";
import type { LegPlace } from "./response-id.ts";
import { endEventsOf, RunningTurn, type ShownLeg, type LegKeeper } from "./running-turn.ts";
import type { ModelParameters } from "./response-request.ts";

/** Options for the Responses API. */
export interface ResponsesOptions {
  /** The models that clients may name. Default: any, as the parameter `model` of the call. */
  readonly models?: readonly string[];
  /**
   * How the parameters of a response reach the model of the host: by the names of chat completions, unchanged, or by a
   * function. Default `chat`, which the handlers for chat completions and for the AI SDK read.
   */
  readonly modelParameters?: ModelParameters;
  /** How long the events of an ended response are kept for clients that reconnect, in milliseconds. Default 300,000. */
  readonly keepMs?: number;
  /**
   * The size of all kept events of all responses, in UTF-16 units. The oldest are dropped first. Default 33,554,432.
   */
  readonly charactersMax?: number;
}

/** A host and the turns of it that this process shows. There is one for stored threads and one for unstored ones. */
export interface ShowingRoom {
  readonly host: Host;
  readonly turns: RunningTurns;
}

/** The state that all routes of responses share. */
export interface ResponsesRoom extends ShowingRoom {
  readonly clock: Clock;
  readonly models: readonly string[] | null;
  readonly modelParameters: ModelParameters;
  readonly lines: ServerContext["lines"];
  /** The same for unstored responses, which no id finds. */
  readonly unstored: ShowingRoom;
}

/** A response that can be read: its present facts, its end, and its events. */
export interface ReadableLeg {
  facts(): LegFacts;
  readonly ended: Promise<void>;
  /**
   * Returns its events from a number on, as blocks of a stream. Null if the earlier events are not kept, so that the
   * number is meaningless.
   */
  blocks(from: number): AsyncIterable<string> | null;
}

export const responsesRoom = (
  host: Host,
  { clock, lines }: ServerContext,
  options: ResponsesOptions,
): ResponsesRoom => {
  checkOptions("threadServer: responses", options, optionKinds);
  const { models = null, modelParameters = "chat", keepMs = 300_000, charactersMax = 33_554_432 } = options;
  const bounds = { keepMs, charactersMax };
  let memory: Host | null = null;
  const unstored = {
    get host(): Host {
      return (memory ??= host.inMemory());
    },
    turns: new RunningTurns(clock, bounds),
  };
  const shared = { host, clock, lines, models, modelParameters, unstored };
  return { ...shared, turns: new RunningTurns(clock, bounds) };
};

const optionKinds: OptionKinds<ResponsesOptions> = {
  models: true,
  modelParameters: true,
  keepMs: kinds.whole(0),
  charactersMax: kinds.whole(0),
};

/** Wraps a leg that this process shows. */
const readableLeg = (leg: ShownLeg): ReadableLeg => ({
  facts: () => leg.facts,
  ended: leg.ended,
  blocks: (from) => (leg.log.hasFrom(from) ? leg.log.read(from) : null),
});

/** Finds a leg by its place: shown here, ended long ago, or to be resumed. Returns null if there is none. */
export const findLeg = async (room: ShowingRoom, place: LegPlace): Promise<ReadableLeg | null> => {
  const { threadId, turn, leg } = place;
  const thread = room.host.thread(threadId);
  const running = room.turns.of(threadId, turn);
  const shown = running?.legs.get(leg);
  if (running !== undefined && shown !== undefined && (shown.facts.endedAt === null || shown.log.hasFrom(0))) {
    const isThere = shown.facts.endedAt === null || (await thread.look((seen) => isAskedIn(seen, running))) === true;
    if (isThere) return readableLeg(shown);
    // The thread was deleted, so its shown events are deleted too.
    room.turns.forgetTurn(threadId, turn);
  }
  const state = await thread.state();
  const record = state === null ? null : turnRecord(await thread.exportJournal(), state, turn);
  if (record === null) return null;
  const recorded = record.legs[leg - 1];
  if (recorded === undefined) return null;
  if (recorded.facts.endedAt !== null) return recordedLeg(recorded);
  const turnShown = showTurn(room, thread, turn, record);
  // An answer given on another server has continued it.
  turnShown.goOnBehind(leg - 1);
  return awaitedLeg(room, turnShown, leg);
};

/** Waits for a leg of a shown turn to start. If the turn ended first, returns the leg from the journal. */
export const awaitedLeg = async (room: ShowingRoom, turn: RunningTurn, leg: number): Promise<ReadableLeg | null> => {
  const shown = await turn.leg(leg);
  return shown === null ? findLeg(room, { threadId: turn.thread.id, turn: turn.number, leg }) : readableLeg(shown);
};

/** Checks whether a state has this very turn. A deleted thread may have been created again under the same id. */
const isAskedIn = (state: State, { number, askId }: Pick<RunningTurn, "number" | "askId">): boolean =>
  state.context.open?.number === number ||
  turnNumbered(state, number)?.asks.some((ask) => ask.askId === askId) === true;

/** Shows a running turn in this process from here on. */
export const showTurn = (room: ShowingRoom, thread: HostedThread, number: number, record: TurnRecord): RunningTurn => {
  const found = room.turns.of(thread.id, number);
  const ended = record.legs.filter(({ facts }) => facts.endedAt !== null);
  // Another server may have continued it since this process last showed it.
  const known = found?.isFollowed === true || found?.output.leg === ended.length ? found : undefined;
  const turn = known ?? new RunningTurn({ ...record, thread, number }, room.turns);
  if (known === undefined) {
    room.turns.add(turn);
    turn.prime(record.parts, ended.map(({ facts }) => facts.usage).reduce(figuresSum, null));
  }
  if (!turn.isFollowed) {
    const handle = thread.rejoin(record.askId);
    turn.follow(handle, handle);
  }
  return turn;
};

/** Wraps an ended leg that was restored from the journal. */
export const recordedLeg = ({ facts, events }: LegRecord): ReadableLeg => ({
  facts: () => facts,
  ended: Promise.resolve(),
  blocks: (from) => (from === 0 ? synthesised(facts, events) : null),
});

/** Yields the whole stream of an ended leg, restored from the journal. */
async function* synthesised(facts: LegFacts, events: LegRecord["events"]): AsyncGenerator<string, undefined> {
  const begun = responseObject({ ...facts, endedAt: null, outcome: null, items: [], usage: null });
  const all = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...events,
    ...endEventsOf(facts),
  ];
  for (const [number, event] of all.entries()) yield blockOf(event, number);
  return undefined;
}

/** Limits on the logs of ended legs. */
interface LogBounds {
  readonly keepMs: number;
  /** The size of all logs, in UTF-16 units. */
  readonly charactersMax: number;
}

/**
 * The turns that this process shows, and the logs of their legs: one log for each leg, however many clients read it.
 */
class RunningTurns implements LegKeeper {
  readonly #turns = new Map<string, RunningTurn>();
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  #characters = 0;

  constructor(clock: Clock, bounds: LogBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  now(): number {
    return this.#clock.now();
  }

  of(threadId: string, turn: number): RunningTurn | undefined {
    return this.#turns.get(keyOf(threadId, turn));
  }

  add(turn: RunningTurn): void {
    this.#turns.set(keyOf(turn.thread.id, turn.number), turn);
  }

  log(): LegLog {
    return new LegLog((characters) => this.#grow(characters));
  }

  /** Drops a leg after `keepMs`. */
  keep(turn: RunningTurn, leg: number): void {
    this.#clock.wakeAt(this.#clock.now() + this.#bounds.keepMs, () => this.#forget(turn, leg));
  }

  /** Drops the logs of a turn. */
  forgetTurn(threadId: string, number: number): void {
    const turn = this.of(threadId, number);
    for (const leg of turn?.legs.keys() ?? []) if (turn !== undefined) this.#forget(turn, leg);
  }

  /** Drops the logs of a thread. */
  forgetThread(threadId: string): void {
    for (const { thread, number } of this.#turns.values())
      if (thread.id === threadId) this.forgetTurn(threadId, number);
  }

  /** Drops a turn that has no log here any more. */
  drop(turn: RunningTurn): void {
    if (this.of(turn.thread.id, turn.number) === turn) this.#turns.delete(keyOf(turn.thread.id, turn.number));
  }

  #forget(turn: RunningTurn, leg: number): void {
    const shown = turn.legs.get(leg);
    if (shown === undefined) return;
    turn.legs.delete(leg);
    shown.log.lose();
    if (turn.legs.size === 0 && !turn.isFollowed) this.drop(turn);
  }

  /**
   * Counts new characters and frees space when there are too many. Ended logs go first, oldest first. Then running logs
   * are trimmed, and lost only if that is not enough.
   */
  #grow(characters: number): void {
    this.#characters += characters;
    if (characters <= 0) return;
    for (const turn of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const [leg, { log }] of turn.legs) if (log.isEnded) this.#forget(turn, leg);
    }
    for (const { legs } of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const { log } of legs.values()) log.trim();
    }
    for (const { legs } of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const { log } of legs.values()) log.lose();
    }
  }
}

const keyOf = (threadId: string, turn: number): string => `${turn}/${threadId}`;
