// Checks its share of a folder's conversations, and sends the outcome.
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { answerQuestions } from "../kit/threads.ts";
import { checkConversation } from "./check.ts";
import { drawn, recordedIn, type Recorded } from "./conversations.ts";
import { randomOf, seedOf } from "../kit/random.ts";
import { subjectsOf } from "./subjects.ts";
import { addTallies, type Tallies } from "./tally.ts";

export interface Share {
  readonly folder: string;
  /** The worker takes every conversation whose number modulo `parts` is `part`. */
  readonly part: number;
  readonly parts: number;
  readonly budgets: number;
  readonly states: number;
  readonly seed: number;
  /** Only the policy of this name; null for all. */
  readonly policy: string | null;
  readonly conversation: string | null;
}

export interface Outcome {
  readonly conversations: number;
  readonly tallies: Tallies;
}

const check = async (share: Share): Promise<Outcome> => {
  const { seed, budgets, states, policy } = share;
  const subjects = subjectsOf(randomOf(seed)).filter(({ name }) => [null, name].includes(policy));
  const all = await recordedFor(share);
  let tallies: Tallies = {};
  for (const subject of subjects) {
    for (const recorded of all) {
      const random = randomOf(seedOf(seed, `${recorded.id} ${subject.name}`));
      for (let budget = 0; budget < budgets; budget += 1) {
        // Half of them have no limit, so that they reach their ends; the others less or more than the thread needs.
        const tokens = random.percent(50) ? null : Math.floor(recorded.tokens * 1.1 * random.next());
        const tally = checkConversation(drawn(recorded, random), subject, { tokens, states, share: random.next() });
        tallies = addTallies(tallies, { [subject.name]: tally });
      }
    }
  }
  return { conversations: all.length, tallies };
};

const recordedFor = async ({ folder, part, parts, conversation }: Share): Promise<readonly Recorded[]> =>
  (await readRecordings(folder)).cases.flatMap((file) =>
    file.records
      .filter(({ id }, index) => index % parts === part && (conversation === null || id === conversation))
      .flatMap((recorded) => recordedIn(recorded, file) ?? []),
  );

answerQuestions(check);
