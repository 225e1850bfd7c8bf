import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as passed } from "node:timers/promises";

import { parseSync } from "oxc-parser";

import { ending } from "../kit/calls.ts";
import { askAs, shownBy } from "../kit/chat-page.ts";
import { withCleanup } from "../kit/cleanup.ts";
import { withProgram } from "../kit/program.ts";
import { medianOf } from "../kit/report.ts";
import { Served } from "../kit/served.ts";
import { timesOrdered } from "./check.ts";
import { answerTo, openShop, orderOf } from "./shop-model.ts";

/**
 * Makes the docs' table for the same backend in both libraries, each killed `kills` times between a tool and the
 * answer.
 */
export const besideAiSdk = async (kills: number): Promise<string> => {
  const measured = await Promise.all(sides.map((side) => measure(side, kills)));
  const seconds = (of: (side: Measured) => readonly number[]): readonly string[] =>
    measured.map((side) => medianOf(of(side).toSorted((one, other) => one - other)).toFixed(1));
  return [
    ...countedRows(),
    row(
      "seconds from the start of the next process to its first answer",
      seconds(({ first }) => first),
    ),
    row(
      "seconds to the answer of the turn under way",
      seconds(({ continued }) => continued),
    ),
    row(
      "orders made for one that was asked for",
      measured.map(({ orders }) => orders.join(" or ")),
    ),
  ].join("\n");
};

export const countedRows = (): readonly string[] => {
  const sources = sides.map(({ source }) => sourceOf(readFileSync(source, "utf8")));
  const counts = (of: (source: Source) => number): readonly string[] => sources.map((source) => String(of(source)));
  return [
    row(`killed by kill -9 between a tool and the answer`, ["Colloquy", "AI SDK"]),
    row("---", ["---", "---"]),
    row(
      "lines of code of the backend",
      counts(({ lines }) => lines),
    ),
    row(
      "names imported from packages",
      counts(({ imported }) => imported),
    ),
    row(
      "names imported from Node",
      counts(({ ofNode }) => ofNode),
    ),
  ];
};

const row = (name: string, cells: readonly string[]): string => `| ${[name, ...cells].join(" | ")} |`;

interface Source {
  readonly lines: number;
  readonly imported: number;
  readonly ofNode: number;
}

/** Counts the lines of a source that have code, and the distinct names that it imports. */
const sourceOf = (text: string): Source => {
  const { module, comments } = parseSync("source.ts", text);
  const code = comments.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
  const names = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.map(({ localName }) => ({ name: localName.value, isOfNode: moduleRequest.value.startsWith("node:") })),
  );
  return {
    lines: code.split("\n").filter((line) => line.trim() !== "").length,
    imported: names.filter(({ isOfNode }) => !isOfNode).length,
    ofNode: names.filter(({ isOfNode }) => isOfNode).length,
  };
};

interface Side {
  readonly source: URL;
  readonly place: (folder: string) => Readonly<Record<string, string>>;
}

const sides: readonly Side[] = [
  {
    source: new URL("../../examples/28-node/server.ts", import.meta.url),
    place: (folder) => ({ THREADS: join(folder, "threads.db") }),
  },
  {
    source: new URL("../../examples/docs/elsewhere/ai-sdk-chat.ts", import.meta.url),
    place: (folder) => ({ CHATS: join(folder, "chats") }),
  },
];

interface Measured {
  readonly first: readonly number[];
  readonly continued: readonly number[];
  /** The number of orders of each thing, without repetitions. */
  readonly orders: readonly number[];
}

const measure = ({ source, place }: Side, kills: number): Promise<Measured> =>
  withProgram(source, (program) =>
    withCleanup(async (later) => {
      const { folder, model, orders: file, log, variables } = await openShop(later);
      const backend = new Served(program, { variables: { ...variables, ...place(folder) }, log });
      later(() => backend.kill());
      const [first, continued, orders]: [number[], number[], Set<number>] = [[], [], new Set()];
      let url = await backend.start();
      for (let number = 0; number < kills; number++) {
        const [chat, thing] = [`chat-${number}`, `thing-${number}`];
        const held = model.hold(orderOf(thing), "answer");
        const cutOff = askAs(url, chat, orderOf(thing)).catch(() => "");
        await ending("the call for the answer", patienceMs, held);
        await backend.kill();
        await cutOff;
        const began = performance.now();
        url = await backend.start();
        await askAs(url, "chat-other", `after ${number}`);
        first.push((performance.now() - began) / 1000);
        await ending("the turn under way", patienceMs, untilAnswered(url, chat, answerTo(orderOf(thing))));
        continued.push((performance.now() - began) / 1000);
        orders.add(timesOrdered(file, thing));
      }
      return { first, continued, orders: [...orders].toSorted((one, other) => one - other) };
    }),
  );

const untilAnswered = async (url: string, chat: string, answer: string): Promise<void> => {
  while (!(await shownBy(url, chat)).includes(`assistant: ${answer}`)) await passed(10);
};

const patienceMs = 60_000;
