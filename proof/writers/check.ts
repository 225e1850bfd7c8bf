import { lawSharedThread } from "@colloquy/runtime-test/laws";

import { violationsOfLaw } from "../kit/calls.ts";
import { answerTo, type Report } from "./talk.ts";

/** Checks what writers reported and what is stored by R3, and by what the model says to each. */
export const checkWriters = (
  asked: readonly string[],
  reports: readonly Report[],
  stored: readonly unknown[],
): readonly string[] => {
  const answers = reports.flatMap((report) => (report.type === "answered" ? [report] : []));
  const broken = violationsOfLaw(() => lawSharedThread({ asked, answered: answers, stored }));
  if (broken.length > 0) return broken;
  return answers
    .filter(({ askId, text }) => text !== answerTo(askId))
    .map(({ askId, text }) => `${askId} was answered with ${JSON.stringify(text)}, which is the answer to another ask`);
};
