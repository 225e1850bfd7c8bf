import { loopbackServer } from "@colloquy/runtime-test/server";

import { inFolder } from "../kit/folder.ts";
import { HeldModel } from "../kit/held-model.ts";
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
    model.hold("Second?");
    const cut = ask("Second?").catch(() => "the process died");
    await model.askedFor("Second?", 1, patienceMs);
    await workerd.kill();
    await cut;
    await workerd.again();
    if (!(await model.askedFor("Second?", 2, patienceMs))) return ["the turn did not continue by itself"];
    // The alarm that called the object has ended once this is answered.
    await saidOn(await workerd.url, "ada");
    await workerd.kill();
    model.release();
    await workerd.again();
    if (!(await model.askedFor("Second?", 3, patienceMs))) return ["the turn did not continue by itself a second time"];
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
    const expected = ["First?", "Second?", "Third?"].flatMap((text) => [
      `user: ${text}`,
      `assistant: You said: ${text}`,
    ]);
    return [
      ...[first, again, third].flatMap((answer, index) =>
        `assistant: ${answer}` === expected[index * 2 + 1] ? [] : [`answer ${index + 1} is ${answer}`],
      ),
      ...(refused.join() === "405,405,400,413" ? [] : [`invalid requests got ${refused.join()}`]),
      ...(lines === expected.join("\n") ? [] : [`the thread has\n${lines}`]),
      ...(model.asked.join() === "First?,Second?,Second?,Second?,Third?"
        ? []
        : [`the model was asked ${model.asked.join()}`]),
    ];
  });
