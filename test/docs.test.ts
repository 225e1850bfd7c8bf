import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import * as datasets from "@colloquy/sessions/datasets";
import * as agents from "@colloquy/sessions/agents";
import * as dialogue from "@colloquy/memories/dialogue";
import * as host from "@colloquy/host";
import * as hostPerform from "@colloquy/host/perform";
import * as hostRuntime from "@colloquy/host/runtime";
import * as hostStore from "@colloquy/host/store";
import * as interchange from "@colloquy/interchange";
import * as langchain from "@colloquy/memories/langchain";
import * as machine from "@colloquy/machine";
import * as hosting from "@colloquy/machine/hosting";
import * as inspect from "@colloquy/machine/inspect";
import * as journal from "@colloquy/machine/journal";
import * as policies from "@colloquy/machine/policies";
import * as storage from "@colloquy/machine/storage";
import * as mcp from "@colloquy/runtime-node/mcp";
import * as browser from "@colloquy/runtime-browser";
import * as node from "@colloquy/runtime-node";
import * as root from "@colloquy/runtime-test";
import * as arbitraries from "@colloquy/runtime-test/arbitraries";
import * as contracts from "@colloquy/runtime-test/contracts";
import * as laws from "@colloquy/runtime-test/laws";
import * as models from "@colloquy/runtime-test/models";
import * as opensearch from "@colloquy/runtime-test/opensearch";
import * as openSearchPackage from "@colloquy/memories/opensearch";
import * as restate from "@colloquy/runtime-restate";
import * as restateHub from "@colloquy/runtime-restate/redis";
import * as recordings from "@colloquy/runtime-test/recordings";
import * as server from "@colloquy/runtime-test/server";
import * as threadServing from "@colloquy/server";
import * as simulation from "@colloquy/runtime-test/simulate";
import * as telemetry from "@colloquy/host/telemetry";
import * as liveTelemetry from "@colloquy/host/telemetry/live";
import * as otlp from "@colloquy/host/telemetry/otlp";
import * as templates from "@colloquy/interchange/templates";
import * as tokens from "@colloquy/interchange/tokens";
import * as jinja from "@colloquy/interchange/templates/jinja";
import { z } from "zod";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as sessions from "@colloquy/sessions";
import * as terminal from "@colloquy/cli/terminal";

const repository = dirname(import.meta.dirname);
const pages = ["README.md", ...globSync("{docs,packages/*}/*.md", { cwd: repository })];

/** All that can be imported from packages of the house. */
const entryPoints = (): ReadonlySet<string> => {
  const manifests = globSync("packages/*/package.json", { cwd: repository }).map((path) =>
    manifest.parse(JSON.parse(read(path))),
  );
  return new Set(manifests.flatMap(({ name, exports }) => Object.keys(exports).map((entry) => join(name, entry))));
};

const manifest = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

const read = (path: string): string => readFileSync(join(repository, path), "utf8");

/** Output that a page shows, and the file that it comes from, as the comment before it says. */
const outputsOf = (page: string) =>
  [...read(page).matchAll(/(?:<!-- (\S+) -->\s*)?```text\n([\s\S]*?)```/g)].map(([, source = "", text = ""]) => ({
    page,
    source,
    text: text.trimEnd(),
  }));

const shown = pages.flatMap(outputsOf);

