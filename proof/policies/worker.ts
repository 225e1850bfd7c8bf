// Checks its share of the conversations of a folder, and sends back the outcome.
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { answerQuestions } from "../kit/threads.ts";
import { budgetsOf } from "./budgets.ts";
import { checkConversation, type Work } from "./check.ts";
import { type Conversation, conversationsOf } from "./conversations.ts";
import { machinesFor } from "./machines.ts";
import { randomOf, seedOf } from "../kit/random.ts";
import { seenOf } from "./seen.ts";
import { subjectsOf } from "./subjects.ts";
import { addTallies, type Tallies } from "./tally.ts";

/** The share of a worker. */
export interface Share {
  readonly folder: string;
  /** It takes every conversation whose number, divided by `parts`, leaves `part`. */
  readonly part: number;
  readonly parts: number;
  readonly budgets: number;
  readonly seed: number;
  /** Only the policy of this name; null for all. */
  readonly policy: string | null;
  /** Only the conversation of this id; null for all. */
  readonly conversation: string | null;
}

/** The outcome of a share. */
export interface Outcome {
  readonly conversations: number;
  readonly steps: number;
  readonly tallies: Tallies;
}

const check = async (share: Share): Promise<Outcome> => {
  const subjects = subjectsOf(randomOf(share.seed)).filter(({ name }) => [null, name].includes(share.policy));
  const work = (await conversationsIn(share)).map((conversation) => workOn(conversation, share));
  let tallies: Tallies = {};
  for (const subject of subjects) {
    const machines = machinesFor(subject);
    for (const each of work)
      tallies = addTallies(tallies, { [subject.name]: checkConversation(each, subject, machines) });
  }
  const recorded = work.filter(({ conversation }) => conversation.variant === "as recorded");
  const steps = recorded.reduce((total, each) => total + each.steps.length, 0);
  return { conversations: recorded.length, steps, tallies };
};

const conversationsIn = async ({ folder, part, parts, seed, conversation }: Share): Promise<readonly Conversation[]> =>
  (await readRecordings(folder)).cases.flatMap((file) =>
    conversationsOf(
      file,
      seed,
      (id, index) => index % parts === part && (conversation === null || id === conversation),
    ),
  );

const workOn = (conversation: Conversation, { seed, budgets }: Share): Work => {
  const steps = conversation.steps.map(seenOf);
  const random = randomOf(seedOf(seed, `${conversation.id} ${conversation.variant}`));
  const many = conversation.variant === "as recorded" ? budgets : Math.ceil(budgets / otherVariants);
  return { conversation, steps, budgets: budgetsOf(steps, many, random) };
};

/** Variants of a recording get so many times fewer budgets than the recording. */
const otherVariants = 10;

answerQuestions(check);
