import { h, type ComponentChild } from "preact";
import type { Chart, ChartArrow, ChartState } from "../wire/wire.ts";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Draws the statechart of a conversation, with the present state and the last transition highlighted.
 *
 * @param came the state before @param place the present state
 */
export const stateChart = (chart: Chart, came: string | null, place: string): ComponentChild => {
  const boxes = layout(chart.states);
  const phaseOf = (state: string): string => chart.states.find(({ below }) => below.includes(state))?.name ?? state;
  const drawn = arrowsOf(chart.arrows, phaseOf);
  const way = came === null || came === place ? null : endsOf(came, place, phaseOf);
  const isOutside = ({ from }: ChartArrow): boolean => phaseOf(from) === from;
  const arrow = (each: ChartArrow): ComponentChild => {
    const [from, to] = [boxes.get(each.from), boxes.get(each.to)];
    const isLit = way?.from === each.from && way.to === each.to;
    return from !== undefined && to !== undefined && arrowBetween(each, pathBetween(from, to), isLit);
  };
  const box = (name: string, isGroup: boolean, isLit: boolean): ComponentChild => {
    const place = boxes.get(name);
    const kind = `${isGroup ? "group" : "leaf"}${isLit ? " lit" : ""}${name === came ? " was" : ""}`;
    return place !== undefined && stateBox(name, place, kind);
  };
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

const stateBox = (name: string, { x, y, width, height }: Box, kind: string): ComponentChild => {
  const label = name.replaceAll("_", " ");
  return h(
    "g",
    { key: name, class: `state ${kind}`, "data-state": name },
    h("rect", { x, y, width, height, rx: 8 }),
    kind.startsWith("group")
      ? h("text", { x: x + 14, y: y + 18 }, label)
      : h("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, label),
  );
};

const arrowBetween = ({ from, to, events }: ChartArrow, path: string, isLit: boolean): ComponentChild =>
  h(
    "path",
    {
      key: `${from}>${to}`,
      class: isLit ? "arrow lit" : "arrow",
      d: path,
      "marker-end": `url(#${isLit ? "tip-lit" : "tip"})`,
    },
    h("title", null, `${from} → ${to}: ${events.join(", ")}`),
  );

/** Returns a path from edge to edge; the two directions are side by side. */
const pathBetween = (from: Box, to: Box): string => {
  const [x1, y1] = [from.x + from.width / 2, from.y + from.height / 2];
  const [x2, y2] = [to.x + to.width / 2, to.y + to.height / 2];
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
