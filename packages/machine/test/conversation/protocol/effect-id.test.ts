import { turnOfEffect } from "@colloquy/machine/hosting";
import { expect, test } from "vitest";
import {
  approvalId,
  callIdAt,
  deadlineId,
  llmId,
  queueId,
  retryId,
  summaryId,
  toolId,
  waitId,
} from "../../../src/conversation/protocol/effect-id.ts";

test.each(["thread", "a/9.9#1", "7!deadline", ""])("an effect's id names its turn, in the thread %j", (threadId) => {
  const callId = callIdAt(12, 3, 4);
  for (const id of [
    llmId(threadId, 12, 3, 1),
    toolId(threadId, callId, 2),
    approvalId(threadId, callId, 1),
    retryId(threadId, 12, 3, 1),
    waitId(threadId, 12, 3, 1),
    deadlineId(threadId, 12),
  ])
    expect([id, turnOfEffect(id)]).toEqual([id, 12]);
  for (const id of [summaryId(threadId, 12), queueId(threadId, 12), `${threadId}/`, `${threadId}/twelve`])
    expect([id, turnOfEffect(id)]).toEqual([id, null]);
});
