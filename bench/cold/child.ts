// A process that has just started: it does one job, given as JSON, and reports its cost to the parent, in microseconds
// of CPU: child.ts JOB
import { cpuMicros } from "../kit/measure.ts";
import { answerText, Script, userText } from "../kit/script.ts";
import { type OpenSide, type Side, type Turn, turnsShown } from "./side.ts";

export type Job = Turns | Threads | Opening;

/** Converse on short threads, unmeasured; then, measured, on short ones for a while and on long ones for as long. */
interface Turns extends On {
  readonly does: "turns";
  readonly warmUpThreads: number;
  /** The microseconds of CPU for each. */
  readonly micros: number;
  /** The first long thread, which remains if the side keeps threads. */
  readonly thread: string;
}

/** Converse on many threads for a few turns, many threads at a time. */
interface Threads extends On {
  readonly does: "threads";
}

/** Continue a stored thread at this turn. */
interface Opening extends On {
  readonly does: "opening";
  readonly thread: string;
  readonly turn: number;
}

interface On {
  readonly side: SideName;
  /** The place of threads: a file, or the URL of a server. */
  readonly place: string;
}

/** Microseconds by mark or `does`. */
export type Costs = Readonly<Record<string, number>>;

export type SideName = keyof typeof sides;

const sides = {
  machine: async () => (await import("./colloquy.ts")).machine,
  host: async () => (await import("./colloquy.ts")).memory,
  "host, a window": async () => (await import("./colloquy.ts")).window,
  "host on SQLite": async () => (await import("./colloquy.ts")).sqlite,
  "host on PostgreSQL": async () => (await import("./colloquy.ts")).postgres,
  "by hand on SQLite": async () => (await import("./by-hand.ts")).sqlite,
  "by hand on PostgreSQL": async () => (await import("./by-hand.ts")).postgres,
  XState: async () => (await import("./xstate.ts")).memory,
  "AI SDK": async () => (await import("./ai-sdk.ts")).memory,
} satisfies Readonly<Record<string, () => Promise<OpenSide>>>;

const costsOf = async (job: Job): Promise<Costs> => {
  const script = new Script();
  const open = await sides[job.side]();
  switch (job.does) {
    case "turns":
      return costsOfTurns(job, script, open);
    case "threads":
      return { threads: await costOfThreads(script, await open(script, job.place)) };
    case "opening":
      return { opening: await costOfOpening(job, script, open) };
  }
};

const costsOfTurns = async (job: Turns, script: Script, open: OpenSide): Promise<Costs> => {
  const thread = async (side: Side, id: string, windows: readonly Window[], turns: number): Promise<void> => {
    const turn = await side.open(id);
    let before = 0;
    for (let number = 1; number <= turns; number++) {
      // Reads the clock once for a window, since reading it costs as much as some sides' turn.
      if (windows.some(({ first }) => number === first)) before = cpuMicros();
      await checked(job, script, number, turn(userText(number)));
      const ended = windows.find(({ last }) => number === last);
      if (ended !== undefined) ended.micros.push((cpuMicros() - before) / (ended.last - ended.first + 1));
    }
  };
  /** Converses on threads at least once, until the job's CPU is used up. */
  const threads = async (side: Side, name: string, windows: readonly Window[]): Promise<void> => {
    const turns = Math.max(...windows.map(({ last }) => last));
    const started = cpuMicros();
    await thread(side, name, windows, turns);
    for (let again = 1; cpuMicros() - started < job.micros; again++)
      await thread(side, `${name}-${run}-${again}`, windows, turns);
  };
  const first = await open(script, job.place);
  for (let warm = 0; warm < job.warmUpThreads; warm++) await thread(first, `warm-${run}-${warm}`, [], 10);
  await first.close();
  const windows = [10, 100, 1_000].map(windowAbout);
  // Each has threads of its own, so that many of the short ones are measured: in a single one, a collection of garbage
  // can double a figure. And each has a side of its own, since some sides keep all their threads: a collection that
  // falls into the few turns of a long one would look through the thousands of turns of the short ones too.
  for (const window of windows) {
    const side = await open(script, job.place);
    await threads(side, window.mark === 1_000 ? job.thread : `${window.mark}-${run}`, [window]);
    await side.close();
  }
  return Object.fromEntries(windows.map(({ mark, micros }) => [mark, mean(micros)]));
};

/** Turns around a mark, and the costs of one of them. */
interface Window {
  readonly mark: number;
  readonly first: number;
  readonly last: number;
  readonly micros: number[];
}

const windowAbout = (mark: number): Window => {
  const half = Math.min(100, mark / 2);
  return { mark, first: mark - half + 1, last: mark + half, micros: [] };
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const costOfThreads = async (script: Script, side: Side): Promise<number> => {
  await inThreads("warm", 100, script, side);
  const before = cpuMicros();
  const turns = await inThreads("thread", 2_000, script, side);
  const cost = (cpuMicros() - before) / turns;
  await side.close();
  return cost;
};

const inThreads = async (name: string, threads: number, script: Script, side: Side): Promise<number> => {
  const shownBefore = script.shownInAll;
  const turnsEach = 3;
  let next = 0;
  const opened: Turn[] = [];
  const answers: (Promise<string> | undefined)[] = [];
  for (let thread = 0; thread < threads; thread++) opened.push(await side.open(`${name}-${run}-${thread}`));
  const work = async (): Promise<void> => {
    while (next < threads * turnsEach) {
      const turn = next++;
      const thread = turn % threads;
      // Another worker may still wait for the thread's previous answer.
      await answers[thread];
      answers[thread] = opened[thread]?.(userText(Math.floor(turn / threads) + 1));
      const answer = await answers[thread];
      if (answer?.startsWith("answer ") !== true) throw new Error(`answered ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: 100 }, work));
  // Two calls a turn, with 1 and 3, 5 and 7, 9 and 11 messages.
  const shown = script.shownInAll - shownBefore;
  if (shown !== 36 * threads) throw new Error(`${threads} threads: ${shown} messages, and not ${36 * threads}`);
  return threads * turnsEach;
};

const costOfOpening = async (job: Opening, script: Script, open: OpenSide): Promise<number> => {
  const before = cpuMicros();
  const side = await open(script, job.place);
  const turn = await side.open(job.thread);
  await checked(job, script, job.turn, turn(userText(job.turn)));
  const cost = cpuMicros() - before;
  await side.close();
  return cost;
};

/** A part of the names of this process's threads, since a server may have other processes' threads. */
const run = `${process.pid}-${Date.now()}`;

/** Checks that a side does all of the work: it answers as the script says, and shows the model all messages. */
const checked = async (job: Job, script: Script, turn: number, answering: ReturnType<Turn>): Promise<void> => {
  const answer = await answering;
  if (answer !== answerText(script.calls)) throw new Error(`${job.side}, turn ${turn}: answered ${answer}`);
  const closed = job.side === "host, a window" ? Math.min(turn - 1, turnsShown) : turn - 1;
  if (script.shown !== 4 * closed + 3)
    throw new Error(`${job.side}, turn ${turn}: the model saw ${script.shown} messages, and not ${4 * closed + 3}`);
};

// The parent wrote this argument, so its JSON is a `Job`.
process.send?.(await costsOf(JSON.parse(process.argv[2] ?? "") as Job));
process.disconnect?.();
