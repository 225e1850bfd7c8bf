import { Fragment, h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { div, link, span } from "./element.ts";

/**
 * Makes invisible characters visible: control characters, and those that change the text direction. A carriage return
 * before a line feed is part of the line end.
 */
export const visible = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(unseen, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .toWellFormed();

/** Matches controls but line feed and tab, direction marks, zero-width characters, and language tags. */
const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export const oneLine = (text: string): string => visible(text.replaceAll(/\s+/g, " "));

export const LongText = ({
  text,
  class: name = "text",
}: {
  readonly text: string;
  readonly class?: string;
}): ComponentChild => {
  const [shown, setShown] = useState(textMax);
  const more = text.length - shown;
  return h(
    Fragment,
    null,
    h("div", { class: name, dir: "auto" }, visible(more > 0 ? text.slice(0, shown) : text)),
    more > 0 && link(`${more.toLocaleString("en")} more characters`, () => setShown(shown * 10)),
  );
};

const textMax = 20_000;

/** Shows a JSON value, indented and in colours. */
export const JsonText = ({ value }: { readonly value: unknown }): ComponentChild => {
  const text = JSON.stringify(value, null, 2) ?? "";
  if (text.length > colouredMax) return h(LongText, { text, class: "json" });
  return div("json", ...pieces(text));
};

const colouredMax = 8_000;

const pieces = (text: string): readonly (ComponentChild | string)[] => {
  const found: (ComponentChild | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:-?\d[\d.eE+-]*|true|false|null)\b/g)) {
    const [whole, quoted, colon] = match;
    found.push(text.slice(end, match.index));
    const name = quoted === undefined ? "atom" : colon === undefined ? "string" : "name";
    found.push(span(`json-${name}`, visible(quoted ?? whole)), colon ?? "");
    end = match.index + whole.length;
  }
  return [...found, text.slice(end)];
};

/** Formats the time of an event, with its date if that is not today. The time may be any number. */
export const timeOf = (at: number, withDay: boolean = true): string => {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const time = date.toLocaleTimeString("en-GB");
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday || !withDay ? time : `${date.toLocaleDateString("sv-SE")} ${time.slice(0, 5)}`;
};

/** Formats a number: `12,480`; a question mark if unknown. */
export const numberOf = (count: number | null): string => (count === null ? "?" : count.toLocaleString("en"));

/** Formats a duration: `430 ms`, `1.2 s`, `3 min 4 s`, `2 d 5 h`. */
export const durationOf = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const units = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  const two = units.slice(first, first + 2).filter(([count]) => count > 0);
  return two.map(([count, unit]) => `${count} ${unit}`).join(" ");
};

export const placeWords = (place: string): string => place.replaceAll("_", " ");

/** Returns `1 turn`, `2,000 turns`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${numberOf(count)} ${count === 1 ? one : many}`;
