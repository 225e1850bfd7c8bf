import { lawSharedThread } from "@colloquy/runtime-test/laws";

import { violationsOfLaw } from "../kit/calls.ts";
import { answerTo, type Report } from "./talk.ts";

/** What writers were told, and what is stored, held against R3, and against what the model says to each. */
export const checkWriters = (
  asked: readonly string[],
  reports: readonly Report[],
  stored: readonly unknown[],
): readonly string[] => {
  const told = reports.flatMap((report) => (report.type === "answered" ? [report] : []));
  const broken = violationsOfLaw(() => lawSharedThread({ asked, told, stored }));
  if (broken.length > 0) return broken;
  return told
    .filter(({ askId, text }) => text !== answerTo(askId))
    .map(({ askId, text }) => `${askId} was told ${JSON.stringify(text)}, which is another's answer`);
};
