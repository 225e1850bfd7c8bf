import { conversationMachine, fingerprintOf } from "@colloquy/machine";
import {
  type RecordingFolder,
  recordingMachine,
  type RecordsOf,
  replayJournal,
} from "@colloquy/runtime-test/recordings";

import { entriesIn, stateOf } from "../kit/journal.ts";
import { wordsOf } from "../kit/report.ts";
import { replayCases, reportOfCases } from "./cases.ts";
import { reportOfErrors } from "./errors.ts";
import { count, type Finding, type Report } from "./report.ts";
import { reportOfRequests } from "./requests.ts";
import { reportOfResponseExchanges } from "./response-exchanges.ts";
import { reportOfStreams } from "./streams.ts";

export async function* reportsOf(recordings: RecordingFolder): AsyncGenerator<Report> {
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
      title: "lines that cannot be read",
      lines: [],
      passed: 0,
      failures: recordings.unreadable.map(({ file, line, problem }) => ({ id: `${file}:${line}`, words: problem })),
      inexpressible: [],
    };
  }
}

/** Turns an exception into a failure, so that the other recordings are still replayed. */
const settled = (title: string, report: Promise<Report>): Promise<Report> =>
  report.catch((thrown: unknown) => {
    const words = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return { title, lines: [], passed: 0, failures: [{ id: title, words }], inexpressible: [] };
  });

/**
 * Folds every journal, which needs no configuration. Decides again those with a known configuration: the default, or
 * that of a replayed case.
 */
const reportOfJournals = (journals: readonly RecordsOf<unknown>[]): Report => {
  const failures: Finding[] = [];
  let decidedAgain = 0;
  for (const { file, records } of journals) {
    try {
      const { fingerprint } = stateOf(entriesIn(records)).context.configuration;
      const machine = [conversationMachine(), recordingMachine()].find((each) => fingerprintOf(each) === fingerprint);
      if (machine === undefined) continue;
      decidedAgain++;
      const replayed = replayJournal(machine, records);
      if (replayed.outcome === "failed") failures.push({ id: file, words: replayed.words });
    } catch (error) {
      failures.push({ id: file, words: wordsOf(error) });
    }
  }
  return {
    title: "journals",
    lines: [
      `${count(journals.length)} folded, ${count(decidedAgain)} of them decided again (the configuration of the others is unknown)`,
    ],
    passed: journals.length - failures.length,
    failures,
    inexpressible: [],
  };
};
