import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { titlesIn } from "./titles.ts";

const root = dirname(import.meta.dirname);

/** The tests of a sentence: by file, their titles after those of their groups. */
type Tests = Readonly<Record<string, readonly string[]>>;

const keys = "packages/runtime-node/test/llm/secrets/echoed-keys.test.ts";
const access = "packages/server/test/access.test.ts";
const http = "packages/server/test/http.test.ts";
const conversations = "packages/server/test/conversations.test.ts";
const responses = "packages/server/test/responses/response-routes.test.ts";
const chat = "packages/server/test/ui/chat.test.ts";
const serve = "packages/cli/test/serve.test.ts";
const serving = "packages/cli/test/serving.test.ts";
const studio = "packages/server/test/studio/routes.test.ts";
const approvals = "packages/host/test/loop/approvals.test.ts";
const redact = "packages/host/test/thread/redact.test.ts";
const modes = "packages/runtime-node/test/stores/modes.test.ts";
const law =
  "no answer to one principal holds an id or a word of another one's threads, and each thread begins with the prefix";

const places: Tests = {
  [http]: [
    "from where > %j is none of its names, as of a page that has its own name resolved to it",
    "from where > its own pages may call, others only where they are named, and only they are told of it",
  ],
};

const nobody = "authenticate > lets nobody in if authenticate gives %s, at once or later";

