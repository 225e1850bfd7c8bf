import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandWords } from "./command-words.ts";

/**
 * Returns a function that edits a text in the program that VISUAL or EDITOR names. The text is in a file that only its
 * owner may read, and that is removed afterwards. The function returns null if the program failed. Undefined if neither
 * variable is set.
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

/** Ignores Ctrl+C while a program runs: both receive it, but it is meant for the program. */
const withoutInterrupts = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  // Raw listeners, since some were added with `once`.
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
