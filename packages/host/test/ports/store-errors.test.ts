import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import { expect, test } from "vitest";

test("the error for a lost lease names its thread, its holder and its token, and says what to do", () => {
  const error = new LeaseLostError({ threadId: "t", owner: "me", token: 7 });
  expect(error.message).toBe(
    'thread "t": the lease of "me" (token 7) is no longer in force. Open the thread again to acquire a new one.',
  );
  expect(error).toMatchObject({ name: "LeaseLostError", threadId: "t" });
});

test("the error for another writer's entries names the expected and the found entry, and says what to do", () => {
  const error = new SequenceConflictError("t", 3, 5);
  expect(error.message).toBe(
    'thread "t": expected its newest entry to be 3, found 5. Another writer appended; open the thread again.',
  );
  expect(error).toMatchObject({ name: "SequenceConflictError", threadId: "t", expectedSeq: 3, actualSeq: 5 });
});
