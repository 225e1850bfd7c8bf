import type { AskHandle, HostedThread } from "@colloquy/host";
import { saidIn } from "../items/turn-items.ts";
import { type QueuedPlace, type LegFacts } from "./response-object.ts";
import { Leg, type ReadableLeg } from "./leg.ts";
import { awaitedLeg, findLeg, type ShowingRoom } from "./responses-room.ts";
import { echoIn, echoOfQueued } from "./turn-echo.ts";
import { TurnOutput } from "./turn-output.ts";

/** Returns the first leg of an ask's turn once that has started or is queued. @throws the refusal of the ask */
export const legOfAsk = async (
  room: ShowingRoom,
  thread: HostedThread,
  handle: AskHandle,
  askId: string,
): Promise<ReadableLeg> => {
  const news = await newsIn(handle);
  return news === "queued" ? legOfQueued(room, thread, askId, handle) : begunLeg(room, thread, handle, askId, news);
};

/** Returns the leg of an ask that was queued when last looked at. Its handle yields no part until the turn starts. */
export const legOfQueued = async (
  room: ShowingRoom,
  thread: HostedThread,
  askId: string,
  handle: AskHandle = thread.rejoin(askId),
): Promise<ReadableLeg> => {
  const place = { threadId: thread.id, askId };
  const queued = await queuedFacts(thread, place);
  const begun = (async () => {
    try {
      let later = await newsIn(handle);
      while (later === "queued") later = await newsIn(handle);
      return await begunLeg(room, thread, handle, askId, later);
    } catch (thrown) {
      // The ask was withdrawn. That is an ordinary end.
      const facts = await queuedFacts(thread, place);
      if (facts === null || facts.endedAt === null) throw thrown;
      return withdrawnLeg({ ...facts, echo: queued?.echo ?? facts.echo });
    }
  })();
  return queued === null ? begun : queuedLeg(queued, begun);
};

/** Returns the facts of an ask that is queued or was withdrawn before its turn; null for any other ask. */
export const queuedFacts = async (thread: HostedThread, place: QueuedPlace): Promise<LegFacts | null> => {
  const record = await thread.asked(place.askId);
  if (record === null || record.turn !== null) return null;
  const echo = (await thread.look((state) => echoOfQueued(state, place.askId))) ?? {};
  // An ask without a turn has an end only if it was dropped.
  const { askedAt, endedAt = null } = record;
  const outcome = endedAt === null ? null : ({ status: "cancelled", reason: null } as const);
  return { place, echo, createdAt: askedAt, endedAt, outcome, items: [], usage: null };
};

const withdrawnLeg = (facts: LegFacts): ReadableLeg => {
  const leg = new Leg(facts);
  leg.seal(facts);
  return leg;
};

const queuedLeg = (queued: LegFacts, begun: Promise<ReadableLeg>): ReadableLeg => {
  let leg: ReadableLeg | null = null;
  const ended = begun.then((found) => {
    leg = found;
    return found.ended;
  });
  ended.catch(() => {});
  return {
    get facts() {
      return leg?.facts ?? queued;
    },
    ended,
    // No client has read an event of it yet.
    blocks: (from) => (from === 0 ? blocksOf(begun) : null),
  };
};

async function* blocksOf(begun: Promise<ReadableLeg>): AsyncGenerator<string, undefined> {
  yield* (await begun).blocks(0) ?? [];
  return undefined;
}

/** The next news that the parts of an ask bring of its turn. */
interface News {
  readonly turn: number;
  /** Whether the parts start at the beginning of the turn. */
  readonly isBeginning: boolean;
}

/** Returns the next news; null if the parts have ended. */
const newsIn = async (handle: AskHandle): Promise<News | "queued" | null> => {
  for await (const part of handle) {
    if (part.type === "signal" && part.signal.type === "ask.queued") return "queued";
    // Parts that are dropped, or made from the journal, may begin later.
    if ("turn" in part && part.type !== "thread.forked")
      return { turn: part.turn, isBeginning: part.type === "turn.started" };
  }
  return null;
};

const begunLeg = async (
  room: ShowingRoom,
  asked: HostedThread,
  handle: AskHandle,
  askId: string,
  news: News | null,
): Promise<ReadableLeg> => {
  const thread = handle.threadId === asked.id ? asked : room.host.thread(handle.threadId);
  const record = await thread.asked(askId);
  const turn = news?.turn ?? record?.turn ?? null;
  // The handle's error says why the turn is missing.
  if (turn === null) throw await handle.then(() => new Error("an ask ended without a turn"));
  const place = { threadId: thread.id, turn, leg: 1 };
  const isShown = room.turns.of(thread.id, turn) !== undefined;
  const found = isShown || news?.isBeginning !== true ? await findLeg(room, place) : null;
  if (found !== null) return found;
  const seen = await thread.look((state) => ({
    echo: echoIn(state, turn),
    callerTools: [...(saidIn(state, turn)?.callerTools ?? [])],
  }));
  const { echo = {}, callerTools = [] } = seen ?? {};
  const startedAt = record?.startedAt ?? room.turns.now();
  const output = new TurnOutput({ threadId: thread.id, turn, startedAt, callerTools: new Set(callerTools), echo });
  const running = room.turns.add(thread, askId, output);
  running.follow(handle);
  const leg = await awaitedLeg(room, running, 1);
  if (leg === null) throw new Error(`turn ${turn} of thread "${thread.id}" is gone`);
  return leg;
};