/** Each promise of SECURITY.md with its tests. */
const promised: Readonly<Record<string, Tests>> = {
  "A key reaches no journal, signal, log or error message, also when a server sends it back, whole or cut over the pieces of one streamed text.":
    {
      [keys]: [
        "a key that a server echoes: %s > leaves the handler in no part of a plain answer",
        "a key that a server echoes: %s > leaves it in no piece of a stream, wherever it is cut",
        "a key that a server echoes: %s > leaves it in no error, nor in what came before one",
        "a key that is cut over the parts of a streamed text is taken out as it is where it stands in one",
      ],
    },
  "Colloquy takes out the keys of the client, of its default headers and of its URL, and everything that has the form of a key.":
    {
      [keys]: [
        "keys are also what an environment variable of the SDK sets, and a header that looks like one",
        "a header is a key's by the words of its name, not by a piece of one",
      ],
      "packages/host/test/secrets/redact.test.ts": ["takes out the secrets that it is told, whatever they look like"],
    },
  "So it does in what tools, validators, model handlers and stores throw.": {
    "packages/host/test/loop/masked-failures.test.ts": [
      "a key never reaches journal, signals or model from a tool %s",
      "a key that an output's validator quotes never reaches journal or model",
      "a key in the failure of a model handler never reaches journal or caller",
      "a password in the address of a store is not in the error of an ask",
    ],
  },
  "`colloquy serve` and `colloquy studio` listen on 127.0.0.1, and `colloquy serve` refuses an address that others reach without a token.":
    {
      [serve]: ["it listens until it is asked to end", "what can't be served is refused in words: %#"],
      "packages/cli/test/studio.test.ts": [
        "the page is served until the process is asked to end, with the threads of the store and other policies",
      ],
    },
  "A server refuses requests by other host names, and those of pages of other origins.": places,
  "`authenticate` lets in nobody but a principal, whatever else it gives or throws.": {
    [access]: [nobody, "an error of %s, at once or later, is answered as 500 without its reason"],
  },
  "A thread that a principal may not use is not there for it, in no answer, list, search or cursor.": {
    "test/two-principals.test.ts": [law, "the requests of the law of two principals reach every route"],
    [studio]: ["a page of the listing is full, and its cursor names a thread that the caller may use"],
  },
  "Only the call that was shown runs: the tool, its version and the arguments.": {
    [approvals]: [
      "a tool call that needs approval > by another version, or with other arguments than approved, needs a new approval",
    ],
    [chat]: [
      "a page of the AI SDK > that was shown another version of a tool does not approve the one that is asked about now",
    ],
  },
  "An answer about anything else is refused.": {
    [approvals]: ["a tool call that needs approval > can't be approved by an answer about another"],
    [studio]: ["routes that do something > answer an approval only as it was shown"],
    "packages/cli/test/terminal/conversation/approvals.test.ts": ["y and n answer with the digest of the shown call"],
  },
  "A tool that must not run twice does not, whichever process dies meanwhile.": {
    "packages/host/test/loop/recovery.test.ts": [
      "after a crash > a tool call that was out, declared %s, runs again %i times",
      "after a crash > a tool that must run once, and had not started, is started and runs",
    ],
  },
  "A foreign JSON Schema cannot block the process: patterns match in linear time, a check takes at most ten million steps, and a schema that cannot be checked like this is refused when a tool is made or listed.":
    {
      "packages/host/test/tools/json-schema.test.ts": ["matching %s takes steps in proportion to the text"],
      "packages/host/test/tools/schema-problem.test.ts": [
        "a check of %s ends with an issue after a bounded number of steps",
        "a tool and an output with a pattern that is not linear are refused when they are made",
      ],
      "packages/runtime-node/test/mcp/hostile-process.long.test.ts": [
        "a process with the tools of a hostile server checks by its patterns, answers other asks, and ends",
      ],
    },
  "The hints of an MCP server have no effect unless you trust it.": {
    "packages/runtime-node/test/mcp/hostile-servers.test.ts": [
      "a list that lies > shows hints to approval, and heeds them, only if trust is true: %s",
    ],
  },
  "The body of an error is read to 4,096 characters, then cancelled.": {
    "packages/runtime-node/test/llm/endless-errors.test.ts": [
      "%s > reads an error %i without an end to a bound, and cancels it",
    ],
  },
  "Comments and empty events do not keep a stalled stream alive.": {
    "packages/runtime-node/test/llm/heartbeats.test.ts": ["%s > gives up a stalled stream that is kept open by %j"],
  },
  "Without `content`, no span or metric holds a word that a model, a server, a tool or a user chose.": {
    "packages/host/test/telemetry/words.test.ts": [
      "no span and no metric of a host has a word of user, model, server or tool, unless content is asked for",
      "no span of any journal has a word that a server chose",
    ],
  },
  "Redacted words are gone from the journal, the snapshots, the search index and what was derived, and from the copies that the redaction names.":
    {
      [redact]: [
        "redaction > takes the words of a turn out of the journal, the snapshot and what is said next, and leaves its place",
        "redaction > reaches the named copies, and in them only the copied part",
      ],
      "packages/runtime-node/test/stores/sqlite/privacy.test.ts": ["nothing of what was rewritten is in any file"],
    },
  "Only their user can read the files of a store, and those that the command writes.": {
    [modes]: [
      "files > are 0600, in folders of 0700, while a store is in use",
      "a SQLite file > and those beside it are 0600, named %s",
    ],
    "packages/cli/test/files.test.ts": [
      "an exported file is private to its owner, and does not follow an existing link",
    ],
    "packages/cli/test/typed-text.test.ts": [
      "typed inputs are stored only for their owner, with line ends, up to a limit",
    ],
  },
  "A journal that was tampered with is refused with a clear error, or does no harm.": {
    "test/proof/chaos/rows.long.test.ts": ["tampering would show a store that gives entries other seqs than they have"],
  },
  "Other threads stay as they are.": {
    "test/proof/chaos/rows.long.test.ts": ["tampering would show a store that reads no inbox with a damaged envelope"],
    "packages/runtime-node/test/stores/files/planted.test.ts": [
      "a folder in the place of a journal keeps a host from no other thread",
    ],
  },
  "Words of models, tools and journals cannot steer a terminal.": {
    "packages/cli/test/hostile.test.ts": [
      "what others wrote does not steer the terminal > colloquy %s",
      "what others wrote does not steer the terminal > every command has a case",
      "the one function > leaves nothing that steers, and all that shows",
    ],
  },
  "Files of a project run no code by themselves: tools are loaded only if the user allows it.": {
    "packages/sessions/test/agents/hostile.test.ts": [
      "tools have to be allowed, and none is loaded while anything is wrong",
    ],
    "packages/cli/test/settings.test.ts": ["a project that the user does not trust > sets no %s"],
  },
  "No package runs a script when it is installed.": {
    "test/manifests.test.ts": ["%s > says what npm and its readers look for, as the others do"],
  },
  "Packages import nothing that their manifests do not name.": {
    "test/packaging.long.test.ts": ["$name depends on what its files import, and on nothing that was built into them"],
  },
};

