import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import * as terminal from "@colloquy/cli/terminal";
import * as host from "@colloquy/host";
import * as journal from "@colloquy/machine/journal";
import * as node from "@colloquy/runtime-node";
import { defaultFaults } from "@colloquy/runtime-test/simulate";
import { z } from "zod";
import { afterEach, describe, expect, it, vi } from "vitest";

const repository = dirname(import.meta.dirname);
const pages = ["README.md", ...globSync("{docs,packages/*}/*.md", { cwd: repository })];

/** Returns all entry points of our packages. */
const entryPoints = (): ReadonlySet<string> => {
  const manifests = globSync("packages/*/package.json", { cwd: repository }).map((path) =>
    manifest.parse(JSON.parse(read(path))),
  );
  return new Set(manifests.flatMap(({ name, exports }) => Object.keys(exports).map((entry) => join(name, entry))));
};

const manifest = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

const read = (path: string): string => readFileSync(join(repository, path), "utf8");

/** Returns the outputs that a page shows, each with the source file that the comment before it names. */
const outputsOf = (page: string) =>
  [...read(page).matchAll(/(?:<!-- (\S+) -->\s*)?```text\n([\s\S]*?)```/g)].map(([, source = "", text = ""]) => ({
    page,
    source,
    text: text.trimEnd(),
  }));

const shown = pages.flatMap(outputsOf);

