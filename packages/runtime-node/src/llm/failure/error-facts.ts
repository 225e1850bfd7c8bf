import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, isText, listOf, parseJson, textOf } from "../reply/loose-json.ts";
import { charactersRead } from "@colloquy/host/runtime";

/** What an error says of itself, however it is wrapped. */
export interface ErrorFacts {
  /** The HTTP status, or the one that the error object names. */
  readonly status?: number;
  readonly code?: string;
  /** For a person to read. Never empty. */
  readonly message: string;
  /** Codes, types and status names, to look for words in. */
  readonly words: string;
}

/**
 * Reads what servers send: `{error: {…}}`, the object itself, a list of one, `{detail}`, a plain text. The status of
 * the response counts where it is one of an error, else a number that the error gives as its status or code.
 */
export const errorFacts = (error: unknown, responseStatus = 0): ErrorFacts => {
  const value = unwrapped(error);
  const object = isObject(value) ? value : {};
  const status = responseStatus >= 400 ? responseStatus : statusOf(object);
  const code = codeOf(object);
  const inner = object["innererror"];
  const words = [object["code"], object["type"], object["status"], isObject(inner) ? inner["code"] : undefined];
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    message:
      messageOf(value) ||
      (status === undefined
        ? "the server reported an error and did not say which"
        : `the server answered with status ${status}`),
    words: words.map((word) => textOf(word).slice(0, codeCharacters)).join(" "),
  };
};

// A body was parsed from JSON, or is a text.
const unwrapped = (error: unknown): Json => {
  const value = (typeof error === "string" ? (objectIn(error) ?? error) : error) as Json;
  const [first] = listOf(value);
  if (first !== undefined) return unwrapped(first);
  const inner = isObject(value) ? value["error"] : undefined;
  return isObject(inner) || isText(inner) ? inner : (value ?? null);
};

const objectIn = (text: string): JsonObject | undefined => {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
};

/** The longest code that is one. */
const codeCharacters = 200;

const statusOf = (error: JsonObject): number | undefined =>
  [error["status_code"], error["status"], error["code"]]
    .map(Number)
    .find((status) => Number.isInteger(status) && status >= 400 && status < 600);

const codeOf = (error: JsonObject): string | undefined => {
  const code = error["code"] ?? error["type"];
  if (typeof code === "number") return String(code);
  return isText(code) ? code.slice(0, codeCharacters) : undefined;
};

/** A gateway's own message says little; what it got from the model's provider stands behind it. */
const messageOf = (error: Json): string => {
  if (!isObject(error)) return isText(error) ? plainText(error) : "";
  const { message, detail, metadata } = error;
  const own = (isText(message) ? message : detailOf(detail) || JSON.stringify(error)).slice(0, charactersRead);
  const raw = isObject(metadata) ? metadata["raw"] : undefined;
  const upstream = isText(raw) ? messageOf(unwrapped(raw)) || raw : "";
  return upstream === "" ? own : `${own}: ${upstream}`;
};

/** FastAPI says what is wrong with a request as a list, each with the place where it is. */
const detailOf = (detail: Json | undefined): string =>
  textOf(detail) ||
  listOf(detail)
    .map((issue) => (isObject(issue) ? issueInWords(issue) : textOf(issue)))
    .filter((words) => words !== "")
    .join("; ");

const issueInWords = ({ loc, msg }: JsonObject): string => {
  const place = listOf(loc).filter((key) => typeof key === "string" || typeof key === "number");
  return [place.join("."), textOf(msg)].filter((words) => words !== "").join(": ");
};

/** A page's text, as far as it can be had without its marks. */
const plainText = (text: string): string =>
  text
    .slice(0, charactersRead)
    .replaceAll(/<(script|style)[^>]*>[\s\S]*?<\/\1>/gi, " ")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
