import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

import { sqliteStore } from "@colloquy/runtime-node";
import { loopbackServer } from "@colloquy/runtime-test/server";

import { ending } from "../kit/calls.ts";
import { askAs, shownBy } from "../kit/chat-page.ts";
import { withCleanup } from "../kit/cleanup.ts";
import { newFolder, removeFolder } from "../kit/folder.ts";
import { randomOf } from "../kit/random.ts";
import { Served } from "../kit/served.ts";
import { continuationProblems } from "./check.ts";
import { type BackendRun, figuresOf, logged } from "./figures.ts";
import { answerTo, type CallKind, orderOf, ShopModel } from "./shop-model.ts";

export interface RestartsOptions {
  readonly signal: "SIGKILL" | "SIGTERM";
  readonly kills: number;
  readonly seed: number;
  /** After which a turn that is not continued counts as lost. */
  readonly patienceMs: number;
}

/** Ends the backend in the middle of a turn, so many times, and starts it again on the same file. Stops at the first violation. */
export const restartBackend = (program: string, options: RestartsOptions): Promise<BackendRun> =>
  withCleanup(async (later) => {
    const { signal, kills, seed, patienceMs } = options;
    const folder = newFolder("backend");
    later(async () => removeFolder(folder));
    const model = new ShopModel();
    const openai = await loopbackServer({ model: model.handler });
    later(() => openai.close());
    const [threads, orders, log] = ["threads.db", "orders.txt", "log.txt"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const variables = { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "none", THREADS: threads, ORDERS: orders };
    const backend = new Served(program, { variables, log });
    later(() => backend.kill());
    let url = await backend.start();
    const store = sqliteStore({ path: threads });
    later(() => store.close());
    const random = randomOf(seed);
    const figures = figuresOf({
      other: "the next process started, until it had answered its first request, on another thread",
      same: "the same, on the thread whose turn was cut off",
      continued: "until recovery had continued the turn, if nobody asked its thread",
    });
    const violations: string[] = [];
    let done = 0;
    for (; done < kills && violations.length === 0; done++) {
      const during = random.pick(moments) ?? null;
      const [chat, thing] = [`chat-${done}`, `thing-${done}`];
      const question = orderOf(thing);
      // So that the process that dies also holds a thread on which nothing is under way.
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
      figures[isOther ? "other" : "same"].seconds.push(seconds());
      if (answer !== answerTo(next)) violations.push(`${chat}: the first request was answered by "${answer}"`);
      // An ask that was cut off before it was stored was never acknowledged: the page sends it again.
      if ((await store.read(chat)).every((entry) => !JSON.stringify(entry).includes(question)))
        await askAs(url, chat, question);
      if (await isAnswered(url, chat, question, patienceMs)) {
        if (isOther) figures.continued.seconds.push(seconds());
      } else violations.push(`${chat}: the turn that was cut off is not continued`);
      violations.push(...(await continuationProblems({ chat, thing, during }, { store, model, orders })));
    }
    const title = `SQLite, ${signal} ${done} times`;
    return { seed, violations, note: logged(violations, log), title, figures: Object.values(figures) };
  });

/** Looks until the page shows the answer. Looking continues nothing. */
const isAnswered = async (url: string, chat: string, question: string, patienceMs: number): Promise<boolean> => {
  const end = performance.now() + patienceMs;
  do {
    if ((await shownBy(url, chat)).includes(`assistant: ${answerTo(question)}`)) return true;
    await passed(10);
  } while (performance.now() < end);
  return false;
};

/** In which call the process is ended; null: at any moment. */
const moments: readonly (CallKind | null)[] = ["ask", "answer", null];

const otherChat = "chat-other";

/** About as long as a turn takes. */
const turnMs = 80;
