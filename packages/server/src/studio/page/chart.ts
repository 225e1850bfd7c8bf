import { h, type ComponentChild } from "preact";
import type { Chart, ChartArrow, ChartState } from "../wire/wire.ts";

export interface ChartOptions {
  readonly chart: Chart;
  /** The states before and after an entry. */
  readonly came: string | null;
  readonly place: string;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Draws the statechart of a conversation, as the machine defines it, with the present state and the last transition
 * highlighted.
 */
export const StateChart = ({ chart, came, place }: ChartOptions): ComponentChild => {
  const boxes = layout(chart.states);
  const phaseOf = (state: string): string => chart.states.find(({ below }) => below.includes(state))?.name ?? state;
  const drawn = arrowsOf(chart.arrows, phaseOf);
  const way = came === null || came === place ? null : endsOf(came, place, phaseOf);
  const isOutside = ({ from }: ChartArrow): boolean => phaseOf(from) === from;
  const arrow = (each: ChartArrow): ComponentChild =>
    h(Arrow, {
      key: `${each.from}>${each.to}`,
      arrow: each,
      boxes,
      isLit: way?.from === each.from && way.to === each.to,
    });
  const box = (name: string, isGroup: boolean, isLit: boolean): ComponentChild =>
    h(StateBox, { key: name, name, box: boxes.get(name), isGroup, isLit, wasLit: name === came });
  return h(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: "img",
      "aria-label": `The present state is ${place}`,
    },
    h("defs", null, marker("tip"), marker("tip-lit")),
    // Arrows between the five phases are drawn below the boxes, arrows within one above its box.
    drawn.filter(isOutside).map(arrow),
    chart.states.map(({ name, below }) => box(name, below.length > 0, phaseOf(place) === name)),
    drawn.filter((each) => !isOutside(each)).map(arrow),
    chart.states.flatMap(({ below }) => below.map((name) => box(name, false, name === place))),
  );
};

const size = { width: 640, height: 268 };

/** The places of the known states; others are stacked at the left. */
const places: Readonly<Record<string, Box>> = {
  idle: { x: 8, y: 116, width: 84, height: 36 },
  awaiting_llm: { x: 140, y: 8, width: 336, height: 140 },
  awaiting_tool: { x: 140, y: 186, width: 336, height: 74 },
  completed: { x: 528, y: 60, width: 104, height: 36 },
  error: { x: 528, y: 205, width: 104, height: 36 },
};

const layout = (states: readonly ChartState[]): ReadonlyMap<string, Box> =>
  new Map(
    states.flatMap(({ name, below }, index): readonly (readonly [string, Box])[] => {
      const box = places[name] ?? { x: 8, y: 8 + index * 44, width: 84, height: 36 };
      return [[name, box], ...below.map((child, place) => [child, within(box, place)] as const)];
    }),
  );

/** Returns the box of a child state: two per row, under the parent's name. */
const within = ({ x, y }: Box, place: number): Box => ({
  x: x + 14 + (place % 2) * 174,
  y: y + 28 + Math.floor(place / 2) * 66,
  width: 134,
  height: 34,
});

/** Returns one arrow for each pair of adjacent states: leaves of one state, or two of the five phases. */
const arrowsOf = (arrows: readonly ChartArrow[], phaseOf: (state: string) => string): readonly ChartArrow[] => {
  const drawn = new Map<string, ChartArrow>();
  for (const { from, to, events } of arrows) {
    const ends = endsOf(from, to, phaseOf);
    if (ends.from === ends.to) continue;
    const key = `${ends.from}>${ends.to}`;
    drawn.set(key, { ...ends, events: [...new Set([...(drawn.get(key)?.events ?? []), ...events])] });
  }
  return [...drawn.values()];
};

const endsOf = (from: string, to: string, phaseOf: (state: string) => string) =>
  phaseOf(from) === phaseOf(to) && phaseOf(from) !== from && phaseOf(to) !== to
    ? { from, to }
    : { from: phaseOf(from), to: phaseOf(to) };

interface StateBoxOptions {
  readonly name: string;
  readonly box: Box | undefined;
  readonly isGroup: boolean;
  readonly isLit: boolean;
  readonly wasLit: boolean;
}

const StateBox = ({ name, box, isGroup, isLit, wasLit }: StateBoxOptions): ComponentChild | null => {
  if (box === undefined) return null;
  const { x, y, width, height } = box;
  const label = name.replaceAll("_", " ");
  return h(
    "g",
    {
      class: ["state", isGroup ? "group" : "leaf", isLit ? "lit" : "", wasLit ? "was" : ""].join(" "),
      "data-state": name,
    },
    h("rect", { x, y, width, height, rx: 8 }),
    isGroup
      ? h("text", { x: x + 14, y: y + 18 }, label)
      : h("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, label),
  );
};

const Arrow = ({
  arrow,
  boxes,
  isLit,
}: {
  readonly arrow: ChartArrow;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly isLit: boolean;
}): ComponentChild | null => {
  const [from, to] = [boxes.get(arrow.from), boxes.get(arrow.to)];
  if (from === undefined || to === undefined) return null;
  return h(
    "path",
    {
      class: isLit ? "arrow lit" : "arrow",
      d: pathBetween(from, to),
      "marker-end": `url(#${isLit ? "tip-lit" : "tip"})`,
    },
    h("title", null, `${arrow.from} → ${arrow.to}: ${arrow.events.join(", ")}`),
  );
};

/**
 * Returns a path from edge to edge; the two directions are side by side. An arrow across the chart passes around the
 * boxes between.
 */
const pathBetween = (from: Box, to: Box): string => {
  const [x1, y1, x2, y2] = [
    from.x + from.width / 2,
    from.y + from.height / 2,
    to.x + to.width / 2,
    to.y + to.height / 2,
  ];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [aside, down] = [(-(y2 - y1) / length) * apart, ((x2 - x1) / length) * apart];
  const [sx, sy] = edge(from, x1 + aside, y1 + down, x2 + aside, y2 + down);
  const [ex, ey] = edge(to, x2 + aside, y2 + down, x1 + aside, y1 + down);
  return `M${sx} ${sy}L${ex} ${ey}`;
};

const apart = 7;

/** Returns the point at which a line from within a box leaves it. */
const edge = (
  { x, y, width, height }: Box,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): readonly [number, number] => {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const acrossX = dx === 0 ? Infinity : ((dx > 0 ? x + width : x) - fromX) / dx;
  const acrossY = dy === 0 ? Infinity : ((dy > 0 ? y + height : y) - fromY) / dy;
  const share = Math.min(acrossX, acrossY);
  return [Math.round((fromX + dx * share) * 10) / 10, Math.round((fromY + dy * share) * 10) / 10];
};

const marker = (id: string): ComponentChild =>
  h(
    "marker",
    { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    h("path", { d: "M0 1L7 4L0 7z" }),
  );
