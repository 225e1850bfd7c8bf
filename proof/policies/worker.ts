// Checks its share of a folder's conversations, and sends the outcome.
import { readRecordings } from "@colloquy/runtime-test/recordings";

import { randomOf, seedOf } from "../kit/random.ts";
import type { SeededRun } from "../kit/report.ts";
import { answerQuestions } from "../kit/threads.ts";
import { checkConversation } from "./check.ts";
import { drawn, recordedIn, type Recorded } from "./conversations.ts";
import { subjectsOf } from "./subjects.ts";

export interface Share {
  readonly folder: string;
  /** The worker takes every conversation whose number modulo `parts` is `part`. */
  readonly part: number;
  readonly parts: number;
  readonly budgets: number;
  readonly states: number;
  readonly seed: number;
  /** Only the policy of this name, and the conversation of this id; null for all. */
  readonly policy: string | null;
  readonly conversation: string | null;
}

const check = async (share: Share): Promise<SeededRun> => {
  const { seed, budgets, states } = share;
  const subjects = subjectsOf(randomOf(seed)).filter(({ name }) => [null, name].includes(share.policy));
  const all = await recordedFor(share);
  const violations: string[] = [];
  let [prompts, unfit, cut] = [0, 0, 0];
  for (const subject of subjects) {
    for (const recorded of all) {
      const random = randomOf(seedOf(seed, `${recorded.id} ${subject.name}`));
      for (let budget = 0; budget < budgets; budget += 1) {
        // Half of them have no limit, so that they reach their ends; the others less or more than the thread needs.
        const tokens = random.percent(50) ? null : Math.floor(recorded.tokens * 1.1 * random.next());
        const conversation = drawn(recorded, random);
        const tally = checkConversation(conversation, subject, { tokens, states, share: random.next() });
        const where = `--policy "${subject.name}" --conversation "${recorded.id}", ${conversation.variant}`;
        prompts += tally.prompts;
        unfit += tally.unfit;
        cut += tally.cut;
        for (const { law, words } of tally.violations)
          violations.push(`${law}: ${where}, room for ${tokens ?? "any"} tokens: ${words.slice(0, 600)}`);
      }
    }
  }
  const counts = { conversations: all.length, prompts, "prompts that are cut": cut, "prompts that do not fit": unfit };
  return { seed, violations, counts };
};

const recordedFor = async ({ folder, part, parts, conversation }: Share): Promise<readonly Recorded[]> =>
  (await readRecordings(folder)).cases.flatMap((file) =>
    file.records
      .filter(({ id }, index) => index % parts === part && (conversation === null || id === conversation))
      .flatMap((recorded) => recordedIn(recorded, file) ?? []),
  );

answerQuestions(check);
