import { postgresStore } from "@colloquy/runtime-node/postgres";
import pg from "pg";

import { ending, NeverEnds } from "../kit/calls.ts";
import { askAs } from "../kit/chat-page.ts";
import { type Later, withCleanup } from "../kit/cleanup.ts";
import { proxyTo } from "../kit/proxy.ts";
import type { SeededRun } from "../kit/report.ts";
import { Served } from "../kit/served.ts";
import { continuationProblems } from "./check.ts";
import {
  answerTo,
  type BackendOptions,
  type CallKind,
  logged,
  type ModelCall,
  openShop,
  orderOf,
  type ShopModel,
} from "./shop-model.ts";

interface TakeoversOptions extends BackendOptions {
  /** How the holder of a thread is lost: by kill -9, or by a link to PostgreSQL that goes silent both ways. */
  readonly way: "kill" | "cut";
  /** The server, or a pooler in front of it. */
  readonly url: string;
  readonly isPooled: boolean;
}

/** Runs two instances of the backend on one PostgreSQL. Loses one in the middle of a turn, and asks the other. */
export const takeOver = (program: string, options: TakeoversOptions): Promise<SeededRun> =>
  withCleanup(async (later) => {
    const { way, takeovers, isPooled, seed, patienceMs } = options;
    const { first, second, link, store, model, orders, log } = await twoInstances(program, options.url, later);
    const [answered, between]: [number[], number[]] = [[], []];
    const violations: string[] = [];
    let done = 0;
    for (; done < takeovers && violations.length === 0; done++) {
      const during = moments[done % moments.length] ?? "ask";
      const [chat, thing] = [`chat-${done}`, `thing-${done}`];
      const question = orderOf(thing);
      const held = model.hold(question, during);
      const cutOff = askAs(first.url ?? "", chat, question).catch(() => "");
      const call = await ending("the call", patienceMs, held);
      const began = performance.now();
      if (way === "kill") await first.kill();
      else link.hold();
      // A page whose connection broke sends its message again, or its user asks the next question.
      const next = done % 4 < 2 ? question : `after ${done}`;
      const answer = await within(patienceMs, askAs(second.url ?? "", chat, next));
      if (answer === answerTo(next)) answered.push((performance.now() - began) / 1000);
      else violations.push(`${chat}: the other instance ${answer === null ? "did not answer" : `said "${answer}"`}`);
      if (way === "kill") await first.start();
      else
        violations.push(
          ...(await outlivesCut({
            call,
            cutOff,
            deliver: link.deliver,
            chat,
            options,
            model,
            between,
          })),
        );
      // The instance that was lost serves the thread again.
      const again = `again ${done}`;
      const late = violations.length > 0 ? null : await within(patienceMs, askAs(first.url ?? "", chat, again));
      if (late !== answerTo(again)) violations.push(`${chat}: the instance that was lost does not serve it again`);
      violations.push(...(await continuationProblems({ chat, thing, during }, { store, model, orders })));
    }
    const loss = way === "kill" ? "kill -9" : "a link that is cut in silence";
    const at = `PostgreSQL${isPooled ? " behind PgBouncer" : ""}, ${loss}:`;
    return {
      seed,
      violations,
      note: logged(violations, log),
      counts: { [`of ${loss}`]: done },
      seconds: {
        [`${at} from the loss of the holder to the answer of the other instance`]: answered,
        [`${at} of these no instance works on the turn`]: between,
      },
    };
  });

/** Checks that the lost holder stops its work, and that its page shows the answer or nothing. */
const outlivesCut = async ({
  call,
  cutOff,
  deliver,
  chat,
  options: { patienceMs },
  between,
  model,
}: {
  readonly call: ModelCall;
  readonly cutOff: Promise<string>;
  readonly deliver: () => Promise<void>;
  readonly chat: string;
  readonly options: TakeoversOptions;
  readonly between: number[];
  readonly model: ShopModel;
}): Promise<readonly string[]> => {
  const gone = await within(patienceMs, call.gone);
  const next = model.calls.find(({ question, begun }) => question === call.question && begun > call.begun);
  if (gone !== null && next !== undefined) between.push((next.begun - gone) / 1000);
  await within(patienceMs, deliver());
  const shown = await within(patienceMs, cutOff);
  return [
    ...(gone === null ? [`${chat}: the instance whose link was cut continues its work`] : []),
    ...(shown === null ? [`${chat}: the page of the instance whose link was cut waits for ever`] : []),
    ...(shown === null || shown === "" || shown === answerTo(call.question)
      ? []
      : [`${chat}: the instance whose link was cut said "${shown}"`]),
  ];
};

const twoInstances = async (program: string, server: string, later: Later) => {
  const shop = await openShop(later);
  const url = await newDatabase(server, later);
  const link = await proxyTo(url);
  later(() => link.close());
  const served = (to: string): Served =>
    new Served(program, { variables: { ...shop.variables, DATABASE_URL: to }, log: shop.log });
  const [first, second] = [served(link.url), served(url)];
  for (const instance of [first, second]) later(() => instance.kill());
  await Promise.all([first.start(), second.start()]);
  const store = postgresStore({ connectionString: url });
  later(() => store.close());
  return { ...shop, first, second, link, store };
};

let databases = 0;

const newDatabase = async (server: string, later: Later): Promise<string> => {
  const name = `backend_${process.pid}_${(databases += 1)}`;
  await query(server, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  later(() => query(server, `DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(server);
  url.pathname = name;
  return url.href;
};

const query = async (connectionString: string, text: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
};

const within = <A>(ms: number, call: Promise<A>): Promise<A | null> =>
  ending("it", ms, call).catch((error: unknown) => {
    if (error instanceof NeverEnds) return null;
    throw error;
  });

const moments: readonly CallKind[] = ["ask", "answer"];
