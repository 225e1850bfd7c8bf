import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { reply, ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

import type { ValuesOf } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { fault, seed, whole } from "../kit/options.ts";
import { type Random, randomOf } from "../kit/random.ts";
import { wordsOf } from "../kit/report.ts";
import { askOn, patienceMs, type Said, saidOn } from "./worker-client.ts";
import { faults } from "./worker-faults.ts";
import { Workerd } from "./workerd.ts";

export const loadOptions = {
  threads: whole(4, "the number of threads that are asked at once, each in its own object"),
  clients: whole(2, "the number of clients on each of them"),
  asks: whole(3, "the number of questions of each client"),
  kills: whole(3, "the number of times that workerd is killed meanwhile", { least: 0 }),
  seed: seed("the seed of the questions, of the clients that leave and of the kills"),
  fault: fault(faults, "build a fault into the worker, to see that it is noticed"),
} as const;

export type Load = ValuesOf<typeof loadOptions>;

export interface LoadRun {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly asked: number;
  readonly calls: number;
  readonly killed: number;
}

/**
 * Lets many clients ask on many threads at once, some of which leave at once for good, while workerd is killed in the
 * middle of turns, by a seed, and started again. At the end each question, answer and note must exist once, each client
 * must have got the stored answer, and each prompt must begin the thread's messages.
 */
export const loadWorker = (root: string, program: string, load: Load): Promise<LoadRun> =>
  inFolder("workerd-load", async (folder) => {
    const random = randomOf(load.seed);
    const model = new WatchedModel();
    await using server = await loopbackServer({ model: model.handler });
    const entry = "examples/25-cloudflare-worker/worker.ts";
    const environment = { MODEL_URL: server.url, WAKE_MS: "300" };
    await using workerd = await Workerd.start({ root, program, entry, folder, fault: load.fault }, environment);
    const over = new AbortController();
    const questions = questionsOf(load, random);
    // The most calls between two kills: few enough for all kills to happen, and enough for the last one to come late on
    // average.
    const callsMax = Math.ceil((2 * questions.flat().length) / (load.kills + 1));
    const killing = killNowAndThen(workerd, model, load.kills, { random, callsMax }, over.signal);
    const violations = (await Promise.all(questions.map((each) => askInTurn(workerd, each)))).flat();
    over.abort();
    const killed = await killing;
    const threads = [...new Set(questions.flat().map(({ thread }) => thread))];
    const checked = threads.map(async (thread) => {
      const asked = questions.flat().filter((question) => question.thread === thread);
      return problemsOf(await settled(workerd, thread, asked), asked, model.promptsOf(thread), killed);
    });
    violations.push(...(await Promise.all(checked)).flat());
    return { seed: load.seed, violations, asked: questions.flat().length, calls: model.calls, killed };
  });

interface Asked {
  readonly thread: string;
  readonly text: string;
  readonly isNoted: boolean;
  readonly leaves: boolean;
  /** The client's answer; null before it, and for a client that left. */
  answer: string | null;
}

const questionsOf = ({ threads, clients, asks }: Load, random: Random): readonly (readonly Asked[])[] =>
  Array.from({ length: threads * clients }, (_, client) =>
    Array.from({ length: asks }, (_, ask): Asked => {
      const thread = `thread-${client % threads}`;
      const isNoted = random.percent(50);
      const text = `${thread} client ${client} ask ${ask}${isNoted ? ": note it" : ""}`;
      return { thread, text, isNoted, leaves: random.percent(15), answer: null };
    }),
  );

/** Asks one question after the other, each under the same key until it has an answer. Returns the problems. */
const askInTurn = async (workerd: Workerd, questions: readonly Asked[]): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const question of questions) {
    try {
      question.answer = await askUntilAnswered(workerd, question);
    } catch (error) {
      problems.push(`${question.text}: ${wordsOf(error)}`);
    }
  }
  return problems;
};

const askUntilAnswered = async (workerd: Workerd, { thread, text, leaves }: Asked): Promise<string | null> => {
  for (const until = performance.now() + patienceMs; ;) {
    const url = await workerd.url;
    try {
      return await askOn(url, { thread, text, key: text, leaves });
    } catch (error) {
      // `fetch` throws this for a connection that broke, as when the process dies.
      if (!(error instanceof TypeError) || performance.now() > until) throw error;
    }
  }
};

