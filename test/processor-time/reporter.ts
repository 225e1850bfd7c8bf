// Prints the processor time of a test run, and the files that took most of it: `pnpm test:cpu`. Unlike elapsed time, it
// hardly depends on other work of the machine.
import { relative } from "node:path";
import { cwd } from "node:process";

import type { Reporter, TestModule } from "vitest/node";
import { z } from "zod";

import { secondsUsed } from "./used.ts";

const shownMax = 25;

/** The record that `note.ts` leaves. */
const noted = z.object({ processorSeconds: z.number() });

// oxlint-disable-next-line import/no-default-export -- vitest loads it from there.
export default class ProcessorTime implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((each) => ({ path: relative(cwd(), each.moduleId), seconds: secondsOf(each) }))
      .toSorted((one, other) => other.seconds - one.seconds);
    const lines = files.slice(0, shownMax).map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)}  ${path}`);
    // By then the workers have ended, and their use is known.
    process.once("exit", () => {
      console.log(
        ["", "seconds of the processor", ...lines, `${secondsUsed().toFixed(1).padStart(6)}  in all`].join("\n"),
      );
    });
  }
}

const secondsOf = (module: TestModule): number => noted.safeParse(module.meta()).data?.processorSeconds ?? 0;
