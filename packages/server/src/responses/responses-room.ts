import type { Clock, Host, HostedThread } from "@colloquy/host";
import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError, type State, turnNumbered } from "@colloquy/machine";
import type { ServerContext } from "../http/server-options.ts";
import { blockOf } from "./leg-log.ts";
import { type TurnRecord, turnRecord, type LegRecord } from "./leg-records.ts";
import { figuresSum, type LegFacts, responseObject } from "./response-object.ts";
import type { LegPlace } from "./response-id.ts";
import { endEventsOf, RunningTurn, type ShownLeg } from "./running-turn.ts";
import type { ModelParameters } from "./response-request.ts";
import { RunningTurns } from "./running-turns.ts";

/** How responses are asked for and kept. */
export interface ResponsesOptions {
  /** The models that clients may name. Default: any, as the parameter `model` of the call. */
  readonly models?: readonly string[];
  /**
   * How the parameters of a response reach the model of the host: by the names of chat completions, as the Responses API has
   * them, or by a function. Default `chat`, which the handlers for chat completions and for the AI SDK read.
   */
  readonly modelParameters?: ModelParameters;
  /** How long the events of a response are kept after its end, for those that come back, in milliseconds. Default 300,000. */
  readonly keepMs?: number;
  /** What the events of all responses may take, in UTF-16 units; the oldest go first. Default 33,554,432. */
  readonly charactersMax?: number;
}

/** Where turns are shown: of what is stored, and apart from it of what is not. */
export interface ShowingRoom {
  readonly host: Host;
  readonly turns: RunningTurns;
}

/** What all routes of responses share. */
export interface ResponsesRoom extends ShowingRoom {
  readonly clock: Clock;
  readonly models: readonly string[] | null;
  readonly modelParameters: ModelParameters;
  readonly lines: ServerContext["lines"];
  /** The same for what is not to be stored: nothing of it is found by an id. */
  readonly unstored: ShowingRoom;
}

/** A response as it can be read: by what is known of it now, by its end, and event by event. */
export interface ReadableLeg {
  facts(): LegFacts;
  readonly ended: Promise<void>;
  /** Its events as blocks of a stream, from that number on. Null: of those before them nothing is kept, so no number means anything. */
  blocks(from: number): AsyncIterable<string> | null;
}

/** The room of a host. */
export const responsesRoom = (
  host: Host,
  { clock, lines }: ServerContext,
  options: ResponsesOptions,
): ResponsesRoom => {
  const problem = problemOfOptions("threadServer: responses", options, optionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const { models = null, modelParameters = "chat", keepMs = 300_000, charactersMax = 33_554_432 } = options;
  for (const [name, value] of Object.entries({ keepMs, charactersMax }))
    if (!(Number.isSafeInteger(value) && value >= 0))
      throw new ConfigurationError(`threadServer: responses.${name} is ${value}; it must be a whole number, 0 or more`);
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

const optionNames: OptionNames<ResponsesOptions> = {
  models: true,
  modelParameters: true,
  keepMs: true,
  charactersMax: true,
};

/** A leg that is shown in this process. */
const readableLeg = (leg: ShownLeg): ReadableLeg => ({
  facts: () => leg.facts,
  ended: leg.ended,
  blocks: (from) => (leg.log.hasFrom(from) ? leg.log.read(from) : null),
});

/** A leg by its place, whether it is shown here, ended long ago, or has to be taken up; null where there is none. */
export const findLeg = async (room: ShowingRoom, place: LegPlace): Promise<ReadableLeg | null> => {
  const { threadId, turn, leg } = place;
  const thread = room.host.thread(threadId);
  const running = room.turns.of(threadId, turn);
  const shown = running?.legs.get(leg);
  if (running !== undefined && shown !== undefined && (shown.facts.endedAt === null || shown.log.hasFrom(0))) {
    const isThere = shown.facts.endedAt === null || (await thread.look((seen) => isAskedIn(seen, running))) === true;
    if (isThere) return readableLeg(shown);
    // Its thread was deleted, and what was shown of it is to be gone as well.
    room.turns.forgetTurn(threadId, turn);
  }
  const state = await thread.state();
  const record = state === null ? null : turnRecord(await thread.exportJournal(), state, turn);
  if (record === null) return null;
  const recorded = record.legs[leg - 1];
  if (recorded === undefined) return null;
  if (recorded.facts.endedAt !== null) return recordedLeg(recorded);
  const turnShown = showTurn(room, thread, turn, record);
  // An answer that was given elsewhere has continued it.
  turnShown.goOnBehind(leg - 1);
  return awaitedLeg(room, turnShown, leg);
};

/** A leg of a turn that is shown, when it begins; that of the journal if the turn ended before it was shown. */
export const awaitedLeg = async (room: ShowingRoom, turn: RunningTurn, leg: number): Promise<ReadableLeg | null> => {
  const shown = await turn.leg(leg);
  return shown === null ? findLeg(room, { threadId: turn.thread.id, turn: turn.number, leg }) : readableLeg(shown);
};

/** Whether a state has that very turn: a thread of the same id may have begun anew. */
const isAskedIn = (state: State, { number, askId }: Pick<RunningTurn, "number" | "askId">): boolean =>
  state.context.open?.number === number ||
  turnNumbered(state, number)?.asks.some((ask) => ask.askId === askId) === true;

/** Shows a turn from here on that is under way, as this process does not show it yet. */
export const showTurn = (room: ShowingRoom, thread: HostedThread, number: number, record: TurnRecord): RunningTurn => {
  const found = room.turns.of(thread.id, number);
  const ended = record.legs.filter(({ facts }) => facts.endedAt !== null);
  // Another server may have continued it since it was shown here.
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

/** A leg that is over, as it is kept. */
export const recordedLeg = ({ facts, events }: LegRecord): ReadableLeg => ({
  facts: () => facts,
  ended: Promise.resolve(),
  blocks: (from) => (from === 0 ? synthesised(facts, events) : null),
});

/** The whole stream of a leg that is over, made from its journal. */
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