/** The programs that pages show, and what each of them says, at least in part. */
const programs = [
  {
    path: "examples/docs/agent-problems.ts",
    run: () => import("../examples/docs/agent-problems.ts"),
    says: "agent.yaml:2:8: model is 4",
  },
  {
    path: "examples/docs/dialogue.ts",
    run: () => import("../examples/docs/dialogue.ts"),
    says: 'Teacher : Hi! How\n\n\nTeacher : \n\n13 tokens; it ends at ["Child :","Child:"]\n',
  },
  { path: "examples/18-mcp.ts", run: () => import("../examples/18-mcp.ts"), says: "The sum of 2 and 3 is 5.\n" },
  {
    path: "examples/20-local-model.ts",
    run: () => import("../examples/20-local-model.ts"),
    says: "A queue is a line.\nOf people.\n",
  },
  {
    path: "examples/docs/telemetry.ts",
    run: () => import("../examples/docs/telemetry.ts"),
    says: "a body for http://localhost:4318/v1/traces\n",
  },
  {
    path: "examples/docs/templates.ts",
    run: () => import("../examples/docs/templates.ts"),
    says: "[INST] <<SYS>>Be strict.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi! How are you today ?\n\n [/INST] \n",
  },
  {
    path: "examples/19-opensearch.ts",
    run: () => import("../examples/19-opensearch.ts"),
    says: "3.0: What is the best-selling novel? Don Quixote. | Who wrote it? Miguel de Cervantes.\n3.0: 404 Memory [elsewhere] not found\n",
  },
  {
    path: "examples/docs/terminal.ts",
    run: () => import("../examples/docs/terminal.ts"),
    says: "A queue is a **line**.\n",
  },
  { path: "examples/docs/mcp.ts", run: () => import("../examples/docs/mcp.ts"), says: "Shelf 7.\nYes.\n" },
  {
    path: "examples/docs/ui-stream.ts",
    run: () => import("../examples/docs/ui-stream.ts"),
    says: "message-metadata\nfinish\ntrue\ncompleted true\ncancelled true\n",
  },
  {
    path: "examples/21-chat-backend/main.ts",
    run: () => import("../examples/21-chat-backend/main.ts"),
    says: "assistant: The money is on its way.\n",
  },
  {
    // Its agent names the tool of examples/16-agent/shelves.ts.
    path: "examples/16-agent/main.ts",
    run: () => import("../examples/16-agent/main.ts"),
    says: "It stands on shelf 7 (question 2 that I remember).\narchivist: turn 1 of ada/archivist, 87 tokens\n",
  },
  {
    path: "examples/docs/asking.ts",
    run: () => import("../examples/docs/asking.ts"),
    says: 'bad_request: no such model\ncancelled, after "It is a line "\nstopped by steps\nA queue is a line.\n',
  },
  {
    path: "examples/docs/caller-tools.ts",
    run: () => import("../examples/docs/caller-tools.ts"),
    says: "You sit in 12C.\n",
  },
  {
    path: "examples/docs/coming-from.ts",
    run: () => import("../examples/docs/coming-from.ts"),
    says: "Done: 12 euros are on their way.",
  },
  {
    path: "examples/docs/compaction.ts",
    run: () => import("../examples/docs/compaction.ts"),
    says: '{"type":"summary.completed","number":3,"covers":{"from":1,"to":3}}\n',
  },
  {
    path: "examples/08-explain.ts",
    run: () => import("../examples/08-explain.ts"),
    says: "of 4 turns 2 are whole and 2 are in part in the next prompt",
  },
  {
    path: "examples/12-branches-and-copies.ts",
    run: () => import("../examples/12-branches-and-copies.ts"),
    says: "in the copy as well: Once upon a time | answer 1 | [redacted] | [redacted] | who read books | answer 5\n",
  },
  { path: "examples/docs/configuration.ts", run: () => import("../examples/docs/configuration.ts"), says: "\n" },
  {
    path: "examples/docs/exact-counts.ts",
    run: () => import("../examples/docs/exact-counts.ts"),
    says: "conversation 13 16",
  },
  {
    path: "examples/docs/exchanging.ts",
    run: () => import("../examples/docs/exchanging.ts"),
    says: "Take one.\nsystem text\nuser text\nassistant step-start reasoning tool-forecast step-start text\n",
  },
  {
    path: "examples/docs/exporting.ts",
    run: () => import("../examples/docs/exporting.ts"),
    says: "ada: 12 calls, 4 with another prompt",
  },
  {
    path: "examples/docs/either.ts",
    run: () => import("../examples/docs/either.ts"),
    says: 'an event: system.reset\nno event: the event at "type": unknown event type "system.rest"',
  },
  {
    path: "examples/docs/sessions.ts",
    run: () => import("../examples/docs/sessions.ts"),
    says: "\n1 1\nqa 1, qa 2, copy 1, copy 2, copy 3\n1 []\n",
  },
  {
    path: "examples/15-session.ts",
    run: () => import("../examples/15-session.ts"),
    says: '"history":2,"answer":"the Seine","sure":true}\n',
  },
  { path: "examples/docs/datasets.ts", run: () => import("../examples/docs/datasets.ts"), says: "1 row of 2 examples" },
  {
    path: "examples/docs/langchain.ts",
    run: () => import("../examples/docs/langchain.ts"),
    says: "You said that you are Ada.\n",
  },
  { path: "examples/docs/rerun.ts", run: () => import("../examples/docs/rerun.ts"), says: "ada: 2 turns asked again" },
  {
    path: "examples/docs/embedding.ts",
    run: () => import("../examples/docs/embedding.ts"),
    says: "I do not know whether it worked.\n",
  },
  {
    path: "examples/docs/reading-parts.ts",
    run: () => import("../examples/docs/reading-parts.ts"),
    says: "answered: ",
  },
  {
    path: "examples/docs/rejoining.ts",
    run: () => import("../examples/docs/rejoining.ts"),
    says: "A queue is a line that is served from the front.\n",
  },
  { path: "examples/docs/failures.ts", run: () => import("../examples/docs/failures.ts"), says: "timeout" },
  { path: "examples/docs/handler.ts", run: () => import("../examples/docs/handler.ts"), says: "IS ANYBODY THERE?\n" },
  {
    path: "examples/docs/http-handler.ts",
    run: () => import("../examples/docs/http-handler.ts"),
    says: "All is well.\n",
  },
  { path: "examples/docs/journal.ts", run: () => import("../examples/docs/journal.ts"), says: "\ntrue\n" },
  {
    path: "examples/docs/resuming.ts",
    run: () => import("../examples/docs/resuming.ts"),
    says: "A line that is served from the front.",
  },
  {
    path: "examples/docs/outputs.ts",
    run: () => import("../examples/docs/outputs.ts"),
    says: "invalid 1 Sorry, I have no idea.",
  },
  { path: "examples/docs/observing.ts", run: () => import("../examples/docs/observing.ts"), says: "1 completed" },
  {
    path: "examples/docs/policies.ts",
    run: () => import("../examples/docs/policies.ts"),
    says: "16646 of 28000 tokens, from turn 312 on: older than what fits into 28000 tokens",
  },
  {
    path: "examples/docs/reading-results.ts",
    run: () => import("../examples/docs/reading-results.ts"),
    says: "read_result gives k and stormy night. The butler did it.\n",
  },
  {
    path: "examples/docs/serving.ts",
    run: () => import("../examples/docs/serving.ts"),
    says: "function_call\nfunction_call, message true\n",
  },
  {
    path: "examples/docs/tools.ts",
    run: () => import("../examples/docs/tools.ts"),
    says: 'alarm completed Set for 7:00 under t/1.1.1#1.\nforecast completed {"city":"Oslo","days":2,"sky":"clear","for":"ada","in":"eu"}\n',
  },
  {
    path: "examples/docs/transition.ts",
    run: () => import("../examples/docs/transition.ts"),
    says: '["publish","callLlm"]\n["tea/1.1#1"]\ncompleted\nstale true\n',
  },
];

