import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandWords } from "./command-words.ts";

/**
 * Has a text edited by the program that VISUAL or EDITOR names, in a file that only its owner may read and that is removed
 * behind it; null where the program failed. Undefined where they name none.
 */
export const textEditor = (
  environment: Readonly<Record<string, string | undefined>>,
): ((text: string) => Promise<string | null>) | undefined => {
  const [program, ...args] = commandWords(environment["VISUAL"] || environment["EDITOR"] || "");
  if (program === undefined) return undefined;
  return async (text) => {
    const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
    try {
      const file = join(folder, "question.md");
      await writeFile(file, text, { mode: 0o600 });
      const code = await withoutInterrupts(
        () =>
          new Promise<number | null>((resolve, reject) => {
            spawn(program, [...args, file], { stdio: "inherit" })
              .once("error", reject)
              .once("close", resolve);
          }),
      );
      return code === 0 ? (await readFile(file, "utf8")).replace(/\r?\n$/, "") : null;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
};

/** Ctrl+C is for the program that has the terminal, though both get it. */
const withoutInterrupts = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  // What listens to a signal; raw, since some of it listens once.
  const listeners = process.rawListeners("SIGINT") as NodeJS.SignalsListener[];
  const ignore = (): void => {};
  process.removeAllListeners("SIGINT").on("SIGINT", ignore);
  try {
    return await run();
  } finally {
    process.off("SIGINT", ignore);
    for (const listener of listeners) process.on("SIGINT", listener);
  }
};
