// Beside the forms of entries, since a snapshot has cuts too, and a browser that reads no journal need not load those.
import type { Cut, Fields, SummarisedTurns, TurnRange } from "../../prompt/cut.ts";
import { shortestShrink, type Shrink } from "../../prompt/shrink.ts";
import type { UnitPosition } from "../../prompt/unit.ts";
import { closed, count, keep, type Lasting, list, nullable, number, oneOf, optional, ruled, text } from "./form.ts";

export const id = keep(text);

export const inOrder = <Range extends TurnRange>(range: Lasting<Range>): Lasting<Range> =>
  ruled(range, ({ from, to }) => from <= to, "turns that do not end before they begin");

const position = closed<UnitPosition>({ turn: count, unit: count });
export const fields = closed<Fields>({ omit: optional(list(id)), inputs: optional(list(id)) });

const shrink = closed<Shrink>({
  rule: oneOf("clear", "headAndTail", "reference"),
  of: oneOf("toolResults", "messages"),
  characters: ruled(count, (value) => value >= shortestShrink, `${shortestShrink} or more`),
  before: optional(position),
  tool: optional(id),
});

export const cut = closed<Cut>({
  policy: id,
  from: nullable(position),
  dropped: optional(list(id)),
  summarised: optional(inOrder(closed<SummarisedTurns>({ from: count, to: count, upTo: count }))),
  shrink: optional(list(shrink)),
  fields: optional(fields),
  system: optional(oneOf("omit")),
  interrupted: oneOf("keep", "omit"),
  calibration: optional(ruled(number, (value) => value > 0, "more than 0")),
});