/** Those that need a server, which the gate has where `pnpm engines:install` has got one. */
const onRestate = [
  {
    path: "examples/22-restate.ts",
    run: () => import("../examples/22-restate.ts"),
    says: "\n-- the worker is gone: nothing runs, and the question waits\n",
  },
];
const isThere = process.env["COLLOQUY_RESTATE_URL"] !== undefined;

describe("the programs that the documentation shows", () => {
  afterEach(() => vi.restoreAllMocks());

  it.each(isThere ? [...programs, ...onRestate] : programs)(
    "$path says what it should",
    async ({ path, run, says }) => {
      const said = await outputOf(run);

      const texts = shown.filter(({ source }) => source === path).map(({ text }) => text);
      for (const text of [says, ...texts]) expect(said).toContain(text);
    },
  );
});

/** The programs of other libraries that docs/coming-from.md shows: they are type-checked, and not run. */
const elsewhere = [
  "examples/docs/elsewhere/ai-sdk.ts",
  "examples/docs/elsewhere/langgraph.ts",
  "examples/docs/elsewhere/openai-agents.ts",
];

describe("what docs/coming-from.md shows of other libraries", () => {
  it.each(elsewhere)("is all of %s", (path) => {
    const [, ...code] = read(path).split("\n");
    expect(read("docs/coming-from.md")).toContain(code.join("\n").trim());
  });
});