/** Kills the process at a random call of the model, or soon after, and starts it again. Returns the number of kills. */
const killNowAndThen = async (
  workerd: Workerd,
  model: WatchedModel,
  kills: number,
  { random, callsMax }: { readonly random: Random; readonly callsMax: number },
  over: AbortSignal,
): Promise<number> => {
  for (let killed = 0; killed < kills; killed += 1) {
    await model.reached(model.calls + random.integer(1, callsMax), over);
    // Killed at once, the worker waits for the answer; later, it does something else.
    if (random.percent(60)) await passed(random.integer(1, 15));
    if (over.aborted) return killed;
    await workerd.kill();
    await workerd.again();
  }
  return kills;
};

const passed = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Returns the messages once all questions are answered, also those of clients that left, or after `patienceMs`. */
const settled = async (workerd: Workerd, thread: string, asked: readonly Asked[]): Promise<Said> => {
  for (const until = performance.now() + patienceMs; ; await passed(20)) {
    const said = await saidOn(await workerd.url, thread);
    const answers = said.said.filter(({ text }) => text.startsWith(answerTo(""))).length;
    if (answers >= asked.length || performance.now() > until) return said;
  }
};

const problemsOf = (
  { said, notes }: Said,
  asked: readonly Asked[],
  prompts: readonly string[],
  killed: number,
): readonly string[] => {
  const lines = said.map(({ role, text }) => `${role}: ${text}`);
  const starts = said.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const turns = new Map(starts.map((start, turn) => [said[start]?.text, lines.slice(start, starts[turn + 1])]));
  const problems = asked.flatMap(({ text, isNoted, answer }) => {
    const [user, ...rest] = turns.get(text) ?? [];
    const noted = isNoted ? ["assistant: ", "tool: Noted."] : [];
    const isWhole =
      user !== undefined &&
      rest.length === noted.length + 1 &&
      noted.every((line, index) => rest[index] === line) &&
      (answer === null
        ? rest.at(-1)?.startsWith(`assistant: ${answerTo(text)}`) === true
        : rest.at(-1) === `assistant: ${answer}`);
    return isWhole ? [] : [`${text} was answered by ${answer}, but the thread has ${JSON.stringify(rest)}`];
  });
  const kept = notes.map(({ note }) => note).toSorted();
  const wanted = asked.flatMap(({ text, isNoted }) => (isNoted ? [text] : [])).toSorted();
  const times = new Map(prompts.map((prompt) => [prompt, prompts.filter((each) => each === prompt).length]));
  const transcript = lines.join("\n");
  return [
    ...problems,
    ...(starts.length === asked.length ? [] : [`${asked.length} questions asked, but the thread has ${starts.length}`]),
    ...(kept.join() === wanted.join() ? [] : [`the notes are ${kept.join()}, not ${wanted.join()}`]),
    ...[...times].flatMap(([prompt, count]) => [
      ...(transcript.startsWith(prompt) ? [] : [`a prompt differs from the thread:\n${prompt}\n--\n${transcript}`]),
      ...(count <= killed + 1 ? [] : [`a call was made ${count} times, with ${killed} kills`]),
    ]),
  ];
};

const answerTo = (text: string): string => `Answer to ${text}`;

/** Answers each question by its text, after a note if it asks for one. Counts its calls, and keeps their prompts. */
class WatchedModel {
  calls = 0;
  readonly #prompts: string[] = [];
  #heard = (): void => {};
  readonly #answers = ruleModel([
    {
      name: "note",
      when: ({ lastUserText, toolResults }) => lastUserText.endsWith(": note it") && toolResults.length === 0,
      answer: ({ lastUserText }) => toolCalls([{ name: "note", arguments: { note: lastUserText } }]),
    },
    // All answers differ, so that an answer that is given twice shows.
    { name: "else", when: () => true, answer: ({ lastUserText }) => reply(`${answerTo(lastUserText)}, ${this.calls}`) },
  ]);

  promptsOf(thread: string): readonly string[] {
    return this.#prompts.filter((prompt) => prompt.startsWith(`user: ${thread} `));
  }

  /** Resolves once it was called so often, or `over` aborts. */
  async reached(calls: number, over: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heard = () => {
      if (this.calls >= calls) resolve();
    };
    over.addEventListener("abort", () => resolve());
    this.#heard();
    await promise;
  }

  readonly handler: LlmHandler = (call, context) => {
    this.calls += 1;
    this.#prompts.push(call.messages.map((message) => `${message.role}: ${textOf(message)}`).join("\n"));
    this.#heard();
    return this.#answers(call, context);
  };
}
