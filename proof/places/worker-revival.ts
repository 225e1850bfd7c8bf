import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { loopbackServer } from "@colloquy/runtime-test/server";

import { inFolder } from "../kit/folder.ts";
import { askOn, patienceMs, saidOn } from "./worker-client.ts";
import type { Fault } from "./worker-faults.ts";
import { Workerd } from "./workerd.ts";

/**
 * Kills workerd in the middle of the second turn, and starts it again on the same disk without a request: its alarm
 * must call the object, which continues. Does so twice. The turn must then end with each question and answer once. Asks
 * the object again, also with invalid requests.
 */
export const inWorkerd = (root: string, program: string, fault: Fault | null): Promise<readonly string[]> =>
  inFolder("workerd", async (folder) => {
    const model = new HeldModel();
    await using server = await loopbackServer({ model: model.handler });
    const entry = "examples/25-cloudflare-worker/worker.ts";
    const environment = { MODEL_URL: server.url, WAKE_MS: "200" };
    await using workerd = await Workerd.start({ root, program, entry, folder, fault }, environment);
    const ask = async (text: string): Promise<string | null> =>
      askOn(await workerd.url, { thread: "ada", text, key: text });
    const refusal = async (method: string, body: string | null = null): Promise<number> =>
      (await fetch(`${await workerd.url}/ada`, { method, body })).status;
    const first = await ask("First?");
    model.holds = true;
    const cut = ask("Second?").catch(() => "the process died");
    await model.calledFor("Second?", 1);
    await workerd.kill();
    await cut;
    await workerd.again();
    if (!(await model.calledFor("Second?", 2))) return ["the turn did not continue by itself"];
    // The alarm that called the object has ended once this is answered.
    await saidOn(await workerd.url, "ada");
    await workerd.kill();
    model.holds = false;
    await workerd.again();
    if (!(await model.calledFor("Second?", 3))) return ["the turn did not continue by itself a second time"];
    const again = await ask("Second?");
    const third = await ask("Third?");
    const refused = await Promise.all([
      refusal("HEAD"),
      refusal("DELETE"),
      refusal("POST", ""),
      refusal("POST", "x".repeat(100_001)),
    ]);
    const { said } = await saidOn(await workerd.url, "ada");
    const lines = said.map(({ role, text }) => `${role}: ${text}`).join("\n");
    const expected = ["First?", "Second?", "Third?"].flatMap((text) => [`user: ${text}`, `assistant: on ${text}`]);
    return [
      ...[first, again, third].flatMap((answer, index) =>
        `assistant: ${answer}` === expected[index * 2 + 1] ? [] : [`answer ${index + 1} is ${answer}`],
      ),
      ...(refused.join() === "405,405,400,413" ? [] : [`invalid requests got ${refused.join()}`]),
      ...(lines === expected.join("\n") ? [] : [`the thread has\n${lines}`]),
      ...(model.calls.join() === "First?,Second?,Second?,Second?,Third?"
        ? []
        : [`the model was asked ${model.calls.join()}`]),
    ];
  });

/** Answers by repeating the question, and holds its answers while `holds`. */
class HeldModel {
  holds = false;
  readonly calls: string[] = [];
  #heard = (): void => {};

  /** Waits until a question was asked so often; false if that takes too long. */
  async calledFor(question: string, times: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), patienceMs);
    this.#heard = () => {
      if (this.calls.filter((each) => each === question).length >= times) resolve(true);
    };
    this.#heard();
    const isCalled = await promise;
    clearTimeout(timer);
    return isCalled;
  }

  readonly handler: LlmHandler = async ({ messages }) => {
    const newest = messages.at(-1);
    const question = newest === undefined ? "" : textOf(newest);
    this.calls.push(question);
    this.#heard();
    if (this.holds) await new Promise(() => {});
    return { type: "completed", reply: { content: `on ${question}` }, finishReason: "stop" };
  };
}
