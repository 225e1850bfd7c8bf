import type { HostedThread } from "@colloquy/host";
import { approvalsOf, callsToAnswer } from "@colloquy/machine";
import { HttpError } from "../http/http-error.ts";
import type { Principal } from "../http/route.ts";
import { callIdOf, placeOfItem, wireCallId } from "../items/item.ts";
import type { ResponseInput } from "./response-input.ts";
import { findLeg, readableLeg, type ReadableLeg, recordOf, type ResponsesRoom, showTurn } from "./responses-room.ts";
import type { TurnRecord } from "./leg-records.ts";

/**
 * Answers what a turn waits for, and gives the leg that goes on with it. All of it is answered, or nothing is journalled; the
 * same answers again give the leg that there is.
 */
export const continueTurn = async (
  room: ResponsesRoom,
  thread: HostedThread,
  input: ResponseInput,
  principal: Principal,
): Promise<ReadableLeg> => {
  const turn = turnOf(thread, input);
  const state = await thread.state();
  const record = state === null ? null : await recordOf(thread, state, turn);
  if (state === null || record === null) throw waitsForNothing(input);
  const asked = legAsking(record, thread.id, input);
  if (asked === null) throw waitsForNothing(input);
  const next = { threadId: thread.id, turn, leg: asked + 1 };
  const calls = callsToAnswer(state).filter((call) => call.turn === turn);
  const requests = approvalsOf(state).filter((request) => request.turn === turn);
  const answered = new Set([...input.answers, ...input.approvals].map(({ place }) => callIdOf(place)));
  const open = [...calls, ...requests];
  if (!open.some(({ callId }) => answered.has(callId))) {
    // What is otherwise than the first time is refused here.
    for (const { place, output } of input.answers) await thread.answerTool(callIdOf(place), output);
    const leg = await findLeg(room, next);
    if (leg === null) throw waitsForNothing(input);
    return leg;
  }
  const missing = open.filter(({ callId }) => !answered.has(callId)).map(({ callId }) => wireCallId(thread.id, callId));
  if (missing.length > 0)
    throw new HttpError(400, `no output for ${missing.join(", ")}: give those of all calls at once`, {
      param: "input",
      code: "missing_tool_output",
    });
  for (const draft of input.said) await thread.append(draft);
  const running = showTurn(room, thread, turn, record);
  const leg = running.current;
  for (const { place, output } of input.answers) await thread.answerTool(callIdOf(place), output);
  for (const { place, number, approve, reason } of input.approvals) {
    const request = requests.find(({ callId }) => callId === callIdOf(place));
    if (request === undefined || !request.id.endsWith(`!approval-${number}`)) throw waitsForNothing(input);
    const by = { by: principal.id, digest: request.digest };
    if (approve) await thread.approve(request.id, by);
    else await thread.deny(request.id, { ...by, ...(reason === null ? {} : { reason }) });
  }
  return readableLeg(await leg);
};

const turnOf = (thread: HostedThread, { answers, approvals }: ResponseInput): number => {
  const places = [...answers, ...approvals].map(({ place }) => place);
  const [first] = places;
  if (first === undefined || places.some(({ turn, threadId }) => turn !== first.turn || threadId !== thread.id))
    throw new HttpError(400, "input: these outputs are not of one turn of this conversation", { param: "input" });
  return first.turn;
};

/** The leg that asked for what is answered: the newest one of all. */
const legAsking = ({ legs }: TurnRecord, threadId: string, { answers, approvals }: ResponseInput): number | null => {
  const ids = new Set([
    ...answers.map(({ place }) => wireCallId(threadId, callIdOf(place))),
    ...approvals.map(({ place, number }) => `${callIdOf(place)} ${number}`),
  ]);
  const asking = legs.findLastIndex(({ facts }) =>
    facts.items.some((item) => {
      const { call_id: callId } = item;
      if (typeof callId === "string") return ids.has(callId);
      const place = item.type === "mcp_approval_request" ? placeOfItem(item.id) : null;
      return place !== null && ids.has(`${callIdOf(place)} ${place.kind.slice(4)}`);
    }),
  );
  return asking < 0 ? null : asking + 1;
};

const waitsForNothing = ({ answers, approvals }: ResponseInput): HttpError =>
  new HttpError(
    400,
    `nothing waits for ${[...answers, ...approvals].map(({ place }) => wireCallId(place.threadId, callIdOf(place))).join(", ")}`,
    { param: "input", code: "no_such_call" },
  );
