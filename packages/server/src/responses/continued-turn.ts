import type { HostedThread } from "@colloquy/host";
import { approvalsOf, callsToAnswer, type Entry } from "@colloquy/machine";
import { HttpError, invalid } from "../http/http-error.ts";
import type { Principal } from "../http/route.ts";
import { callIdOf, placeOfItem, wireCallId } from "../items/item.ts";
import type { ReadableLeg } from "./leg.ts";
import { readTurn, type TurnRecord } from "./recorded-turn.ts";
import type { ApprovalAnswer, ResponseInput } from "./response-input.ts";
import { awaitedLeg, findLeg, type ResponsesRoom, showTurn } from "./responses-room.ts";

/**
 * Answers the calls that a turn waits for, and returns the leg that continues it. If an answer is missing, nothing is
 * journalled. The same answers again return the existing leg.
 */
export const continueTurn = async (
  room: ResponsesRoom,
  thread: HostedThread,
  input: ResponseInput,
  principal: Principal,
): Promise<ReadableLeg> => {
  const { leg } = await room.lines.next(thread.id, () => answerTurn(room, thread, input, principal));
  return leg;
};

/** Journals the answers. The leg is a promise inside, so that the thread's line does not wait for it. */
const answerTurn = async (
  room: ResponsesRoom,
  thread: HostedThread,
  input: ResponseInput,
  principal: Principal,
): Promise<{ readonly leg: Promise<ReadableLeg> }> => {
  const turn = turnOf(thread, input);
  const read = await readTurn(thread, turn);
  if (read === null) throw waitsForNothing(input);
  const { entries, state, record } = read;
  const asked = legAsking(record, thread.id, input);
  const calls = callsToAnswer(state).filter((call) => call.turn === turn);
  const requests = approvalsOf(state).filter((request) => request.turn === turn);
  const answers = input.answers.filter(({ place }) => calls.some(({ callId }) => callId === callIdOf(place)));
  // The host refuses an answer that differs from the first one, and takes a repeated one.
  for (const answer of input.answers)
    if (!answers.includes(answer)) await thread.answerTool(callIdOf(answer.place), answer.output);
  const decisions = input.approvals.flatMap((approval) => {
    const request = requests.find(({ id }) => isAbout(id, approval));
    if (request !== undefined) return [{ ...approval, request }];
    if (isDecided(entries, approval)) return [];
    throw waitsForNothing(input);
  });
  const answered = new Set([...answers, ...decisions].map(({ place }) => callIdOf(place)));
  if (answered.size === 0) {
    const leg = await findLeg(room, { threadId: thread.id, turn, leg: asked + 1 });
    if (leg === null) throw waitsForNothing(input);
    return { leg: Promise.resolve(leg) };
  }
  const open = [...calls, ...requests].filter(({ callId }) => !answered.has(callId));
  const missing = open.map(({ callId }) => wireCallId(thread.id, callId));
  if (missing.length > 0)
    throw invalid(
      `no output for ${missing.join(", ")}: give those of all calls at once`,
      "input",
      "missing_tool_output",
    );
  for (const draft of input.said) await thread.append(draft);
  const running = showTurn(room, thread, record);
  const leg = awaitedLeg(room, running, asked + 1);
  // If an answer is refused, that error is thrown instead.
  leg.catch(() => {});
  for (const { place, output } of answers) await thread.answerTool(callIdOf(place), output);
  for (const { approve, reason, request } of decisions) {
    const by = { by: principal.id, digest: request.digest };
    if (approve) await thread.approve(request.id, by);
    else await thread.deny(request.id, { ...by, ...(reason === null ? {} : { reason }) });
    if (approve) running.continueAfter(asked);
  }
  return { leg: leg.then((found) => found ?? Promise.reject(waitsForNothing(input))) };
};

const isAbout = (id: string, { place, number }: ApprovalAnswer): boolean =>
  id.endsWith(`/${callIdOf(place)}!approval-${number}`);

/** Checks whether the same decision was journalled before. */
const isDecided = (entries: readonly Entry[], approval: ApprovalAnswer): boolean =>
  entries.some(
    ({ event }) =>
      event.type === "approval.answered" && event.approved === approval.approve && isAbout(event.effectId, approval),
  );

const turnOf = (thread: HostedThread, { answers, approvals }: ResponseInput): number => {
  const places = [...answers, ...approvals].map(({ place }) => place);
  const [first] = places;
  if (first === undefined || places.some(({ turn, threadId }) => turn !== first.turn || threadId !== thread.id))
    throw invalid("input: these outputs are not of one turn of this conversation", "input");
  const given = places.map(callIdOf);
  const twice = given.find((callId, index) => given.indexOf(callId) !== index);
  if (twice !== undefined) throw invalid(`input: ${wireCallId(thread.id, twice)} is answered twice`, "input");
  return first.turn;
};

/** Returns the number of the newest leg that asked for one of the answered calls. Throws if there is none. */
const legAsking = ({ legs, output }: TurnRecord, threadId: string, input: ResponseInput): number => {
  const { answers, approvals } = input;
  const ids = new Set([
    ...answers.map(({ place }) => wireCallId(threadId, callIdOf(place))),
    ...approvals.map(({ place, number }) => `${callIdOf(place)} ${number}`),
  ]);
  const asking = legs.findLastIndex(({ facts }) =>
    (facts.endedAt === null ? output.items : facts.items).some((item) => {
      const { call_id: callId } = item;
      if (typeof callId === "string") return ids.has(callId);
      const place = item.type === "mcp_approval_request" ? placeOfItem(item.id) : null;
      return place !== null && ids.has(`${callIdOf(place)} ${place.kind.slice(4)}`);
    }),
  );
  if (asking < 0) throw waitsForNothing(input);
  return asking + 1;
};

const waitsForNothing = ({ answers, approvals }: ResponseInput): HttpError => {
  const calls = [...answers, ...approvals].map(({ place }) => wireCallId(place.threadId, callIdOf(place)));
  return invalid(`nothing waits for ${calls.join(", ")}`, "input", "no_such_call");
};
