// Replays every recording of a folder: conversations through the machine, streams through the decoder, errors and
// requests through the official SDK against a server on this machine. Exits with 1 if anything differs, or if there was
// nothing to replay. With --corrupt, damages the records first, and exits with 1 if damage passes that could be
// noticed.
import { readRecordings } from "@colloquy/runtime-test/recordings";

import { runCommand } from "../kit/command.ts";
import { seed, whole } from "../kit/options.ts";
import { recordingsFolder } from "../kit/recordings.ts";
import { stopwatch } from "../kit/report.ts";
import { reportOfCorruptions } from "./corrupt.ts";
import { count, printed, type Report } from "./report.ts";
import { reportsOf } from "./reports.ts";

const summarise = (reports: readonly Report[], seconds: string): void => {
  const passed = reports.reduce((sum, report) => sum + report.passed, 0);
  const failed = reports.reduce((sum, report) => sum + report.failures.length, 0);
  const inexpressible = reports.reduce((sum, report) => sum + report.inexpressible.length, 0);
  const nothing = passed + failed + inexpressible === 0;
  if (nothing) console.error("the folder has no recordings that this version replays");
  console.log(
    `${count(passed)} passed, ${count(failed)} failed, ${count(inexpressible)} can't be expressed, in ${seconds} s`,
  );
  process.exitCode = failed > 0 || nothing ? 1 : 0;
};

await runCommand({
  name: "recordings",
  options: {
    folder: recordingsFolder,
    corrupt: whole(null, "damage N records in each way, and check that each damage is noticed"),
    seed: seed("the seed of the records and the damage, for --corrupt"),
  },
  run: async ({ folder, corrupt, seed: drawn }) => {
    const seconds = stopwatch();
    if (corrupt !== null) {
      const report = await reportOfCorruptions(folder, drawn, corrupt);
      console.log(`${printed(report)}\n`);
      return summarise([report], seconds());
    }
    const recordings = await readRecordings(folder);
    const reports: Report[] = [];
    for await (const report of reportsOf(recordings)) {
      reports.push(report);
      console.log(`${printed(report)}\n`);
    }
    for (const { file, count: uncovered } of recordings.uncovered) {
      console.log(`${file}: not covered in this version: ${count(uncovered)} conversations over another API\n`);
    }
    summarise(reports, seconds());
  },
});
