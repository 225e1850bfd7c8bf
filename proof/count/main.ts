// Counts the texts of a folder of recordings exactly and by the estimate that needs nothing, and prints how far apart
// they are: estimateCounter against gptCounter (o200k_base), over each different message of the conversations.
import { estimateCounter } from "@colloquy/machine/policies";
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { gptCounter } from "@colloquy/interchange/tokens";

import { runCommand } from "../kit/command.ts";
import { recordingsFolder } from "../kit/recordings.ts";
import { errorTable } from "./error-table.ts";
import { messagesOf } from "./recorded-messages.ts";

await runCommand({
  name: "count",
  options: { folder: recordingsFolder },
  run: async ({ folder }) => {
    const { cases, uncovered } = await readRecordings(folder);
    const messages = cases.flatMap(messagesOf);
    for (const line of errorTable(messages, estimateCounter, await gptCounter())) console.log(line);
    for (const { file, count } of uncovered) console.log(`${file}: left out: ${count} conversations over another API`);
  },
});
