import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { type ChildOptions, leaseLostCode } from "./child.ts";
import type { Kill } from "./plan.ts";

/** How a child ended: `done` with the conversation, killed as planned, without its lease, or by a mistake of its own. */
export type BootEnd =
  | { readonly type: "done" | "killed" | "lease-lost" }
  | { readonly type: "failed"; readonly reason: string };

/** Starts a child from its program, and kills it as planned. */
export const boot = async (
  program: string,
  options: Omit<ChildOptions, "diesAt">,
  kill: Kill | null,
): Promise<BootEnd> => {
  const diesAt = kill !== null && "atPoint" in kill ? kill.atPoint : null;
  const argument = JSON.stringify({ ...options, diesAt } satisfies ChildOptions);
  const child = spawn(process.execPath, [program, argument], { stdio: ["ignore", "pipe", "pipe"] });
  if (kill !== null && "afterMs" in kill) {
    child.stdout.once("data", () => void setTimeout(() => child.kill("SIGKILL"), kill.afterMs));
  }
  child.stdout.resume();
  return endOf(child, text(child.stderr), kill !== null);
};

/** A boot that takes longer than this hangs, in seconds. */
const bootSecondsMax = 30;

const endOf = async (child: ChildProcess, stderr: Promise<string>, mayBeKilled: boolean): Promise<BootEnd> => {
  let hangs = false;
  const watchdog = setTimeout(() => {
    hangs = true;
    child.kill("SIGKILL");
  }, bootSecondsMax * 1000);
  // The types of `once` can't tell what an event carries.
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(watchdog);
  if (hangs) return { type: "failed", reason: `it was not done after ${bootSecondsMax} s` };
  if (code === 0) return { type: "done" };
  if (code === leaseLostCode) return { type: "lease-lost" };
  if (signal === "SIGKILL" && mayBeKilled) return { type: "killed" };
  return { type: "failed", reason: `it ended with ${signal ?? code}: ${(await stderr).trim()}` };
};
