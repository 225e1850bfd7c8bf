import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

test("a process with the tools of a hostile server checks by its patterns, answers other asks, and ends", async () => {
  const script = fileURLToPath(new URL("hostile-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  await once(child, "close");
  expect(output).toBe("hostile: expected to match ^(a+)+$\nanother: answered\n");
});
