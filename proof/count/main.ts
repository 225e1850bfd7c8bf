// Counts the texts of a folder of recordings exactly and by the estimate that needs nothing, and prints how far apart
// they are.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { estimateCounter } from "@colloquy/machine/policies";
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { gptCounter } from "@colloquy/tokens";

import { errorTable } from "./error-table.ts";
import { messagesOf } from "./recorded-messages.ts";

const usage = `Usage: pnpm count [DIR]

Compares estimateCounter with gptCounter (o200k_base) over each different message of the conversations in DIR: *.jsonl,
and *.common.json beside them. DIR is by default what COLLOQUY_RECORDINGS says, else ../shared/recordings.`;

const main = async (): Promise<void> => {
  const [argument] = process.argv.slice(2);
  if (argument === "--help" || argument === "-h") {
    console.log(usage);
    return;
  }
  const folder = resolve(
    argument ?? process.env["COLLOQUY_RECORDINGS"] ?? join(import.meta.dirname, "../../../shared/recordings"),
  );
  if (!existsSync(folder)) {
    console.error(
      `there are no recordings: ${folder} does not exist. Name another folder, or set COLLOQUY_RECORDINGS.`,
    );
    process.exitCode = 2;
    return;
  }
  const { cases, uncovered } = await readRecordings(folder);
  const messages = cases.flatMap(messagesOf);
  for (const line of errorTable(messages, estimateCounter, await gptCounter())) console.log(line);
  for (const { file, count } of uncovered) console.log(`${file}: left out: ${count} conversations over another API`);
};

await main();
