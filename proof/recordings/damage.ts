import type { Json, JsonObject } from "@colloquy/machine";
import type { Corruption } from "./corruptions.ts";

type Change = Corruption["change"];

/** Leaves a value out. */
export const dropped: Change = () => undefined;

/** Changes one character of a text. */
export const otherText: Change = (value, random) => {
  if (typeof value !== "string" || value === "") return value;
  const place = random.integer(0, value.length - 1);
  return `${value.slice(0, place)}${value[place] === "x" ? "y" : "x"}${value.slice(place + 1)}`;
};

/** Adds one to a number. */
export const otherNumber: Change = (value) => (typeof value === "number" ? value + 1 : value);

/** Changes a value of any kind that is not a list or an object. */
export const otherValue: Change = (value, ...rest) =>
  typeof value === "boolean" ? !value : typeof value === "number" ? value + 1 : otherText(value, ...rest);

/** Returns a change to one of some values. */
export const oneOf =
  (...values: readonly Json[]): Change =>
  (value, random) =>
    random.pick(values.filter((each) => each !== value));

/** Exchanges two neighbours of a list. */
export const swapped: Change = (value, random) => {
  if (!Array.isArray(value) || value.length < 2) return value;
  // JSON that is a list is one of JSON.
  return withNeighboursSwapped(value as readonly Json[], random.integer(0, value.length - 2));
};

/** Adds an error to a response that has none. */
export const withError: Change = (value) =>
  isObject(value) ? { ...value, error: { message: "Provider returned error", code: 502 } } : value;

/** Changes of a streamed response, event by event. */
export const inStream = {
  dropped: events((all, place) => all.toSpliced(place, 1)),
  repeated: events((all, place) => all.toSpliced(place, 0, all[place] ?? "")),
  swapped: events((all, place, next) =>
    all.map((event, at) => (at === place ? (all[next] ?? "") : at === next ? (all[place] ?? "") : event)),
  ),
  truncated: events((all, place) => all.slice(0, place)),
  withError: events((all, place) => all.toSpliced(place, 0, `data: ${JSON.stringify(errorEvent)}`)),
  withoutEnd: ((sse) => (typeof sse === "string" ? sse.replace(/data: ?\[DONE\]\s*/, "") : sse)) satisfies Change,
  otherReason: ((sse) =>
    typeof sse === "string"
      ? sse.replaceAll(
          /("finish_reason": ?)"(\w+)"/g,
          (_, key, reason) => `${key}"${reason === "stop" ? "length" : "stop"}"`,
        )
      : sse) satisfies Change,
  otherUsage: ((sse) =>
    typeof sse === "string"
      ? sse.replaceAll(/("(?:completion|output)_tokens": ?)(\d+)/g, (_, key, tokens) => `${key}${Number(tokens) + 1}`)
      : sse) satisfies Change,
} as const;

/** Changes one of the events of a stream that carry text or arguments of the answer. */
function events(change: (all: readonly string[], place: number, next: number) => readonly string[]): Change {
  return (sse, random) => {
    if (typeof sse !== "string") return sse;
    const between = /\r?\n\r?\n/.exec(sse)?.[0] ?? "\n\n";
    const all = sse.split(between);
    const places = all.flatMap((event, place) => (carries.test(event) ? [place] : []));
    const place = random.pick(places);
    if (place === undefined) return sse;
    return change(all, place, places[places.indexOf(place) + 1] ?? place).join(between);
  };
}

const carries = /"(?:content|arguments)": ?"[^"]*[\w.,!?][^"]*"|"type": ?"response\.[\w.]*delta"/;

const errorEvent = { error: { message: "The server had an error", type: "server_error", param: null, code: null } };

const withNeighboursSwapped = <Value>(values: readonly Value[], place: number): readonly Value[] => [
  ...values.slice(0, place),
  ...values.slice(place, place + 2).toReversed(),
  ...values.slice(place + 2),
];

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
