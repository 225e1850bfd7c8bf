import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { NeverEnds } from "../../kit/calls.ts";
import type { Random } from "../../kit/random.ts";
import type { Served } from "../../kit/served.ts";
import { answerTo, callerTool } from "./questions.ts";

const response = z.object({
  id: z.string(),
  status: z.string(),
  output: z.array(
    z.object({
      type: z.string(),
      call_id: z.string().optional(),
      content: z.array(z.object({ text: z.string() })).optional(),
    }),
  ),
});

type Response = z.infer<typeof response>;

/** A client's answers, and the problems that it found. */
export interface Had {
  readonly conversation: string;
  answers: readonly string[];
  /** The answers of branches that were left when a question continued from an earlier response. */
  readonly left: (readonly string[])[];
  responses: number;
  again: number;
  readonly problems: string[];
}

/**
 * Asks questions in its own conversation until it is over, each to a random server and in a random way.
 *
 * @param broken Aborted when a client has found a problem.
 */
export const converse = async (
  name: string,
  servers: readonly Served[],
  random: Random,
  isOver: () => boolean,
  broken: AbortSignal,
): Promise<Had> => {
  const had: Had = { conversation: `thread_${name}`, answers: [], left: [], responses: 0, again: 0, problems: [] };
  const client = new Client(servers, random, had, broken);
  const asked: { readonly id: string; readonly answers: readonly string[] }[] = [];
  try {
    for (let number = 1; !isOver() && had.problems.length === 0; number++) {
      const question = `${name} ${number} ${random.pick(["say", "say", "run", "call"])}`;
      const from = random.percent(10) ? random.pick(asked) : asked.at(-1);
      if (from !== asked.at(-1)) {
        had.left.push(had.answers);
        had.answers = from?.answers ?? [];
      }
      const id = await client.ask(question, `${name}-${number}`, from?.id ?? null);
      asked.push({ id, answers: had.answers });
    }
  } catch (thrown) {
    if (!broken.aborted) had.problems.push(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  return had;
};

/**
 * Asks one server, kills it while it holds the thread, and asks the other. Returns the seconds until that one answered.
 */
export const answeredAfterDeath = async (holder: Served, other: Served): Promise<number> => {
  const ask = async ({ url }: Served, more: object): Promise<Response> => {
    const body = JSON.stringify({ model: "any", input: "last 1 say", ...more });
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(endsWithinMs);
    const got = await fetch(`${url}/v1/responses`, { method: "POST", headers, body, signal });
    return response.parse(await got.json());
  };
  const { id } = await ask(holder, {});
  await holder.kill();
  const began = performance.now();
  const { status } = await ask(other, { previous_response_id: id });
  if (status !== "completed") throw new Error(`the answer after the death of the other server is ${status}`);
  return (performance.now() - began) / 1000;
};

class Client {
  readonly #servers: readonly Served[];
  readonly #random: Random;
  readonly #had: Had;
  readonly #broken: AbortSignal;
  /** The responses that were cancelled, perhaps too late. */
  readonly #cancelled = new Set<string>();

  constructor(servers: readonly Served[], random: Random, had: Had, broken: AbortSignal) {
    this.#broken = broken;
    this.#servers = servers;
    this.#random = random;
    this.#had = had;
  }

  async ask(question: string, key: string, previous: string | null): Promise<string> {
    const tools = [{ type: "function", name: callerTool, parameters: { type: "object" } }];
    const where = previous === null ? {} : { previous_response_id: previous };
    const first = await this.#respond({ input: question, tools, ...where }, key);
    const call = first.output.find(({ type }) => type === "function_call");
    const [, , kind] = question.split(" ");
    const types = first.output.map(({ type }) => type).join();
    const expected = { say: "message", run: "message,mcp_call,message", call: "message,function_call" }[kind ?? ""];
    if (this.#isStopped(first, call !== undefined)) return first.id;
    if (first.status !== "completed" || types !== expected) return this.#wrong(question, first);
    if (call === undefined) return this.#answered(question, first);
    const output = [{ type: "function_call_output", call_id: call.call_id, output: "found" }];
    return this.#answered(question, await this.#respond({ input: output, previous_response_id: first.id }, null));
  }

  #answered(question: string, last: Response): string {
    if (this.#isStopped(last, false)) return last.id;
    const text = last.output.flatMap(({ content = [] }) => content.map((part) => part.text)).at(-1) ?? "";
    if (last.status !== "completed" || text !== answerTo(question)) return this.#wrong(question, last);
    this.#had.answers = [...this.#had.answers, text];
    return last.id;
  }

  /** Checks that a cancel stopped the turn of a response, perhaps just after it ended with a call. */
  #isStopped({ id, status }: Response, isWaiting: boolean): boolean {
    return this.#cancelled.has(id) && (status === "cancelled" || isWaiting);
  }

  #wrong(question: string, { id, status, output }: Response): never {
    throw new Error(`${id}, which answers "${question}", is ${status} with the output ${JSON.stringify(output)}`);
  }

  /** Returns a response that has ended. A request that breaks off is repeated, on any server. */
  async #respond(body: object, key: string | null): Promise<Response> {
    const way = this.#random.pick(["whole", "stream", "background"]);
    const asked = { model: "any", ...body, ...(way === "whole" ? {} : { [way ?? ""]: true }) };
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (key !== null) headers["idempotency-key"] = key;
    const request = { method: "POST", headers, body: JSON.stringify(asked) };
    const began = performance.now();
    for (let begun: Response | null = null; ;) {
      if (performance.now() - began > endsWithinMs)
        throw new NeverEnds(`a response (${way}) never ended: ${request.body}`);
      const text: string | null =
        begun === null ? await this.#fetch("/v1/responses", request) : await this.#fetch(this.#pathOf(begun));
      if (text === null) this.#had.again++;
      const found: Response | null = text === null ? null : lastIn(text);
      begun = found ?? begun;
      if (found !== null && isUnderWay(found)) await this.#actOn(found);
      if (found !== null && !isUnderWay(found)) {
        this.#had.responses++;
        return found;
      }
      await pause(this.#random.integer(1, 20));
    }
  }

  /** Sometimes reads the input, breaks off a stream, or cancels, on any server. */
  async #actOn({ id }: Response): Promise<void> {
    const path = `/v1/responses/${id}`;
    // One that is still queued has no input to read yet.
    if (this.#random.percent(10)) await this.#fetch(`${path}/input_items`, {}, "response_queued");
    if (this.#random.percent(10)) await this.#readOn(path);
    if (!this.#random.percent(3)) return;
    this.#cancelled.add(id);
    await this.#fetch(`${path}/cancel`, { method: "POST" });
  }

  /** Reads a stream, and then reads again from one of its events on. */
  async #readOn(path: string): Promise<void> {
    const numbers = numbersIn((await this.#fetch(`${path}?stream=true`)) ?? "");
    const after = this.#random.pick(numbers);
    if (after === undefined) return;
    const rest = await this.#fetch(`${path}?stream=true&starting_after=${after}`, {}, "events_not_kept");
    const [first] = numbersIn(rest ?? "");
    if (first !== undefined && first !== after + 1)
      throw new Error(`${path}: the events after ${after} begin with ${first}`);
  }

  #pathOf({ id }: Response): string {
    return `/v1/responses/${id}${this.#random.percent(50) ? "?stream=true" : ""}`;
  }

  /** Returns the text of an answer; null if the server was down, died meanwhile, or refused with that code. */
  async #fetch(path: string, init: RequestInit = {}, refusal?: string): Promise<string | null> {
    const url = this.#random.pick(this.#servers)?.url ?? null;
    if (url === null) return null;
    let answer: { readonly status: number; readonly text: string };
    try {
      const signal = AbortSignal.any([this.#broken, AbortSignal.timeout(endsWithinMs)]);
      const got = await fetch(`${url}${path}`, { ...init, signal });
      answer = { status: got.status, text: await got.text() };
    } catch (thrown) {
      if (thrown instanceof DOMException) throw new NeverEnds(`${path} never ended`);
      return null;
    }
    if (answer.status === 200) return answer.text;
    // The store did not answer in time. Clients retry then, as they do when a server is down.
    if (answer.status >= 500 || (refusal !== undefined && answer.text.includes(refusal))) return null;
    throw new Error(`${path}: ${answer.status} ${answer.text}`);
  }
}

/** Returns the response in an answer; in a stream, that of the last event with one. Null if there is none. */
const lastIn = (text: string): Response | null => {
  if (text.startsWith("{")) return response.parse(JSON.parse(text));
  const events = text.split("\n\n").flatMap((block) => /^data: (\{.*\})$/mu.exec(block)?.[1] ?? []);
  const responses = events.map(
    (event) => z.object({ response: response.optional() }).parse(JSON.parse(event)).response,
  );
  return responses.findLast((each) => each !== undefined) ?? null;
};

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/"sequence_number":(\d+)\}$/gmu)].map(([, number]) => Number(number));

const isUnderWay = ({ status }: Response): boolean => status === "in_progress" || status === "queued";

/** Far more than a lease and a start take. */
const endsWithinMs = 30_000;
