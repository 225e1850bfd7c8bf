import { type Clock, createHost, type HostOptions, type LlmHandler, type Store, type Tool } from "@colloquy/host";
import { approvalsOf, outstanding, type RequestApproval, type State } from "@colloquy/machine";

import { story, storyMachine } from "./script.ts";
import type { Answer } from "./facts.ts";

/** The parts of a process that may die. */
export interface LifeParts {
  readonly store: Store;
  readonly llm: LlmHandler;
  readonly tools: readonly Tool[];
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Life {
  /** Asks by an id, which is also the text. */
  ask(askId: string): Promise<Omit<Answer, "askId">>;
  state(): Promise<State | null>;
  approve(request: RequestApproval, approved: boolean): Promise<void>;
  close(): Promise<void>;
}

export const hostLife = (
  { store, llm, tools, clock }: LifeParts,
  options: Pick<HostOptions, "ids"> & Partial<Pick<HostOptions, "machine" | "recovery" | "snapshotEvery">>,
): Life => {
  const host = createHost({ machine: storyMachine(), store, llm, tools, clock, snapshotEvery: 8, ...options });
  const thread = host.thread(story.threadId);
  const outputs: Readonly<Record<string, (typeof story.outputs)["farewell 5"]>> = story.outputs;
  return {
    ask: async (askId) => {
      const output = outputs[askId];
      return host.ask(askId, { threadId: story.threadId, askId, ...(output && { output }) });
    },
    state: () => thread.state(),
    approve: async ({ id, digest }, approved) => void (await thread[approved ? "approve" : "deny"](id, { digest })),
    close: () => host.close(),
  };
};

/** The surroundings of a process that holds the story. */
export interface Living {
  readonly sleep: LifeParts["sleep"];
  readonly isAlive: () => boolean;
  /** Whether the approver lets a tool of unknown outcome run again. */
  readonly runAgain: boolean;
  /** The asks that an earlier process has answered. */
  readonly answered: ReadonlySet<string>;
  readonly onAnswer: (answer: Answer) => void;
}

/** Asks everything that is unanswered, and approves calls, to the end of the story. */
export const live = async (life: Life, living: Living): Promise<void> => {
  const over = approveAll(life, living);
  const lines: readonly (readonly string[])[] = story.lines;
  const first = lines.findIndex((asks) => asks.some((askId) => !living.answered.has(askId)));
  // A host opens a thread when it is used, so the next process repeats the last answered ask.
  for (const asks of lines.slice(Math.max(0, (first < 0 ? lines.length : first) - 1))) {
    await Promise.all(
      asks.map(async (askId) => {
        const { turn, text } = await life.ask(askId);
        living.onAnswer({ askId, turn, text });
      }),
    );
    // Without this wait, a process might be faster or slower than a summary.
    while ((await life.state())?.context.summarising !== null) await living.sleep(5);
  }
  over.now = true;
  await life.close();
};

/** Polls for approvals as a person does. Waits until nothing else is under way, so that answers arrive in one order. */
const approveAll = (life: Life, { sleep, isAlive, runAgain }: Living): { now: boolean } => {
  const over = { now: false };
  const look = async (): Promise<void> => {
    await sleep(10);
    if (over.now || !isAlive()) return;
    const state = await life.state();
    const isQuiet = state !== null && outstanding(state).every(({ type }) => type !== "callLlm" && type !== "callTool");
    const [first] = isQuiet ? approvalsOf(state) : [];
    if (first !== undefined) await life.approve(first, first.because === "declared" || runAgain);
    await look();
  };
  void look();
  return over;
};
