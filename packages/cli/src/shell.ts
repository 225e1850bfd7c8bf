import { spawn } from "node:child_process";
import type { ShellPort } from "@colloquy/cli/terminal";

/**
 * Runs commands in a folder, without input, for a minute at most. Keeps the end of what they print.
 *
 * @param isTrusted Otherwise every command is refused.
 */
export const shellIn = (folder: string, isTrusted: boolean): ShellPort => ({
  folder,
  run: async (command, signal) => {
    if (!isTrusted)
      throw new Error(`no command runs in "${folder}", whose settings you do not trust: name it in your "trust"`);
    let output = "";
    const limits = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const child = spawn(command, { cwd: folder, shell: true, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // All of it has ended, or the system has no groups.
        child.kill("SIGKILL");
      }
      // A process that left the group may keep them open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    limits.addEventListener("abort", end);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (piece: string) => void (output = (output + piece).slice(-outputMax)));
    const ending = await new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", (code, by) => {
        const early = signal.aborted ? "stopped" : `ended after ${timeoutMs / 1000} s`;
        resolve(limits.aborted ? early : code === null ? `ended by ${by}` : `exit code ${code}`);
      });
    });
    limits.removeEventListener("abort", end);
    return { output: output.toWellFormed(), ending };
  },
});

const timeoutMs = 60_000;
const outputMax = 20_000;