/** Each sentence of the section "What holds" of docs/server.md with its tests. */
const served: Readonly<Record<string, Tests>> = {
  "Only an object with a text as its `id` is a principal, at once or later.": {
    [access]: ["authenticate > lets a principal in if authenticate gives an object with a text as its id"],
  },
  "Anything else that `authenticate` gives is nobody (401): `undefined`, `false`, an empty text, a number, a list, a function.":
    { [access]: [nobody, "authenticate > lets nobody in whom a map of users does not have"] },
  "An option that throws is answered as 500, without the reason.": {
    [access]: ["an error of %s, at once or later, is answered as 500 without its reason"],
  },
  "`uiChat` needs `authenticate`.": { [access]: ["uiChat requires the option authenticate"] },
  "`mayUse` allows a thread only by `true`, at once or later.": {
    [access]: ["mayUse allows a thread only if mayUse gives true: %s"],
  },
  "A thread that a principal may not use is answered as one that is not there: 404, never 403.": {
    [responses]: ["a thread that a principal may not use is not there for it"],
    [conversations]: ["two principals see their own conversations and no others, whether there are any or not"],
    [chat]: ["what is posted > to a thread of somebody else finds none"],
    [studio]: ["nobody sees a thread that is not theirs"],
  },
  "No answer, list, search or cursor holds an id or a word of such a thread.": {
    "test/two-principals.test.ts": [law, "the law of two principals finds out that %s"],
    [studio]: ["a page of the listing is full, and its cursor names a thread that the caller may use"],
  },
  "Every thread that a request begins has the prefix of its principal: conversations, responses, forks and copies in the studio.":
    {
      [access]: [
        "threadPrefix > begins the id of a new thread with a threadPrefix of letters, digits, _ and -",
        "threadPrefix > begins no thread if threadPrefix gives %j",
      ],
      "test/two-principals.test.ts": [law],
      [conversations]: ["responses of two principals are theirs, forks too"],
    },
  "A thread of a subagent is reached by no id of a conversation, a response, an item or a chat.": {
    [conversations]: ["no id reaches a nested thread, or one whose id no path can have"],
  },
  "The studio shows it to a principal for which `mayUse` allows that very thread.": {
    "test/two-principals.test.ts": [law],
  },
  "A page approves and denies what it was shown: an answer without the signature of its request is refused (400), and so is one about another version or other arguments.":
    {
      [chat]: [
        "a page of the AI SDK > that was not shown all that it approves answers no approval: %#, $words",
        "a page of the AI SDK > that was shown another version of a tool does not approve the one that is asked about now",
      ],
    },
  "An approval of a response is about the request of that id, and a call that is asked about again has another id.": {
    "packages/server/test/responses/hostile.test.ts": [
      "approvals > of a call that is asked about anew, by a server that showed nothing of it, end their response with the new request",
    ],
  },
  "A token has at least 16 characters.": {
    [access]: ["the option %s is refused as %j without showing a token"],
    [serve]: ["what can't be served is refused in words: %#"],
  },
  "`colloquy serve` listens on 127.0.0.1, and refuses an address that others reach without `--token-file`.": {
    [serve]: ["it listens until it is asked to end", "what can't be served is refused in words: %#"],
  },
  "A token file that other users can read or write is refused, with the command that mends it.": {
    [serve]: ["a token file that other users can read or write (mode %o) is refused, with the command that mends it"],
  },
  "Requests by names that are not in `hosts`, and of pages whose origin is not in `origins`, are refused (403).":
    places,
  "Ids in a path are decoded first and then checked: 1 to 192 letters, digits, `_` and `-`.": {
    [http]: ["paths > lead nowhere with the id %s", "paths > are decoded before they are checked"],
  },
  "A body is read as far as `bodyBytesMax`, with a length or without.": {
    [http]: [
      "bodies > that are too large are refused by their length alone",
      "bodies > that are larger than they say are refused as well",
      "bodies > without a length are read as far as the limit, and no further",
    ],
  },
  "A request that comes in too slowly is cut: its head after ten seconds, all of it after thirty.": {
    [serving]: ["a head or body that arrives too slowly is cut off"],
  },
  "An error of a route reaches the operator and no client, unless it is an `HttpError`.": {
    [http]: ["answers > say nothing of what a route threw, which is reported"],
  },
  "A stream that breaks is cut, and prints no stack.": {
    [serving]: ["a failed stream is cut off without a last chunk, and prints no stack"],
  },
};

