import { keyFilter, redactionMark } from "./key-filter.ts";

/**
 * Returns a text without anything that looks like a secret: the given ones (from 8 characters on) anywhere, keys by
 * their usual prefixes, text after words like "API key", credentials in a URL, and long runs of mixed letters and
 * digits. Servers quote keys in their errors, and errors are journalled. Text after the first 4,096 characters is
 * dropped: a body may be of any length, and patterns take time.
 */
export const redact = (text: string, secrets: readonly string[] = []): string => {
  let redacted = keyFilter(secrets).text(text.slice(0, charactersRead));
  for (const [pattern, replacement] of patterns) redacted = redacted.replaceAll(pattern, replacement);
  return redacted;
};

export const charactersRead = 4096;

const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic|apikey)\s+(?=\S*\d|\S{16})[\w\-.~+/=*]{6,}/gi, `$1 ${redactionMark}`],
  // A password may hold a raw `/` or `@`. A file has none, and its path may hold the name of a scoped package.
  [/(?<!\bfile)(:\/\/)[^\s"'<>]+@/g, `$1${redactionMark}@`],
  [/([?&](?:api[-_]?key|key|access_token|token|sig)=)[^&\s"']+/gi, `$1${redactionMark}`],
  [
    // From the start of a run, not from each of its hyphens, which would take quadratic time.
    /(?<![\w-])([\w-]*(?:(?:api|access|account|private|secret|signing)[-_ ]?key|(?:access|auth|refresh|session)[-_ ]?token|authorization|cookie|credential|signature|secret|password)["']?(?: provided| given)?["']?\s*[:=]\s*["']?)(?!\[redacted)[^\s"',;&]+/gi,
    `$1${redactionMark}`,
  ],
  [/(\bapi[-_ ]?key\s+["'`])[^"'`]+/gi, `$1${redactionMark}`],
  [
    /\b(?:(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|fw|r8|csk|gh[opsu]|github_pat|glpat|whsec|GOCSPX)[-_]|AKIA|ASIA|AIza)[\w*-]{6,}[\w*]/g,
    redactionMark,
  ],
  [/\b(?:npm_[A-Za-z0-9]{36}|dop_v1_\w{8,}|(?:ya29|SG)\.[\w.-]{8,})/g, redactionMark],
  [/\bxox[a-z]-[\w-]{8,}/g, redactionMark],
  // A JSON Web Token, whose signature is part of the secret.
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]+)?/g, redactionMark],
  // 32 or more letters and digits in one run, both among them, without an id's prefix (`req_`).
  [/(?<![\w/-])(?=[A-Za-z+]*\d)(?=[\d+]*[A-Za-z])[A-Za-z0-9+]{32,}={0,2}(?![\w-])/g, redactionMark],
];

/**
 * Returns the secrets of an application or a model handler, which is foreign code. If that fails, returns none, so that
 * the failure in progress is still reported.
 */
export const secretsOf = (
  source: () => readonly string[] | undefined,
  onError: (thrown: unknown) => void = () => {},
): readonly string[] => {
  try {
    // Callers in JavaScript may pass any value.
    const given: readonly unknown[] = source() ?? [];
    return given.filter((secret) => typeof secret === "string");
  } catch (thrown) {
    onError(thrown);
    return [];
  }
};