/** The programs that pages show, each with a part of its output. */
const programs: readonly (readonly [path: string, says: string])[] = [
  ["examples/docs/agent-problems.ts", "agent.yaml:2:8: model is 4"],
  ["examples/docs/dialogue.ts", 'Teacher : Hi! How\n\n\nTeacher : \n\n13 tokens; it ends at ["Child :","Child:"]\n'],
  ["examples/18-mcp.ts", "The sum of 2 and 3 is 5.\n"],
  ["examples/20-local-model.ts", "A queue is a line.\nOf people.\n"],
  ["examples/docs/telemetry.ts", "a body for http://localhost:4318/v1/traces\n"],
  [
    "examples/docs/templates.ts",
    "[INST] <<SYS>>Be strict.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi! How are you today ?\n\n [/INST] \n",
  ],
  [
    "examples/19-opensearch.ts",
    "3.0: What is the best-selling novel? Don Quixote. | Who wrote it? Miguel de Cervantes.\n3.0: 404 Memory [elsewhere] not found\n",
  ],
  ["examples/docs/terminal.ts", "A queue is a **line**.\n"],
  ["examples/docs/mcp.ts", "Shelf 7.\nYes.\n"],
  ["examples/docs/ui-stream.ts", "message-metadata\nfinish\ntrue\ncompleted true\ncancelled true\n"],
  ["examples/21-chat-backend/main.ts", "assistant: The money is on its way.\n"],
  // Its agent names the tool of examples/16-agent/shelves.ts.
  [
    "examples/16-agent/main.ts",
    "It stands on shelf 7 (question 2 that I remember).\narchivist: turn 1 of ada/archivist, 87 tokens\n",
  ],
  [
    "examples/docs/asking.ts",
    'bad_request: no such model\ncancelled, after "It is a line "\nstopped by steps\nA queue is a line.\n',
  ],
  ["examples/docs/what-it-is-for.ts", ""],
  [
    "examples/docs/how-do-i-ask.ts",
    "kept: Once upon a time \nThe other model answers.\nFrom Claude.\n12 euros.\nNothing new.\nthinks: What would Ada say?\nsays: 42.\n[true,true]\nBonjour.\ntrue Three.\nOne. Later.\n",
  ],
  ["examples/docs/how-do-i-prompt.ts", "5007 tokens of 400\nIt depends.\n4 messages; the first has 1 part\n"],
  ["examples/docs/how-do-i-tools.ts", 'done /films/emma.mp4\nOrdered. ["kettle"]\nHere they are.\nLimitReachedError: '],
  [
    "examples/docs/how-do-i-data.ts",
    '["ada_1","ada_2"]\n0 hits\nanswer 3\nanswer 5\n["ada_1","ada_2"]\nleft: ["grace_1","grace_2"]\n',
  ],
  ["examples/docs/how-do-i-run.ts", "1.20 USD\nAda has no credit left.\n"],
  ["examples/docs/caller-tools.ts", "You sit in 12C.\n"],
  ["examples/docs/calls.ts", "waits for the model\nA line.\nA pile.\n"],
  ["examples/docs/coming-from.ts", "Done: 12 euros are on their way."],
  ["examples/docs/compaction.ts", '{"type":"summary.completed","number":3,"covers":{"from":1,"to":3}}\n'],
  ["examples/08-explain.ts", "of 4 turns 2 are whole and 2 are in part in the next prompt"],
  [
    "examples/12-branches-and-copies.ts",
    "in the copy as well: Once upon a time | answer 1 | [redacted] | [redacted] | who read books | answer 5\n",
  ],
  ["examples/docs/configuration.ts", "\n"],
  ["examples/docs/deleting-data.ts", "0 hits\n0 threads\n"],
  ["examples/docs/exact-counts.ts", "conversation 13 16"],
  [
    "examples/docs/exchanging.ts",
    "Take one.\nsystem text\nuser text\nassistant step-start reasoning tool-forecast step-start text\n",
  ],
  ["examples/docs/exporting.ts", "ada: 12 calls, 4 with another prompt"],
  [
    "examples/docs/either.ts",
    'an event: system.reset\nno event: the event at "type": unknown event type "system.rest"',
  ],
  ["examples/docs/sessions.ts", "\n1 1\nqa 1, qa 2, copy 1, copy 2, copy 3\n1 []\n"],
  ["examples/15-session.ts", '"history":2,"answer":"the Seine","sure":true}\n'],
  ["examples/docs/datasets.ts", "1 row of 2 examples"],
  ["examples/docs/langchain.ts", "You said that you are Ada.\n"],
  ["examples/docs/rerun.ts", "ada: 2 turns asked again"],
  ["examples/docs/embedding.ts", "I do not know whether it worked.\n"],
  ["examples/docs/reading-parts.ts", "answered: "],
  ["examples/docs/rejoining.ts", "A queue is a line that is served from the front.\n"],
  ["examples/docs/failures.ts", "timeout"],
  ["examples/docs/handler.ts", "IS ANYBODY THERE?\n"],
  ["examples/docs/http-handler.ts", "All is well.\n"],
  ["examples/docs/journal.ts", "\ntrue\n"],
  [
    "examples/docs/managing-threads.ts",
    'trip-1: {"user":"ada","topic":"Oslo"} null\ntrip-1, entry 4: The budget is 300 euros.\n',
  ],
  ["examples/docs/resuming.ts", "A line that is served from the front."],
  ["examples/docs/outputs.ts", "invalid 1 Sorry, I have no idea."],
  ["examples/docs/observing.ts", "1 completed"],
  ["examples/docs/policies.ts", "16646 of 28000 tokens, from turn 312 on: older than what fits into 28000 tokens"],
  ["examples/docs/reading-results.ts", "read_result gives k and stormy night. The butler did it.\n"],
  ["examples/docs/sharing.ts", "edit it when the other host is done\n1 2\n"],
  ["examples/docs/sqlite.ts", "3\n1\n%4Frder%2017.jsonl\n"],
  [
    "examples/docs/stopping.ts",
    'deadlineMs after 5000 ms, shown: "It is "\ncancelled: the client is gone\ncancelled\nA stack is a pile.\n',
  ],
  ["examples/docs/serving.ts", "function_call\nfunction_call, message true\n"],
  [
    "examples/docs/tools.ts",
    'alarm completed Set for 7:00 under t/1.1.1#1.\nforecast completed {"city":"Oslo","days":2,"sky":"clear","for":"ada","in":"eu"}\n',
  ],
  ["examples/docs/transition.ts", '["publish","callLlm"]\n["tea/1.1#1"]\ncompleted\nstale true\n'],
];

