import { spansOf, type TelemetrySpan } from "@colloquy/host/telemetry";
import { counted, named, oneLine } from "@colloquy/cli/terminal";
import type { CommandContext } from "./command-context.ts";
import { exitCodes } from "./exit-code.ts";
import { journalFile, journalPaths, type ReadJournal } from "./journal-files.ts";
import { storedJournals, withStore } from "./kept-threads.ts";
import { loaded } from "./optional-modules.ts";
import type { OptionValues } from "./options.ts";
import { bodySink, headersIn, isEndpoint, SendError } from "./telemetry-sink.ts";

/** A store for threads in place of journals, the destination, and the content to send. */
type TelemetryOptions = Pick<OptionValues, "store" | "all" | "to" | "content" | "protobuf" | "header-file">;

/**
 * Sends the spans of recorded conversations to an OTLP endpoint, or writes them to a new file. Returns the exit code.
 * It is 0; 1 if a journal could not be read, or the endpoint did not accept all spans; 130 after an interruption.
 *
 * @throws Error for invalid options and paths, and if a package is not installed
 */
export const telemetry = async (
  words: readonly string[],
  options: TelemetryOptions,
  { printer, errors, environment, signal }: Pick<CommandContext, "printer" | "errors" | "environment" | "signal">,
): Promise<number> => {
  const { to, content = false, protobuf = false, "header-file": headerFile } = options;
  if (to === undefined)
    throw new Error("--to is missing: the URL of an OTLP endpoint, or a file that is not there yet");
  const packages = ["@opentelemetry/api", "@opentelemetry/otlp-transformer"];
  const otlp = await loaded("colloquy telemetry", packages, () => import("@colloquy/host/telemetry/otlp"));
  const format = protobuf ? "protobuf" : "json";
  const resource = { "service.name": environment["OTEL_SERVICE_NAME"] ?? "colloquy" };
  const headers = { ...headersIn(headerFile, to), "content-type": otlp.otlpContentType[format] };
  const totals = { spans: 0, threads: 0, failures: 0 };
  const failed = (name: string, problem: string): void => {
    totals.failures++;
    errors.line(`colloquy: ${named(name)}: ${oneLine(problem)}`);
  };
  return withJournals(words, options, async (journals) => {
    const sink = bodySink(to, { headers, signal, behind: protobuf ? "" : "\n" });
    try {
      for await (const spans of inBatches(spansIn(journals, content, totals, failed))) {
        const answer = await sink.send(otlp.otlpRequest(spans, { format, resource }));
        const rejected = answer === null ? null : otlp.otlpRejected(answer, format);
        totals.spans += spans.length - (rejected?.spans ?? 0);
        if (rejected !== null) failed(sink.place, `${counted(rejected.spans, "span")} refused: ${rejected.message}`);
      }
    } catch (thrown) {
      if (signal.aborted) return exitCodes.interrupted;
      if (!(thrown instanceof SendError)) throw thrown;
      failed(sink.place, thrown.message);
    } finally {
      sink.close();
    }
    const sums = `${counted(totals.spans, "span")} of ${counted(totals.threads, "thread")}`;
    if (totals.spans === 0 && !isEndpoint(to)) printer.line(`${sums}; no file is made`);
    else printer.line(`${sums} ${isEndpoint(to) ? "sent" : "written"} to ${named(sink.place)}`);
    return totals.failures === 0 ? exitCodes.done : exitCodes.failed;
  });
};

/** Passes the named journals to a function. @throws Error for an invalid name */
const withJournals = (
  words: readonly string[],
  { store: place, all = false }: TelemetryOptions,
  use: (journals: AsyncIterable<ReadJournal> | Iterable<ReadJournal>) => Promise<number>,
): Promise<number> => {
  if (place === undefined && all) throw new Error("--all is about the threads of a --store");
  if (all && words.length > 0) throw new Error(`telemetry --all takes no thread; ${words.length} are named`);
  if (!all && words.length === 0)
    throw new Error("there is nothing to send: name journals, or folders of them; or threads of a --store, or --all");
  if (place === undefined) return use(journalsIn(words));
  return withStore(place, (store) => use(storedJournals(store, all ? null : words)));
};

const journalsIn = function* (paths: readonly string[]): Generator<ReadJournal> {
  for (const path of journalPaths(paths)) yield journalFile(path);
};

const spansIn = async function* (
  journals: AsyncIterable<ReadJournal> | Iterable<ReadJournal>,
  content: boolean,
  totals: { threads: number },
  failed: (name: string, problem: string) => void,
): AsyncGenerator<TelemetrySpan> {
  for await (const journal of journals) {
    const spans = "entries" in journal ? spansOf(journal.entries, { content }) : null;
    if (spans !== null && "right" in spans) {
      totals.threads++;
      yield* spans.right;
    } else if (spans !== null) failed(journal.name, `entry ${spans.left.seq}: ${spans.left.reason}`);
    else if ("problem" in journal) failed(journal.name, journal.problem);
  }
};

/** Yields batches of as many spans as a request may contain, because endpoints limit its size. */
const inBatches = async function* (spans: AsyncIterable<TelemetrySpan>): AsyncGenerator<readonly TelemetrySpan[]> {
  let batch: TelemetrySpan[] = [];
  let characters = 0;
  for await (const span of spans) {
    batch.push(span);
    for (const value of Object.values(span.attributes)) characters += typeof value === "string" ? value.length : 0;
    if (batch.length < spansMax && characters < charactersMax) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
};

const spansMax = 500;
const charactersMax = 1_000_000;
