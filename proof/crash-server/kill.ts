import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** Kills a server and its children with SIGKILL, the parent first, and waits until none of them is there. */
export const killServer = async (pid: number): Promise<void> => {
  const children = childrenOf(pid);
  for (const each of [pid, ...children]) kill(each, "SIGKILL");
  while ([pid, ...children].some((each) => kill(each, 0))) await pause(5);
};

const childrenOf = (pid: number): readonly number[] => {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.split(/\s+/).filter(Boolean).map(Number);
};

/** False when it is not there any more. */
const kill = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};