/** Returns the sentences of a section's list, without labels. */
const sentencesIn = (page: string, section: string): readonly string[] => {
  const text = readFileSync(join(root, page), "utf8").split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  return text
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .flatMap((line) => line.replace(/^- \*\*[^*]+\*\* /u, "").split(/(?<=\.) (?=[A-Z`])/u));
};

/** Returns the tests that a table names but that do not exist. */
const missingOf = (table: Readonly<Record<string, Tests>>): readonly string[] => {
  const named = Object.values(table).flatMap((tests) => Object.entries(tests));
  return [...new Set(named.flatMap(([path, titles]) => titles.map((title) => JSON.stringify([path, title]))))].filter(
    (each) => {
      // Cast: the line above wrote it.
      const [path = "", title = ""] = JSON.parse(each) as readonly string[];
      return !titlesAt(path).includes(title);
    },
  );
};

const titlesAt = (path: string): readonly string[] =>
  existsSync(join(root, path)) ? titlesIn({ path, text: readFileSync(join(root, path), "utf8") }) : [];

test.each([
  ["SECURITY.md", "Promises", promised],
  ["docs/server.md", "What holds", served],
] as const)(
  "each sentence of %s under %s names tests that hold it, and those tests are there",
  (page, section, table) => {
    expect(Object.keys(table)).toEqual(sentencesIn(page, section));
    const untested = Object.entries(table).filter(([, tests]) => Object.values(tests).flat().length === 0);
    expect(untested.map(([sentence]) => sentence)).toEqual([]);
    expect(missingOf(table)).toEqual([]);
  },
);

test("a title that is not there, is skipped, or stands in another file or group is missed", () => {
  const [path, title] = [access, nobody];
  const missed = [
    { [path]: ["authenticate > that gives nothing"] },
    { [path]: [title.split(" > ")[1] ?? ""] },
    { [http]: [title] },
    { "packages/server/test/nowhere.test.ts": [title] },
  ];
  expect(missed.map((tests) => missingOf({ sentence: tests }).length)).toEqual([1, 1, 1, 1]);
  expect(missingOf({ sentence: { [path]: [title] } })).toEqual([]);
  const text = [
    'describe("a", () => { it.each([1])("b %s", f); test.skip("c", f); test.skipIf(isThere)("d", f); });',
    'describe.skip("e", () => { test("f", f); }); // test("g", f)',
  ].join("\n");
  expect(titlesIn({ path: "some.test.ts", text })).toEqual(["a > b %s", "a > d"]);
});
