import { type AskHandle, declarationsOf, type Host, type HostedThread, type Tool, tool } from "@colloquy/host";
import { type CallLlm, conversationMachine } from "@colloquy/machine";
import fc from "fast-check";
import { type ApprovalLogItem, lawApproved } from "./approved.ts";
import { type Ground, type HostLawRun, type HostUnderTest, onGround, parametersOf } from "./host-under-test.ts";
import { recordOf } from "../../arbitraries/record.ts";

/**
 * Checks that a host keeps the law about approvals (`lawApproved`), on random conversations. Their tools always need an
 * approval, need one for some arguments, or never need one. Calls are approved, denied, answered twice, answered about
 * another request, cancelled, and left until another host has taken the thread over.
 *
 * @param run 20 conversations by default.
 */
export const checkApprovals = async (subject: HostUnderTest = {}, run: HostLawRun = {}): Promise<void> =>
  fc.assert(
    fc.asyncProperty(conversations, (turns) => onGround(subject, "approvals", (ground) => holds(ground, turns))),
    parametersOf("checkApprovals", run, 20),
  );

type Answer = "approve" | "deny" | "approve twice" | "approve another" | "cancel" | "hand over";

interface Turn {
  readonly calls: readonly { readonly name: string; readonly amount: number }[];
  readonly answers: readonly Answer[];
}

const names = ["always", "above_ten", "never"] as const;

const conversations: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    calls: fc.array(recordOf({ name: fc.constantFrom(...names), amount: fc.nat({ max: 20 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    answers: fc.array(
      fc.constantFrom<Answer>("approve", "approve", "deny", "approve twice", "approve another", "cancel", "hand over"),
      { maxLength: 4 },
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

const holds = async (ground: Ground, turns: readonly Turn[]): Promise<void> => {
  const log: ApprovalLogItem[] = [];
  const tools = toolsInto(log);
  let host = opened(ground, turns, tools, log);
  for (const [index, { answers }] of turns.entries()) {
    const askId = `ask-${index + 1}`;
    let handle = asked(host, askId);
    for (const answer of answers) {
      if (await atRest(ground, host.thread(), handle)) break;
      if (answer === "hand over") {
        await host.close();
        host = opened(ground, turns, tools, log);
        handle = asked(host, askId);
      } else if (answer === "cancel") handle.abort("enough");
      else await answered(host.thread(), answer);
    }
    while (!(await atRest(ground, host.thread(), handle))) await answered(host.thread(), "deny");
  }
  await host.close();
  await ground.store.close();
  lawApproved(log, declarationsOf(tools));
};

const opened = (ground: Ground, turns: readonly Turn[], tools: readonly Tool[], log: ApprovalLogItem[]): Host =>
  ground.open({
    machine: conversationMachine({ tools: declarationsOf(tools) }),
    tools,
    llm: async (call) => ({ type: "completed", reply: replyTo(call, turns), finishReason: "stop" }),
    observers: [{ entry: (entry) => void log.push({ did: "appended", entry }) }],
  });

const replyTo = ({ turn, step }: CallLlm, turns: readonly Turn[]) => {
  const calls = step === 1 ? (turns[turn - 1]?.calls ?? []) : [];
  if (calls.length === 0) return { content: "Done." };
  return { toolCalls: calls.map(({ name, amount }) => ({ id: null, name, arguments: JSON.stringify({ amount }) })) };
};

const toolsInto = (log: ApprovalLogItem[]): readonly Tool[] =>
  names.map((name) =>
    tool({
      name,
      description: `Pays; somebody has to approve it: ${name}.`,
      input: { jsonSchema: { type: "object", properties: { amount: { type: "integer" } } } },
      recovery: "once",
      ...(name === "always" ? { approval: "always" } : {}),
      ...(name === "above_ten" ? { approval: isAboveTen } : {}),
      run: (input, { idempotencyKey: key }) => {
        log.push({ did: "ran", key, input });
        return "paid";
      },
    }),
  );

const isAboveTen = (input: unknown): boolean =>
  typeof input === "object" && input !== null && "amount" in input && Number(input.amount) > 10;

/** Asks again if another host had the thread, which gives the same ask. The law checks its outcome. */
const asked = (host: Host, askId: string): AskHandle => {
  const handle = host.ask(`Please do ${askId}.`, { askId });
  handle.catch(() => undefined);
  return handle;
};

/** Resolves to false when an approval is requested, and to true when the ask has ended. */
const atRest = async ({ sleep }: Ground, thread: HostedThread, handle: AskHandle): Promise<boolean> => {
  const end = { over: false };
  const over = (): boolean => (end.over = true);
  handle.then(over, over);
  while (!end.over) {
    if ((await thread.approvals()).length > 0) return false;
    await sleep(1);
  }
  return true;
};

const answered = async (thread: HostedThread, answer: Exclude<Answer, "cancel" | "hand over">): Promise<void> => {
  const [request] = await thread.approvals();
  if (request === undefined) return;
  const answers = {
    approve: () => [thread.approve(request.id, { digest: request.digest })],
    "approve twice": () => [thread.approve(request.id), thread.approve(request.id)],
    "approve another": () => [thread.approve(request.id, { digest: "0000000000000000" })],
    deny: () => [thread.deny(request.id, { reason: "not that" })],
  }[answer]();
  // An answer that is too late, or about another request, is refused.
  await Promise.allSettled(answers);
};
