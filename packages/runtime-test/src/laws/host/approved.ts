import { type AskHandle, declarationsOf, type Host, type HostedThread, type Tool, tool } from "@colloquy/host";
import {
  type AnswerableEffect,
  type CallLlm,
  type CallTool,
  conversationMachine,
  type Entry,
  outstanding,
  type RequestApproval,
  type State,
  type ToolDeclaration,
} from "@colloquy/machine";
import fc from "fast-check";
import { type Drawn, recordOf } from "../../arbitraries/values.ts";
import { plain, LawBroken, requireSame, checkedParameters, type HostLawRun } from "../evidence/law-broken.ts";
import { stateAfter, type Testbed, type HostUnderTest, onTestbed } from "./host-under-test.ts";

/** An event of one thread. A log has them in the order in which they happened. */
export type ApprovalLogItem =
  /** An entry was stored. */
  | { readonly did: "appended"; readonly entry: Entry }
  /** The function of a tool was called, with this idempotency key and this input. */
  | { readonly did: "ran"; readonly key: string; readonly input: unknown };

/**
 * The life of an approval. A tool that is declared to need one runs only after it was granted, once for each grant, and
 * with exactly the approved arguments. After a crash, a tool with the recovery `rerun` may run again. A call that was
 * denied, cancelled or never requested does not run. Inputs are compared as JSON.
 */
export const lawApproved = (log: readonly ApprovalLogItem[], tools: readonly ToolDeclaration[]): void => {
  const calls = new Calls(tools);
  for (const item of log) {
    if (item.did === "appended") calls.appended(item.entry);
    else calls.ran(item.key, item.input);
  }
};

interface Asked {
  readonly question: RequestApproval;
  granted: boolean | null;
  runs: number;
}

class Calls {
  readonly #tools: readonly ToolDeclaration[];
  #state: State | null = null;
  /** The last request about each call, by the key of the call. */
  readonly #asked = new Map<string, Asked>();
  readonly #ran = new Set<string>();

  constructor(tools: readonly ToolDeclaration[]) {
    this.#tools = tools;
  }

  appended(entry: Entry): void {
    const before = this.#outstanding();
    this.#state = stateAfter(law, this.#state, entry);
    for (const effect of this.#outstanding()) {
      if (effect.type !== "requestApproval" || before.some(({ id }) => id === effect.id)) continue;
      const key = keyOf(effect);
      if (this.#ran.has(key) && effect.because === "declared" && !this.#asked.has(key))
        throw broken(`the call ${key} ran before approval was asked for`);
      this.#asked.set(key, { question: effect, granted: null, runs: 0 });
    }
    const { event } = entry;
    if (event.type !== "approval.answered") return;
    for (const asked of this.#asked.values()) {
      if (asked.question.id === event.effectId) asked.granted = event.approved;
    }
  }

  ran(key: string, input: unknown): void {
    const call = this.#outstanding().find((effect): effect is CallTool => isCall(effect) && keyOf(effect) === key);
    const asked = this.#asked.get(key);
    this.#ran.add(key);
    if (asked?.granted === false) throw broken(`the call ${key} was denied, and runs`);
    if (call === undefined) throw broken(`the call ${key} runs, but is not outstanding`);
    if (asked === undefined) {
      if (this.#declared(call)?.approval === "always")
        throw broken(`the call ${key} of "${call.name}" runs, but approval was not asked for`);
      return;
    }
    if (asked.granted === null) throw broken(`the call ${key} runs before it was approved`);
    asked.runs += 1;
    if (asked.runs > 1 && this.#declared(call)?.recovery !== "rerun")
      throw broken(`the call ${key} was approved once, and ran ${asked.runs} times`);
    requireSame(law, `the input of ${key}`, plain(asked.question.arguments), plain(input));
  }

  #outstanding(): readonly AnswerableEffect[] {
    return this.#state === null ? [] : outstanding(this.#state);
  }

  #declared({ name }: CallTool): ToolDeclaration | undefined {
    return this.#tools.find((tool) => tool.name === name);
  }
}

const law = "approvals";

const broken = (words: string): LawBroken => new LawBroken(law, words);

const isCall = (effect: AnswerableEffect): effect is CallTool => effect.type === "callTool";

/** The idempotency key of a call: the same whenever it runs. */
const keyOf = ({ threadId, callId }: CallTool | RequestApproval): string => `${threadId}/${callId}#1`;

/**
 * Checks that a host keeps the law about approvals (`lawApproved`), on random conversations. Their tools always need an
 * approval, need one for some arguments, or never need one. Calls are approved, denied, answered twice, answered about
 * another request, cancelled, and left until another host has taken the thread over.
 *
 * @param run 20 conversations by default.
 */
export const checkApprovals = async (subject: HostUnderTest = {}, run: HostLawRun = {}): Promise<void> =>
  fc.assert(
    fc.asyncProperty(conversations, (turns) => onTestbed(subject, "approvals", (testbed) => holds(testbed, turns))),
    checkedParameters("checkApprovals", run, 20),
  );

type Turn = Drawn<typeof turns>;

const names = ["always", "above_ten", "never"] as const;

const call = recordOf({ name: fc.constantFrom(...names), amount: fc.nat({ max: 20 }) });

const answer = fc.constantFrom("approve", "approve", "deny", "approve twice", "approve another", "cancel", "hand over");

type Answer = Drawn<typeof answer>;

const turns = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  answers: fc.array(answer, { maxLength: 4 }),
});

const conversations = fc.array(turns, { minLength: 1, maxLength: 3 });

const holds = async (testbed: Testbed, turns: readonly Turn[]): Promise<void> => {
  const log: ApprovalLogItem[] = [];
  const tools = toolsInto(log);
  let host = opened(testbed, turns, tools, log);
  for (const [index, { answers }] of turns.entries()) {
    const askId = `ask-${index + 1}`;
    let handle = asked(host, askId);
    for (const answer of answers) {
      if (await atRest(testbed, host.thread(), handle)) break;
      if (answer === "hand over") {
        await host.close();
        host = opened(testbed, turns, tools, log);
        handle = asked(host, askId);
      } else if (answer === "cancel") handle.abort("enough");
      else await answered(host.thread(), answer);
    }
    while (!(await atRest(testbed, host.thread(), handle))) await answered(host.thread(), "deny");
  }
  await host.close();
  await testbed.store.close();
  lawApproved(log, declarationsOf(tools));
};

const opened = (testbed: Testbed, turns: readonly Turn[], tools: readonly Tool[], log: ApprovalLogItem[]): Host =>
  testbed.open({
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
const atRest = async ({ sleep }: Testbed, thread: HostedThread, handle: AskHandle): Promise<boolean> => {
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
