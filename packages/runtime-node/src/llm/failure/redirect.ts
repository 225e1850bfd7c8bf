import type { Failure } from "@colloquy/machine";
import { redactionMark, redact } from "@colloquy/host/runtime";

/** Whether a status sends the client elsewhere. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/**
 * The failure that a redirect is: keys, headers and the whole prompt were meant for one host, and are sent to no
 * other. It names the target by host and path, without query and whatever in the path may be a secret.
 */
export const redirectFailure = (
  status: number,
  location: string | null,
  {
    baseURL,
    secrets = [],
  }: { readonly baseURL?: string | undefined; readonly secrets?: readonly string[] | undefined },
): Failure => {
  const target = location === null ? null : targetOf(location, baseURL, secrets);
  const where = target === null ? `(${status}) and does not say where to` : `(${status}) to ${target}`;
  return {
    kind: "unknown",
    retryable: false,
    message: `the server redirects ${where}; redirects are not followed, lest key and prompt reach another host: check the base URL`,
    status,
  };
};

/** Null for a location that can't be read. */
const targetOf = (location: string, baseURL: string | undefined, secrets: readonly string[]): string | null => {
  const url = URL.parse(location, baseURL);
  if (url === null) return null;
  const path = url.pathname.split("/").map((segment) => segmentOf(segment, secrets));
  const target = redact(`${url.protocol}//${url.host}${path.join("/")}`, secrets);
  return target.length > targetLength ? `${target.slice(0, targetLength)}…` : target;
};

const segmentOf = (segment: string, secrets: readonly string[]): string => {
  const text = redact(decoded(segment), secrets);
  return /^(?=.*\d)(?=.*[A-Za-z])[\w.~+=-]{32,}$/.test(text) ? redactionMark : text;
};

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const targetLength = 300;
