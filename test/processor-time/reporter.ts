// Says how many seconds of the processor a run of the tests took, and which files took most of them: `pnpm test:cpu`.
// Unlike the time that passed it hardly depends on what else the machine does.
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
    // By then the workers have ended, and what they used is known.
    process.once("exit", () => {
      console.log(
        ["", "seconds of the processor", ...lines, `${secondsUsed().toFixed(1).padStart(6)}  in all`].join("\n"),
      );
    });
  }
}

const secondsOf = (module: TestModule): number => noted.safeParse(module.meta()).data?.processorSeconds ?? 0;
