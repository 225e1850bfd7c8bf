import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Ends the server gracefully, and waits for its end. It may be called again. */
  readonly stop: () => Promise<void>;
}

/** The facts for starting a program: the user that runs it, and the folder of its libraries. */
export interface Program {
  readonly path: string;
  readonly libraries: string | null;
  /** Null: the user of this process. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** Runs a program to its end. Throws an `Error` with its output if it fails. */
export const runProgram = (program: Program, args: readonly string[]): void => {
  const { status, error, stderr, stdout } = spawnSync(program.path, args, { ...settingOf(program), encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`${program.path} failed:\n${stdout}${stderr}`);
};

/** Starts a program that keeps running, and waits for the line that shows that it is ready. */
export const startProgram = async (program: Program, args: readonly string[], ready: RegExp): Promise<ChildProcess> => {
  const child = spawn(program.path, args, { ...settingOf(program), stdio: ["ignore", "pipe", "pipe"], detached: true });
  let written = "";
  await new Promise<void>((resolve, reject) => {
    const read = (text: Buffer): void => {
      // Only the start is kept; the rest is read so that the program never blocks.
      if (written.length < writtenMax) written += text.toString();
      if (ready.test(written)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      reject(new Error(`${program.path} ended with ${code ?? signal ?? "?"}:\n${written}`));
    });
  });
  return child;
};

/** Ends a child by a signal, or by SIGKILL after ten seconds. */
export const endChild = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await exit;
  clearTimeout(timer);
};

/**
 * Returns a free port of 127.0.0.1, below those that systems give to clients and to servers that listen on port 0, so
 * that none of them takes it while a server starts or restarts.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      server.close();
      await once(server, "close");
      return port;
    } catch {
      // Another server has it.
    }
  }
};

const settingOf = ({ libraries, user }: Program) => ({
  env: {
    ...process.env,
    // The messages must be English.
    LC_ALL: "C",
    ...(libraries !== null && { LD_LIBRARY_PATH: libraries }),
  },
  cwd: "/",
  ...user,
});

const writtenMax = 100_000;
