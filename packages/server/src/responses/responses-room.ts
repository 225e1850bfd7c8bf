import type { Clock, Host, HostedThread } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { type State, turnNumbered } from "@colloquy/machine";
import type { ServerContext } from "../http/server-options.ts";
import type { ReadableLeg } from "./leg.ts";
import { readTurn, type TurnRecord } from "./recorded-turn.ts";
import type { LegPlace } from "./response-object.ts";
import type { ModelParameters } from "./response-request.ts";
import { type RunningTurn, RunningTurns } from "./running-turns.ts";

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
  /** The size of all kept events, in UTF-16 units; the oldest are dropped first. Default 33,554,432. */
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
  models: kinds.anything,
  modelParameters: kinds.anything,
  keepMs: kinds.whole(0),
  charactersMax: kinds.whole(0),
};

/** Finds a leg by its place: shown here, ended long ago, or to be resumed. Returns null if there is none. */
export const findLeg = async (room: ShowingRoom, place: LegPlace): Promise<ReadableLeg | null> => {
  const { threadId, turn, leg } = place;
  const thread = room.host.thread(threadId);
  const running = room.turns.of(threadId, turn);
  const shown = running?.legs.get(leg);
  if (running !== undefined && shown !== undefined && (shown.facts.endedAt === null || shown.log.hasFrom(0))) {
    const isThere = shown.facts.endedAt === null || (await thread.look((seen) => isAskedIn(seen, running))) === true;
    if (isThere) return shown;
    // The thread was deleted, so its shown events are deleted too.
    room.turns.forgetTurn(threadId, turn);
  }
  const read = await readTurn(thread, turn);
  const recorded = read?.record.legs[leg - 1];
  if (read === null || recorded === undefined) return null;
  if (recorded.facts.endedAt !== null) return recorded;
  const turnShown = showTurn(room, thread, read.record);
  // An answer given on another server has continued it.
  turnShown.continueAfter(leg - 1);
  return awaitedLeg(room, turnShown, leg);
};

/** Waits for a leg of a shown turn to start. If the turn ended first, returns the leg from the journal. */
export const awaitedLeg = async (room: ShowingRoom, turn: RunningTurn, leg: number): Promise<ReadableLeg | null> => {
  const shown = await turn.leg(leg);
  return shown ?? findLeg(room, { threadId: turn.thread.id, turn: turn.number, leg });
};

/** Checks whether a state has this very turn. A deleted thread may have been created again under the same id. */
const isAskedIn = (state: State, { number, askId }: Pick<RunningTurn, "number" | "askId">): boolean =>
  state.context.open?.number === number ||
  turnNumbered(state, number)?.asks.some((ask) => ask.askId === askId) === true;

/** Shows a running turn in this process from here on. */
export const showTurn = (room: ShowingRoom, thread: HostedThread, record: TurnRecord): RunningTurn => {
  const { output, askId } = record;
  const found = room.turns.of(thread.id, output.turn.turn);
  const ended = record.legs.filter(({ facts }) => facts.endedAt !== null);
  // Another server may have continued it since this process last showed it.
  const known = found?.isFollowed === true || found?.output.leg === ended.length ? found : undefined;
  const turn = known ?? room.turns.add(thread, askId, output);
  if (!turn.isFollowed) turn.follow(thread.rejoin(askId));
  return turn;
};
