import { conversationMachine, fingerprintOf } from "@colloquy/machine";
import { recordingMachine, type RecordsOf, replayJournal } from "@colloquy/runtime-test/recordings";
import { entriesIn, stateOf } from "../kit/journal.ts";
import { wordsOf } from "../kit/report.ts";
import { count, type Finding, type Report } from "./report.ts";

/**
 * Folds every journal, which needs no configuration, and decides those again whose configuration is known here:
 * the default one, and that of replayed cases.
 */
export const reportOfJournals = (journals: readonly RecordsOf<unknown>[]): Report => {
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
      `${count(journals.length)} folded, ${count(decidedAgain)} of them decided again (the others were recorded under a configuration that is not known here)`,
    ],
    passed: journals.length - failures.length,
    failures,
    inexpressible: [],
  };
};
