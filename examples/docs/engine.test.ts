// Runs the programs of docs/engine.md as their readers do, with a model on loopback in place of OpenAI's.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const restate = process.env["COLLOQUY_RESTATE_URL"] ?? "";
const redis = process.env["COLLOQUY_REDIS_URL"] ?? "";
const leftOut =
  restate === "" || redis === "" ? " (left out: `pnpm engines:install`, then `pnpm servers pnpm test`)" : "";

const root = join(import.meta.dirname, "../..");

const answer = "The money is on its way.";

describe.skipIf(leftOut !== "")(`the programs of docs/engine.md${leftOut}`, () => {
  const model = ruleModel([
    { name: "it is refunded", when: ({ toolResults }) => toolResults.length > 0, answer: () => answer },
    { name: "else", when: () => true, answer: () => toolCalls([{ name: "refund", arguments: { order: 5 } }]) },
  ]);
  const started: ChildProcess[] = [];
  let server: Awaited<ReturnType<typeof loopbackServer>>;

  const folder = mkdtempSync(join(tmpdir(), "colloquy-engine-"));

  beforeAll(async () => {
    server = await loopbackServer({ model });
  });
  afterAll(async () => {
    for (const child of started) child.kill("SIGKILL");
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const start = (program: string): ChildProcess => {
    const env = {
      ...process.env,
      RESTATE_URL: restate,
      RESTATE_ADMIN_URL: process.env["COLLOQUY_RESTATE_ADMIN_URL"],
      REDIS_URL: redis,
      PORT: "0",
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: server.url,
    };
    const child = spawn(process.execPath, [join(root, program)], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.push(child);
    return child;
  };

  /** Returns the output of the child and its exit code. */
  const ended = async (child: ChildProcess) => {
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => void (said += text));
    const [code] = await once(child, "close");
    return { said, code };
  };

  test("a worker and a host work in one process", async () => {
    expect(await ended(start("examples/docs/engine/assistant.ts"))).toEqual({ said: `${answer}\n`, code: 0 });
  });

  test("a worker and a host work in two processes, and a thread moves into a file and back", async () => {
    const worker = start("examples/docs/engine/worker.ts");
    await once(createInterface(worker.stdout ?? process.stdin), "line");
    expect(await ended(start("examples/docs/engine/ask.ts"))).toEqual({ said: `${answer}\n`, code: 0 });
    expect(await ended(start("examples/docs/engine/move.ts"))).toEqual({ said: `${answer}\n`, code: 0 });
    expect(await ended(start("examples/docs/engine/ask.ts"))).toEqual({ said: `${answer}\n`, code: 0 });
    const end = once(worker, "exit");
    worker.kill("SIGTERM");
    expect(await end).toEqual([0, null]);
  });
});
