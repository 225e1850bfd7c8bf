import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

import { sqliteStore } from "@colloquy/runtime-node";

import { ending } from "../kit/calls.ts";
import { askAs, shownBy } from "../kit/chat-page.ts";
import { withCleanup } from "../kit/cleanup.ts";
import { randomOf } from "../kit/random.ts";
import { Served } from "../kit/served.ts";
import { continuationProblems } from "./check.ts";
import type { SeededRun } from "../kit/report.ts";
import { answerTo, type BackendOptions, type CallKind, logged, openShop, orderOf } from "./shop-model.ts";

/** Ends the backend in the middle of a turn, and starts it again on the same file. Stops at the first violation. */
export const restartBackend = (
  program: string,
  { signal, kills, seed, patienceMs }: BackendOptions & { readonly signal: "SIGKILL" | "SIGTERM" },
): Promise<SeededRun> =>
  withCleanup(async (later) => {
    const { folder, model, orders, log, variables } = await openShop(later);
    const threads = join(folder, "threads.db");
    const backend = new Served(program, { variables: { ...variables, THREADS: threads }, log });
    later(() => backend.kill());
    let url = await backend.start();
    const store = sqliteStore({ path: threads });
    later(() => store.close());
    const random = randomOf(seed);
    const [other, same, continued]: [number[], number[], number[]] = [[], [], []];
    const violations: string[] = [];
    let done = 0;
    for (; done < kills && violations.length === 0; done++) {
      const during = random.pick(moments) ?? null;
      const [chat, thing] = [`chat-${done}`, `thing-${done}`];
      const question = orderOf(thing);
      // The process that dies shall also hold an idle thread.
      await askAs(url, otherChat, `before ${done}`);
      const held = during === null ? passed(random.integer(0, turnMs)) : model.hold(question, during);
      const cutOff = askAs(url, chat, question).catch(() => "");
      await ending<unknown>("the call", patienceMs, held);
      await backend.kill(signal);
      await cutOff;
      const began = performance.now();
      const seconds = (): number => (performance.now() - began) / 1000;
      url = await backend.start();
      const isOther = random.percent(50);
      const next = `after ${done}`;
      const answer = await ending("the first request", patienceMs, askAs(url, isOther ? otherChat : chat, next));
      (isOther ? other : same).push(seconds());
      if (answer !== answerTo(next)) violations.push(`${chat}: the first request was answered by "${answer}"`);
      // An ask that was cut off before it was stored was never acknowledged: the page sends it again.
      if ((await store.read(chat)).every((entry) => !JSON.stringify(entry).includes(question)))
        await askAs(url, chat, question);
      if (await isAnswered(url, chat, question, patienceMs)) {
        if (isOther) continued.push(seconds());
      } else violations.push(`${chat}: the turn that was cut off is not continued`);
      violations.push(...(await continuationProblems({ chat, thing, during }, { store, model, orders })));
    }
    const at = `SQLite, ${signal}, the next process started:`;
    return {
      seed,
      violations,
      note: logged(violations, log),
      counts: { [`of ${signal}`]: done },
      seconds: {
        [`${at} until it had answered its first request, on another thread`]: other,
        [`${at} the same, on the thread whose turn was cut off`]: same,
        [`${at} until recovery had continued the turn, if nobody asked its thread`]: continued,
      },
    };
  });

/** Polls until the page shows the answer. Polling does not continue a thread. */
const isAnswered = async (url: string, chat: string, question: string, patienceMs: number): Promise<boolean> => {
  const end = performance.now() + patienceMs;
  do {
    if ((await shownBy(url, chat)).includes(`assistant: ${answerTo(question)}`)) return true;
    await passed(10);
  } while (performance.now() < end);
  return false;
};

/** The calls in which the process is ended; null: at any moment. */
const moments: readonly (CallKind | null)[] = ["ask", "answer", null];

const otherChat = "chat-other";

/** About the time that a turn takes. */
const turnMs = 80;
