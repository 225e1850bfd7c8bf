import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { join } from "node:path";

import type { LlmHandler } from "@colloquy/host";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

import { leavePlace, newPlace, type StorePlace } from "../kit/places.ts";
import { serverUrl } from "../kit/server-urls.ts";

/** The command that runs a script, which may write in these folders alone. */
export type Runner = (script: string, writes: readonly string[]) => readonly [string, ...string[]];

const secondsMax = 60;

/**
 * Holds a conversation with a model over HTTP, on each available store, in three processes. The second is killed while
 * it waits for the model, and the third continues its turn. Each line is there once.
 */
export const conversationElsewhere = async (root: string, runner: Runner): Promise<readonly string[]> => {
  const servers = (["postgres", "redis"] as const).filter((name) => serverUrl(name) !== null);
  const problems: string[] = [];
  for (const type of ["sqlite", "files", ...servers] as const) {
    const place = newPlace(type, "elsewhere");
    try {
      problems.push(...(await conversationOn(root, runner, place)).map((problem) => `${type}: ${problem}`));
    } finally {
      await leavePlace(place);
    }
  }
  return problems;
};

const conversationOn = async (root: string, runner: Runner, place: StorePlace): Promise<readonly string[]> => {
  const called = Promise.withResolvers<void>();
  let holds = false;
  const model: LlmHandler = async (call, context) => {
    const outcome = await answers(call, context);
    if (!holds) return outcome;
    called.resolve();
    await new Promise(() => {});
    return outcome;
  };
  await using server = await loopbackServer({ model });
  const start = (...question: readonly string[]): Running => {
    const writes = "folder" in place ? [place.folder] : [];
    const [command, ...args] = runner(join(root, "proof/places/conversation.ts"), writes);
    return new Running(command, [...args, JSON.stringify(place), server.url, ...question], root);
  };
  const first = await start("Is it raining in Oslo?").output;
  holds = true;
  const dying = start("And in Rome?");
  await Promise.race([called.promise, dying.output]);
  dying.child.kill("SIGKILL");
  await dying.output;
  holds = false;
  const last = await start().output;
  const expected = [...linesOf("Is it raining in Oslo?"), ...linesOf("And in Rome?")];
  return [
    ...(first === expected.slice(0, 4).join("\n") ? [] : [`the first process said\n${first}`]),
    ...(last === expected.join("\n") ? [] : [`the last process said\n${last}`]),
  ];
};

const answers = ruleModel([
  {
    name: "the weather is known",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: ({ lastUserText }) => `On ${lastUserText}`,
  },
  { name: "else", when: () => true, answer: () => toolCalls([{ name: "weather", arguments: { city: "it" } }]) },
]);

const linesOf = (question: string): readonly string[] => [
  `user: ${question}`,
  "assistant: ",
  "tool: Rain in it.",
  `assistant: On ${question}`,
];

/** A process and what it prints, errors too. */
class Running {
  readonly child: ChildProcess;
  readonly output: Promise<string>;

  constructor(command: string, args: readonly string[], cwd: string) {
    const child = spawn(command, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: secondsMax * 1000,
      killSignal: "SIGKILL",
    });
    this.child = child;
    this.output = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(([said, errors]) =>
      `${said}${errors}`.trim(),
    );
  }
}
