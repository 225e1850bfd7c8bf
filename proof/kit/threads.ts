import { parentPort, Worker } from "node:worker_threads";

export interface Thread<Question, Answer> {
  readonly ask: (question: Question) => Promise<Answer>;
  readonly end: () => Promise<unknown>;
}

export const startThread = <Question, Answer>(program: URL): Thread<Question, Answer> => {
  const worker = new Worker(program);
  return {
    end: () => worker.terminate(),
    ask: (question) =>
      new Promise((resolve, reject) => {
        worker.once("error", reject);
        worker.once("message", (answer: Answer) => {
          worker.off("error", reject);
          resolve(answer);
        });
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
        worker.postMessage(question);
      }),
  };
};

/** Starts worker threads, of which `ask` takes a free one, while `use` runs. It may ask as many at once as there are. */
export const withThreads = async <Answer, A>(
  program: URL,
  count: number,
  use: (ask: (question: unknown) => Promise<Answer>) => Promise<A>,
): Promise<A> => {
  const all = Array.from({ length: count }, () => startThread<unknown, Answer>(program));
  const free = [...all];
  try {
    return await use(async (question) => {
      const thread = free.pop();
      if (thread === undefined) throw new Error("all threads have a question");
      const answer = await thread.ask(question);
      free.push(thread);
      return answer;
    });
  } finally {
    for (const thread of all) await thread.end();
  }
};

/** Answers each question in its own worker thread. */
export const askThreads = <Answer>(program: URL, questions: readonly unknown[]): Promise<readonly Answer[]> =>
  withThreads<Answer, readonly Answer[]>(program, questions.length, (ask) => Promise.all(questions.map(ask)));

export const answerQuestions = (answer: (question: never) => unknown): void => {
  const reply = async (question: unknown): Promise<void> => {
    // The command asks only questions that its thread can answer.
    const found = await answer(question as never);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    parentPort?.postMessage(found);
  };
  // A failure is an unhandled rejection here, and so becomes an error of the worker thread.
  parentPort?.on("message", (question: unknown) => void reply(question));
};
