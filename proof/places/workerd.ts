import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { rolldown } from "rolldown";

import { inFolder } from "../kit/folder.ts";

/**
 * Asks the example's worker, kills its process in the middle of the second turn, and starts it again on the same disk: the
 * turn comes to its end, each question and each answer is there once, and the first model call is not made again.
 */
export const inWorkerd = (root: string, program: string): Promise<readonly string[]> =>
  inFolder("workerd", async (folder) => {
    const bundle = await rolldown({
      input: join(root, "examples/25-cloudflare-worker/worker.ts"),
      platform: "browser",
    });
    await bundle.write({ file: join(folder, "worker.js"), format: "es", codeSplitting: false });
    await bundle.close();
    copyFileSync(join(root, "examples/25-cloudflare-worker/config.capnp"), join(folder, "config.capnp"));
    mkdirSync(join(folder, "disk"));
    const model = new HeldModel();
    await using server = await loopbackServer({ model: model.handler });
    const start = (): Promise<Started> => startWorkerd(program, folder, server.url);
    const first = await start();
    const answer = await (
      await fetch(first.url, { method: "POST", body: "First?", signal: AbortSignal.timeout(patienceMs) })
    ).text();
    model.holds = true;
    const cut = fetch(first.url, { method: "POST", body: "Second?" }).then(
      (response) => response.text(),
      () => "the process died",
    );
    void cut.catch(() => {});
    await model.called;
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    model.holds = false;
    const second = await start();
    try {
      const third = await (
        await fetch(second.url, { method: "POST", body: "Third?", signal: AbortSignal.timeout(patienceMs) })
      ).text();
      const said = await (await fetch(second.url, { signal: AbortSignal.timeout(patienceMs) })).text();
      const expected = ["First?", "Second?", "Third?"].flatMap((text) => [`user: ${text}`, `assistant: on ${text}`]);
      return [
        ...(answer === "on First?" ? [] : [`the first answer is ${answer}`]),
        ...(third === "on Third?" ? [] : [`the third answer is ${third}`]),
        ...(said === expected.join("\n") ? [] : [`what was said is\n${said}`]),
        ...(model.calls.join() === "First?,Second?,Second?,Third?"
          ? []
          : [`the model was asked ${model.calls.join()}`]),
      ];
    } finally {
      second.child.kill("SIGKILL");
    }
  });

const patienceMs = 20_000;

interface Started {
  readonly child: ChildProcess;
  /** Of one thread. */
  readonly url: string;
}

/** It says at which port it listens. */
const startWorkerd = async (program: string, folder: string, modelUrl: string): Promise<Started> => {
  const args = [
    "serve",
    join(folder, "config.capnp"),
    `--directory-path=disk=${join(folder, "disk")}`,
    "--control-fd=3",
  ];
  const child = spawn(program, args, {
    env: { MODEL_URL: modelUrl },
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  // The fourth of `stdio`, which is a pipe to be read.
  const control = child.stdio[3] as Readable;
  for await (const chunk of control) {
    const [, port] = /"socket":"http","port":(\d+)/.exec(String(chunk)) ?? [];
    if (port !== undefined) return { child, url: `http://127.0.0.1:${port}/ada` };
  }
  throw new Error("workerd ended before it listened");
};

/** Answers with the question, and holds its answers while it is told to. */
class HeldModel {
  holds = false;
  readonly calls: string[] = [];
  readonly #called = Promise.withResolvers<void>();

  /** A call came while it held. */
  get called(): Promise<void> {
    return this.#called.promise;
  }

  readonly handler: LlmHandler = async ({ messages }) => {
    const newest = messages.at(-1);
    const question = newest === undefined ? "" : textOf(newest);
    this.calls.push(question);
    if (this.holds) {
      this.#called.resolve();
      await new Promise(() => {});
    }
    return { type: "completed", reply: { content: `on ${question}` }, finishReason: "stop" };
  };
}
