import {
  type AnswerableEffect,
  type CallTool,
  type Entry,
  outstanding,
  type RequestApproval,
  type State,
  type ToolDeclaration,
} from "@colloquy/machine";
import { plain } from "../evidence/difference.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { stateAfter } from "./folded.ts";

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

/** A call for which approval was requested, and the outcome of the request. */
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