/** Programs that need a server, which an environment variable names. The gate starts each of these servers. */
const onServers = [
  ["COLLOQUY_RESTATE_URL", "examples/22-restate.ts", "\n-- the worker is gone: nothing runs, and the question waits\n"],
  ["COLLOQUY_POSTGRES_URL", "examples/docs/postgres.ts", "A line.\n"],
  ["COLLOQUY_REDIS_URL", "examples/docs/redis.ts", "A line.\n"],
] as const;
const servedPrograms = onServers.flatMap(([variable, path, says]): readonly (readonly [string, string])[] =>
  process.env[variable] === undefined ? [] : [[path, says]],
);

describe("the programs that the documentation shows", () => {
  afterEach(() => vi.restoreAllMocks());

  it.each([...programs, ...servedPrograms])("%s says what it should", async (path, says) => {
    const said = await outputOf(path);
    const texts = shown.filter(({ source }) => source === path).map(({ text }) => text);
    for (const text of [says, ...texts]) expect(said).toContain(text);
  });
});

/** The programs of other libraries that docs/coming-from.md shows. They are type-checked, not run. */
const elsewhere = [
  "examples/docs/elsewhere/ai-sdk.ts",
  "examples/docs/elsewhere/langgraph.ts",
  "examples/docs/elsewhere/openai-agents.ts",
];

it.each(elsewhere)("what docs/coming-from.md shows of other libraries is all of %s", (path) => {
  const [, ...code] = read(path).split("\n");
  expect(read("docs/coming-from.md")).toContain(code.join("\n").trim());
});

it.each(shown)(
  "what a page shows output of $source on $page is that of a program above, or stands in the file",
  ({ source, text }) => {
    const comesFromHere = programs.some(([path]) => path === source) || read(source).includes(text);
    expect(comesFromHere, "a comment before it names where it comes from").toBe(true);
  },
);

