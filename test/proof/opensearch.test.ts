import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";

it("a double of OpenSearch says where it is, and ends when it is asked to", async () => {
  const main = join(import.meta.dirname, "../../proof/opensearch/main.ts");
  const child = spawn(process.execPath, [main, "--port", "0", "--version", "2.11"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const url = /^OpenSearch 2\.11: (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1];
  const response = await fetch(`${url ?? ""}/_plugins/_ml/memory/conversation`);
  expect(await response.json()).toEqual({ conversations: [] });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
