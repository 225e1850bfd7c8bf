// Replays every recording of a folder: conversations through the machine, streams through the decoder, errors and
// requests through the official SDK against a server on this machine. Exits with 1 when anything differs,
// or when there was nothing to replay.
import { readRecordings, type RecordingFolder } from "@colloquy/runtime-test/recordings";

import { runCommand } from "../kit/command.ts";
import { recordingsFolder } from "../kit/recordings.ts";
import { stopwatch } from "../kit/report.ts";
import { replayCases, reportOfCases } from "./cases.ts";
import { reportOfErrors } from "./errors.ts";
import { reportOfJournals } from "./journals.ts";
import { count, printed, type Report } from "./report.ts";
import { reportOfRequests } from "./requests.ts";
import { reportOfResponseExchanges } from "./response-exchanges.ts";
import { reportOfStreams } from "./streams.ts";

async function* reportsOf(recordings: RecordingFolder): AsyncGenerator<Report> {
  const replayed = recordings.cases.map((file) => ({ file: file.file, cases: replayCases(file) }));
  for (const { file, cases } of replayed) yield reportOfCases(file, cases);
  for (const { file, records } of recordings.streams) yield await settled(file, reportOfStreams(file, records));
  for (const { file, records } of recordings.errors) yield await settled(file, reportOfErrors(file, records));
  const exchanges = recordings.exchanges.flatMap(({ records }) => records);
  if (exchanges.length > 0) {
    const cases = replayed.flatMap((each) => each.cases);
    yield await settled("request bodies", reportOfRequests(exchanges, cases));
    const responses = exchanges.filter(({ request }) => request.body["input"] !== undefined);
    if (responses.length > 0) yield await settled("exchanges", reportOfResponseExchanges(responses, cases));
  }
  if (recordings.journals.length > 0) yield reportOfJournals(recordings.journals);
  if (recordings.unreadable.length > 0) {
    yield {
      title: "lines that can't be read",
      lines: [],
      passed: 0,
      failures: recordings.unreadable.map(({ file, line, problem }) => ({ id: `${file}:${line}`, words: problem })),
      inexpressible: [],
    };
  }
}

/** What breaks off is a failure of its own, and the rest is still replayed. */
const settled = (title: string, report: Promise<Report>): Promise<Report> =>
  report.catch((thrown: unknown) => {
    const words = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return { title, lines: [], passed: 0, failures: [{ id: title, words }], inexpressible: [] };
  });

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
  options: { folder: recordingsFolder },
  run: async ({ folder }) => {
    const seconds = stopwatch();
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
