import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Returns the path of a new store, which is removed after the test. */
export const newStore = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-killed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "threads.db");
};

/** Starts a process of this folder and waits for its first output. It is killed after the test. */
export const started = async (
  script: string,
  ...given: readonly string[]
): Promise<{ readonly kill: () => Promise<unknown>; readonly said: string }> => {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [path, ...given], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const kill = (): Promise<unknown> => {
    child.kill("SIGKILL");
    return exited;
  };
  onTestFinished(async () => void (await kill()));
  if (child.stdout === null) throw new Error("the process has no output");
  const [line]: unknown[] = await once(child.stdout, "data");
  return { kill, said: String(line).trim() };
};
