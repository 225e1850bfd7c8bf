import { expect, test } from "vitest";
import { callIdOf, placeOfCall, placeOfItem, wireCallId } from "../../src/items/item.ts";

test.each([
  ["3.2.1", { turn: 3, step: 2, index: 1 }],
  ["3.2", { turn: 3, step: 2, index: 0 }],
  ["3", { turn: 3, step: 0, index: 0 }],
])("the id %s of a call names its place, which begins where the id says nothing", (callId, place) => {
  expect(placeOfCall("t", callId)).toEqual({ threadId: "t", ...place });
});

test.each([
  ["msg_1_2_3_t", { kind: "msg", turn: 1, step: 2, index: 3, threadId: "t" }],
  ["mcpr12_1_2_3_a_b_4", { kind: "mcpr12", turn: 1, step: 2, index: 3, threadId: "a_b_4" }],
  ["msg_1_2_t", null],
  ["xmsg_1_2_3_t", null],
  ["mcpr_1_2_3_t", null],
  ["msg_1_2_3_", null],
])("the id %s names the item %j", (id, item) => {
  expect(placeOfItem(id)).toEqual(item === null ? null : { id, ...item });
});

test("a caller finds the call again by the id that it was given", () => {
  const place = placeOfItem(wireCallId("t", "1.2.3"));
  expect(place === null ? null : callIdOf(place)).toBe("1.2.3");
});
