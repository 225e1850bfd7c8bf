import { append, at } from "../../thread/chunks.ts";
import { marked, messageFromDraft } from "../../thread/make-message.ts";
import { frozen } from "../../thread/plain-data.ts";
import type { Message } from "../../thread/message.ts";
import type { OutputFailure, OutputIssue, RefusedOutput } from "../../thread/turn.ts";
import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import { publish } from "../protocol/effect.ts";
import type { Decided } from "../protocol/entry.ts";
import type { LlmCompleted, OutputAccepted, OutputRefused } from "../protocol/event.ts";
import { awaited } from "../protocol/effect-id.ts";
import { checkOutput } from "./call.ts";
import { type Plan, staying } from "./plan.ts";
import { closeTurn, flushWaiting, withAnswer } from "./turn-closing.ts";
import { nextCall } from "./turn-opening.ts";

/** Applies a reply of a turn that must give an output: the reply is checked, or the turn ends without an output. */
export const receiveOutput = (
  data: ConversationData,
  open: OpenTurn,
  message: Message,
  { finishReason, at: now }: LlmCompleted,
  { unchecked }: Decided,
): Plan => {
  if (unchecked !== undefined) {
    const said = unchecked === "cut" ? marked(message, { incomplete: true }) : message;
    const failure = { kind: unchecked, message: whyUnchecked(unchecked, message, finishReason) };
    return closeTurn(data, withAnswer(open, said), { status: "failed", output: failure }, now);
  }
  const checking: OpenTurn = {
    ...open,
    messages: append(open.messages, message),
    made: open.made + 1,
    stage: Object.freeze({ type: "checking", finishReason }),
  };
  return {
    data: { ...data, open: checking },
    arrow: "checking",
    effects: () => checkOutput(data.threadId, checking),
  };
};

/** Applies the result of a check: the turn has its output, the model is asked again, or the turn fails. */
export const receiveCheck = (data: ConversationData, event: OutputAccepted | OutputRefused, decided: Decided): Plan => {
  const check = awaited(data, event.effectId);
  if (check?.of !== "check") return staying(data);
  const { open, finishReason } = check;
  const reply = at(open.messages, open.messages.length - 1);
  const { output } = open;
  if (reply === undefined || output === undefined) return staying(data);
  if (event.type === "output.refused") return receiveRefusal(data, open, output.name, reply, event, decided);
  if (decided.goesOn === true) return nextCall(data, flushWaiting(open), decided, event.at);
  const outcome = { status: "completed", finishReason } as const;
  const { value } = event;
  return closeTurn(data, { ...open, answer: reply.id }, outcome, event.at, { name: output.name, value });
};

/** Returns whether the model may be asked again after an invalid answer. */
export const mayRepair = ({ output, refusedOutputs = [] }: OpenTurn, { checkFailed }: OutputRefused): boolean =>
  output !== undefined && checkFailed !== true && refusedOutputs.length < output.repairs;

const receiveRefusal = (
  data: ConversationData,
  open: OpenTurn,
  name: string,
  reply: Message,
  event: OutputRefused,
  decided: Decided,
): Plan => {
  const { issues, at: now } = event;
  const repairs = mayRepair(open, event);
  const request =
    repairs && decided.limit === undefined
      ? { request: repairRequest(`${open.number}.${open.made}`, name, issues) }
      : {};
  const refused: RefusedOutput = frozen({ reply, issues, ...request });
  const refusedOutputs = [...(open.refusedOutputs ?? []), refused];
  const noted: OpenTurn = { ...open, refusedOutputs };
  const failure: OutputFailure = {
    kind: event.checkFailed === true ? "unchecked" : "invalid",
    message: issuesInWords(issues),
  };
  const plan = repairs
    ? nextCall(data, flushWaiting(withRequest(noted, refused)), decided, now)
    : closeTurn(data, noted, { status: "failed", output: failure }, now);
  const { number: turn, step } = open;
  const attempt = refusedOutputs.length;
  const signal = publish({ type: "output.refused", turn, step, attempt, issues: issues.length });
  return { ...plan, effects: (prompts) => [signal, ...plan.effects(prompts)] };
};

const withRequest = (open: OpenTurn, { request }: RefusedOutput): OpenTurn =>
  request === undefined ? open : { ...open, messages: append(open.messages, request), made: open.made + 1 };

/** The machine writes this message, so it is marked as synthesised. */
const repairRequest = (id: string, name: string, issues: readonly OutputIssue[]): Message => {
  const content = `Your answer is not a valid "${name}":\n${listed(issues)}\nAnswer again with the whole corrected JSON, and nothing else.`;
  return marked(messageFromDraft(id, { role: "user", content }), { synthesised: true });
};

const listed = (issues: readonly OutputIssue[]): string => issues.map((issue) => `- ${inWords(issue)}`).join("\n");

const issuesInWords = (issues: readonly OutputIssue[]): string =>
  issues.length === 0 ? "the last answer did not fit" : issues.map(inWords).join("; ");

const inWords = ({ message, path = [] }: OutputIssue): string =>
  path.length === 0 ? message : `"${path.join(".")}": ${message}`;

const whyUnchecked = (kind: "refused" | "cut", { parts }: Message, finishReason: string | null): string =>
  kind === "cut"
    ? `the reply ended early (${finishReason ?? "no reason was given"})`
    : parts.flatMap((part) => (part.type === "refusal" ? part.text : [])).join(" ");