describe("what a page shows", () => {
  it.each(shown)("output of $source on $page is that of a program above, or stands in the file", ({ source, text }) => {
    const comesFromHere = programs.some(({ path }) => path === source) || read(source).includes(text);
    expect(comesFromHere, "a comment before it names where it comes from").toBe(true);
  });
});

describe("the pages are whole", () => {
  const testing = [root, models, server, opensearch, contracts, laws, recordings, simulation];

  const ofMachine = [machine, policies, journal, inspect, storage, hosting];
  const about = ["conversation", "threads", "outputs", "interchange", "stores", "models", "chat-backend"].map(
    (name) => `docs/${name}.md`,
  );

  it.each([
    { page: "docs/prompts.md", modules: [...ofMachine, interchange] },
    { page: "docs/host.md", modules: [host, hostStore, hostPerform, node] },
    { page: "docs/agents.md", modules: [agents] },
    { page: "docs/testing.md", modules: testing },
    { page: "docs/datasets.md", modules: [datasets] },
    { page: "docs/engine.md", modules: [restate, restateHub] },
    { page: "docs/mcp.md", modules: [mcp] },
    { page: "docs/dialogue.md", modules: [dialogue] },
    { page: "docs/opensearch.md", modules: [openSearchPackage] },
    { page: "docs/sessions.md", modules: [sessions] },
    { page: "docs/templates.md", modules: [templates, jinja] },
    { page: "docs/langchain.md", modules: [langchain] },
    { page: "docs/server.md", modules: [threadServing] },
    { page: "docs/telemetry.md", modules: [telemetry, liveTelemetry, otlp] },
  ])("$page names all that its packages export", ({ page, modules }) => {
    const readPages = [...about, page];
    const text = readPages.map(read).join("\n");
    const names = modules.flatMap((module) => Object.keys(module));
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
    const faults = Object.keys(simulation.defaultFaults);
    expect(faults.filter((fault) => !read("docs/testing.md").includes(`\`${fault}\``))).toEqual([]);
  });

  it.each([
    { name: "machine", modules: ofMachine },
    { name: "interchange", modules: [interchange, tokens, templates, jinja] },
    { name: "sessions", modules: [sessions, agents, datasets] },
    { name: "memories", modules: [langchain, openSearchPackage, dialogue] },
    { name: "host", modules: [host, hostStore, hostPerform, hostRuntime, telemetry, liveTelemetry, otlp] },
    { name: "runtime-node", modules: [node, mcp] },
    { name: "runtime-browser", modules: [browser] },
    { name: "runtime-restate", modules: [restate, restateHub] },
    { name: "runtime-test", modules: [...testing, arbitraries] },
    { name: "cli", modules: [terminal] },
  ])("the README of $name names what is there", ({ name, modules }) => {
    const rows = [...read(`packages/${name}/README.md`).matchAll(/^\| (`[^|]*) \|/gm)].map(([, names = ""]) => names);
    const named = rows.flatMap((names) => names.split(",").map((each) => each.replaceAll(/[` ]/g, "")));
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((each) => modules.every((module) => !(each in module)))).toEqual([]);
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

/** As GitHub makes them from headings. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

/** What a program writes while it runs. */
const outputOf = async (run: () => Promise<unknown>): Promise<string> => {
  const said: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...values: unknown[]) => {
    said.push(`${values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ")}\n`);
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  await run();
  return said.join("");
};
