import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs one of our scripts in its own process, and returns its report once the process has ended. */
export const reportOf = async <Report>(
  script: URL,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<Report> => {
  const child = spawn(process.execPath, [...nodeOptions, script.pathname, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const died = ended.then(([code]) => {
    throw new Error(`the process that measures ended with ${String(code)} and reported nothing`);
  });
  // Cast: our own process reports nothing else.
  const [report] = (await Promise.race([once(child, "message"), died])) as [Report];
  await ended;
  return report;
};