describe("the pages are whole", () => {
  const testing = ["", "/models", "/server", "/opensearch", "/contracts", "/laws", "/recordings", "/simulate"].map(
    (entry) => `runtime-test${entry}`,
  );

  const ofMachine = ["", "/policies", "/journal", "/inspect", "/storage", "/hosting"].map((entry) => `machine${entry}`);
  const about = (
    "conversation threads outputs interchange models chat-backend host asking stopping managing-threads tools " +
    "approvals recovery observing model-calls own-host stores sqlite postgres redis indexeddb deleting-data own-store"
  )
    .split(" ")
    .map((name) => `docs/${name}.md`);

  it.each([
    { page: "docs/prompts.md", modules: [...ofMachine, "interchange"] },
    { page: "docs/host-reference.md", modules: ["host", "host/store", "host/perform", "runtime-node"] },
    { page: "docs/agents.md", modules: ["sessions/agents"] },
    { page: "docs/testing.md", modules: testing },
    { page: "docs/datasets.md", modules: ["sessions/datasets"] },
    { page: "docs/engine.md", modules: ["runtime-restate", "runtime-restate/redis"] },
    { page: "docs/mcp.md", modules: ["runtime-node/mcp"] },
    { page: "docs/dialogue.md", modules: ["memories/dialogue"] },
    { page: "docs/opensearch.md", modules: ["memories/opensearch"] },
    { page: "docs/sessions.md", modules: ["sessions"] },
    { page: "docs/templates.md", modules: ["interchange/templates", "interchange/templates/jinja"] },
    { page: "docs/langchain.md", modules: ["memories/langchain"] },
    { page: "docs/server.md", modules: ["server"] },
    { page: "docs/telemetry.md", modules: ["host/telemetry", "host/telemetry/live", "host/telemetry/otlp"] },
  ])("$page names all that its packages export", async ({ page, modules }) => {
    const readPages = [...about, page];
    const text = readPages.map(read).join("\n");
    const names = await exportedBy(modules);
    const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
    expect(missing, `looked for in ${readPages.join(", ")}`).toEqual([]);
  });

  it("docs/conversation.md has a row for each event", () => {
    const unknown = journal.decodeEvent({ type: "" });
    const known = "left" in unknown ? unknown.left.reason.replace(/.*Known are: /, "").split(", ") : [];
    expect(known.length).toBeGreaterThan(10);
    expect(known.filter((event) => !read("docs/conversation.md").includes(`\n| \`${event}\``))).toEqual([]);
  });

  it("docs/testing.md names each fault", () => {
    const faults = Object.keys(defaultFaults);
    expect(faults.filter((fault) => !read("docs/testing.md").includes(`\`${fault}\``))).toEqual([]);
  });

  it.each([
    { name: "machine", modules: ofMachine },
    {
      name: "interchange",
      modules: ["interchange", "interchange/tokens", "interchange/templates", "interchange/templates/jinja"],
    },
    { name: "sessions", modules: ["sessions", "sessions/agents", "sessions/datasets"] },
    { name: "memories", modules: ["memories/langchain", "memories/opensearch", "memories/dialogue"] },
    {
      name: "host",
      modules: [
        "host",
        "host/store",
        "host/perform",
        "host/runtime",
        "host/telemetry",
        "host/telemetry/live",
        "host/telemetry/otlp",
      ],
    },
    { name: "runtime-node", modules: ["runtime-node", "runtime-node/mcp"] },
    { name: "runtime-browser", modules: ["runtime-browser"] },
    { name: "runtime-restate", modules: ["runtime-restate", "runtime-restate/redis"] },
    { name: "runtime-test", modules: [...testing, "runtime-test/arbitraries"] },
    { name: "cli", modules: [terminal] },
  ])("the README of $name names what is there", async ({ name, modules }) => {
    const rows = [...read(`packages/${name}/README.md`).matchAll(/^\| (`[^|]*) \|/gm)].map(([, names = ""]) => names);
    const named = rows.flatMap((names) => names.split(",").map((each) => each.replaceAll(/[` ]/g, "")));
    expect(named.length).toBeGreaterThan(3);
    const there = new Set(await exportedBy(modules));
    expect(named.filter((each) => !there.has(each))).toEqual([]);
  });

  it("the README of runtime-node names all that the package adds to the host", () => {
    const added = Object.keys(node).filter((name) => !(name in host));
    const page = read("packages/runtime-node/README.md");
    expect(added.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it("docs/migration.md leads from entry points that are gone to those that are there", () => {
    const rows = [...read("docs/migration.md").matchAll(/^\| `(@[^`]*)` *\| `(@[^`]*)` *\|$/gm)];
    const there = entryPoints();
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter(([, from = ""]) => there.has(from))).toEqual([]);
    expect(rows.filter(([, , to = ""]) => !there.has(to))).toEqual([]);
  });

  it("no two decisions have one number, and each says its own", () => {
    const decisions = globSync("docs/decisions/*.md", { cwd: repository }).toSorted();
    const numbers = decisions.map((path) => Number(/\/(\d{4})-/u.exec(path)?.[1]));
    expect(numbers).toEqual(decisions.map((_, index) => index + 1));
    expect(decisions.map((path) => Number(/^# (\d+)\. /u.exec(read(path))?.[1]))).toEqual(numbers);
  });

  it.each(pages)("%s links to what is there", (page) => {
    for (const [, path = "", anchor] of read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const file = path === "" ? page : join(dirname(page), path);
      expect(globSync(file, { cwd: repository }), `${page}: ${path}`).not.toEqual([]);
      const anchors = anchor === undefined ? [anchor] : anchorsOf(read(file));
      expect(anchors, `${page}: ${path}#${anchor ?? ""}`).toContain(anchor);
    }
  });
});

/** Returns the names that modules or entry points export. */
const exportedBy = async (modules: readonly (string | object)[]): Promise<readonly string[]> => {
  const names = modules.map(async (each) =>
    Object.keys(Object(typeof each === "string" ? await import(`@colloquy/${each}`) : each)),
  );
  return (await Promise.all(names)).flat();
};

/** Returns the anchors that GitHub makes from headings. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

/** Returns the output of a program. */
const outputOf = async (path: string): Promise<string> => {
  const said: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...values: unknown[]) => {
    said.push(`${values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ")}\n`);
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  await import(join(repository, path));
  return said.join("");
};
